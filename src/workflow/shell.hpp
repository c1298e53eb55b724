#pragma once
// What a script says, as far as words and lines go: not a shell, and nothing is executed. Pure.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

struct Word {
  std::string text;       ///< without quotes; expressions and variables as written
  std::size_t offset = 0; ///< in the script
  bool literal = false;   ///< all of it is in single quotes: nothing in it is replaced
};

/// One command of a script: words up to a line's end, `;`, `|`, `&&` or `||`. Lines that end in a backslash are joined.
struct ShellCommand {
  std::vector<Word> words;
  bool piped_into = false; ///< reads what the command before writes
};

/// Comments are left out, and so are here-documents, unless a shell executes them: `bash <<EOF`.
std::vector<ShellCommand> shell_commands(std::string_view script);

} // namespace quarry::workflow
