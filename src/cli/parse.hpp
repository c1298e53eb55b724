#pragma once
// Words of a command line against one command of the table. Pure. Errors: C001 … C009, all invalid_argument.
#include "cli/command.hpp"
#include <span>
#include <string>
#include <vector>

namespace quarry::cli {

/// The flags that every command takes: --json, --jobs, --quiet, --color, --progress, --help.
const std::vector<Flag>& global_flags();

/// "artifact fetch".
std::string name_of(const Command& command);

/// The command that the first words name, however flags of every command stand between them.
struct Resolved {
  const Command* command = nullptr; ///< null: no words at all, or `prefix` is a group such as "artifact"
  std::string group;                ///< the noun alone: "artifact"; empty otherwise
  std::vector<std::string> words;   ///< what remains for parse_words()
  bool help = false;                ///< --help, -h or `help` was said
};
Result<Resolved> resolve(std::span<const Command> commands, std::span<const std::string> words);

/// Flags (`--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-ab`), operands and, after `--`, the rest. Refuses
/// what the table does not know, with the nearest name. Required flags and operands are checked by check_required(),
/// after the configuration had its say.
Result<Arguments> parse_words(const Command& command, std::span<const std::string> words);
Result<void> check_required(const Command& command, const Arguments& arguments);
/// One of the flag's choices, a number for -j: C006.
Result<void> check_value(const Flag& flag, const std::string& value, const std::string& where);

} // namespace quarry::cli
