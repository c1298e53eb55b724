#pragma once
// Text of others in lines of ours: names of tests, reasons, hosts. It must not begin a line, steer the terminal, or be
// a command to GitHub. Pure, thread-safe.
#include <string>
#include <string_view>

namespace quarry::text {

/// Returns the text as a part of one line: control characters, line separators, and characters that turn the direction
/// of writing are shown as `\n`, `\x1b` or `\u202e`, and so are bytes that are not UTF-8. GitHub reads `##[…]` anywhere
/// in a line as a command, and `::` at its begin, also behind blanks of any alphabet: a space and quotes prevent that.
std::string one_line(std::string_view text);

} // namespace quarry::text
