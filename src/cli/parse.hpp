#pragma once
// Words of a command line against one command of the table. Pure. Errors: C001 … C009, all invalid_argument.
#include "cli/command.hpp"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// The flags that every command takes: --json, --jobs, --quiet, --verbose, --color, --progress, --help.
const std::vector<Flag>& global_flags();

/// "artifact fetch".
std::string name_of(const Command& command);

/// The flag of that name or alias ("--output-dir"), or letter; null if `flags` has no such flag.
const Flag* find_flag(const std::vector<Flag>& flags, std::string_view name);
const Flag* find_letter(const std::vector<Flag>& flags, char letter);

/// Flags (`--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-ab`), operands and, after `--`, the rest. Refuses
/// what the table does not know, with the nearest name, and a flag in the place of a value (C003). Required flags and
/// operands are checked by check_required(), after variables and configuration files were applied; it names all that
/// are missing at once (C004).
Result<Arguments> parse_words(const Command& command, std::span<const std::string> words);
Result<void> check_required(const Command& command, const Arguments& arguments);
/// C042 if --json stands beside a value that prints another document, such as `--format sarif`.
Result<void> check_documents(const Command& command, const Arguments& arguments);
/// One of the flag's choices, a number for -j: C006.
Result<void> check_value(const Flag& flag, const std::string& value, const std::string& where);

} // namespace quarry::cli
