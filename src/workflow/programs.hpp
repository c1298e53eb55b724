#pragma once
// Private to the room.
// What program a command of a script starts, and what that program reads. For POSIX shells and PowerShell. Pure.
#include "workflow/shell.hpp"
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace quarry::workflow {

template <std::size_t n> bool is_among(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The index of the word that names the program: behind `if`, `!`, `sudo -E`, `NAME=value`, `$x =` and the like.
/// Returns the number of words if the command starts no program, such as an assignment.
std::size_t program_at(const ShellCommand& command);

/// The program without directories and `.exe`, in lower case. Empty if the command starts no program.
std::string program_of(const ShellCommand& command);

/// sh, bash, python3, pwsh and other programs that execute a text which they read.
bool is_interpreter(std::string_view program);

/// `-c`, `-ec`, `-Command`, `/c`: the next word is a program's text.
bool is_command_option(std::string_view word);

/// Whether the command executes what it reads from a pipe: `bash`, `sh -s -- --yes`, `iex`. `python3 -c "import json"`
/// and `bash run.sh` read it as data.
bool executes_input(const ShellCommand& command);

/// Whether the program passes on what it reads, changed or not: cut, sed, tee.
bool is_filter(std::string_view program);

/// All words with a blank behind each.
std::string words_of(const ShellCommand& command);

/// Whether a word is a redirection to a file, and to which: `> f`, `>>f`, `-o` is not one. Empty: it is not.
std::string redirected_to(const ShellCommand& command, std::size_t word);

} // namespace quarry::workflow
