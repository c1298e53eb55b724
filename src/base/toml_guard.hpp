#pragma once
// Private to the room.
// What TOML text may not hold before toml++ sees it.
#include <cstddef>
#include <optional>
#include <string_view>

namespace quarry {

/// Returns the line of a byte beyond ASCII that is outside strings and comments, where TOML 1.0 does not allow it, or
/// behind a backslash in a string, where it is not an escape or could be mistaken for white space. toml++ 3.3 takes
/// such characters for white space and runs into undefined behaviour (`is_non_ascii_horizontal_whitespace`).
std::optional<std::size_t> line_of_stray_character(std::string_view text);

} // namespace quarry
