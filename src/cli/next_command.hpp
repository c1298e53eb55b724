#pragma once
// Command lines to paste, such as the one after "next:". They are rendered from the command table: a flag that the user
// gave cannot be forgotten, and one that the command lacks cannot be printed.
#include "cli/command.hpp"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// One `quarry …` command line. Names that the table lacks are a bug: std::logic_error. Keeps a reference to `context`.
class NextCommand {
public:
  /// `path`: "venv install".
  NextCommand(const Context& context, std::string_view path);
  /// Takes over every flag of `arguments` that this command has, too. Flags of every command (--json, -j) stay behind.
  /// `--sign` becomes a placeholder: another person may run the next command, with a key of their own.
  NextCommand& flags_of(const Arguments& arguments);
  NextCommand& operand(std::string word);
  /// Without a value: a switch.
  NextCommand& set(std::string_view flag, std::string value = "");
  NextCommand& drop(std::string_view flag);
  /// `--sign KEY`, with that placeholder.
  NextCommand& signed_if(bool is_signed);
  /// Words quoted for a shell; operands first, flags in the table's order. A flag is omitted where a variable, a
  /// configuration file or the default gives the same value.
  std::string text() const;

private:
  const Context& context_;
  Command command_;
  std::vector<std::string> operands_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

} // namespace quarry::cli
