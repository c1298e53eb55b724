#pragma once
// Pages for people, rendered from the command table. Pure.
#include "cli/command.hpp"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// `quarry` alone: what it is, the daily commands, the rest by noun.
std::string overview(std::span<const Command> commands, unsigned columns);
/// `quarry help`: the overview, then the flags of every command and all exit codes.
std::string help_page(std::span<const Command> commands, unsigned columns);
/// `quarry artifact --help`.
std::string group_page(std::span<const Command> commands, std::string_view group, unsigned columns);
/// `quarry artifact fetch --help`.
std::string command_page(const Command& command, unsigned columns);

/// "quarry artifact fetch [REGEX]... --from LOCATOR [flags]".
std::string usage_line(const Command& command);
/// "examples", or what an example that names no store relies on.
std::string examples_title(const Command& command);
/// "-o, --output DIR".
std::string flag_heading(const Flag& flag);

/// A row of a list of flags.
struct FlagRow {
  std::string heading, help;
};
/// One row for each flag, and one for `--x` and `--no-x` together: "--[no-]x". Switches of both ways with one help
/// text, such as the components of a script, share a row of names. Required flags say so.
std::vector<FlagRow> flag_rows(const std::vector<Flag>& flags);
/// The help with choices, default and variable: "…; one of a, b (default: a) [QUARRY_X]".
std::string flag_help(const Flag& flag);

/// Paragraphs (separated by empty lines) filled to `columns`, each line after `indent` spaces; lines that begin with a
/// space are kept as they are.
std::string filled(std::string_view text, std::size_t indent, std::size_t columns);
/// Two aligned columns; the second is filled.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows, std::size_t indent,
                        std::size_t columns);

/// The nouns and bare verbs in the order in which people meet them; a name that is not listed comes after them.
std::vector<std::string> ordered_groups(std::span<const Command> commands);
/// What an exit code means everywhere: docs/exit-codes.md.
const std::vector<std::pair<int, std::string>>& exit_code_meanings();

} // namespace quarry::cli
