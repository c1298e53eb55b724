#pragma once
// Private to the room.
// Characters of names and versions. ASCII only, as the packaging standards have them.
#include "base/ascii.hpp"

namespace quarry::dist {

using ascii::is_digit;
inline bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

} // namespace quarry::dist
