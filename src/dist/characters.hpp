#pragma once
// Private to the room.
// Characters of names and versions. ASCII only, as the packaging standards have them.

namespace quarry::dist {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

} // namespace quarry::dist
