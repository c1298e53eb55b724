#pragma once
// One of our own commands, run from within another by the words that a person would type: so there is one
// implementation.
#include "cli/command.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

using Words = std::vector<std::string>;

/// Runs it in place: its output, its document, its exit code. A note says the words. C00x and what the command fails
/// with.
Result<int> run_words(Context& context, const Words& words);

/// The same for one of several commands that make one: its document goes to `heard` instead of being printed.
Result<int> hear_words(Context& context, const Words& words, Json& heard);

/// Runs it unheard and returns its --json document. Warnings still appear; nothing reaches a workflow's files
/// (GITHUB_OUTPUT and the like).
Result<Json> ask_words(Context& context, const Words& words);

/// As a person would type them to a POSIX shell.
std::string shell_text(const Words& words);

} // namespace quarry::cli
