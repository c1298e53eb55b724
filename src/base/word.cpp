#include "base/word.hpp"
#include <fmt/format.h>

// word.hpp includes <fmt/core.h> alone, because every record includes it, and that header only declares what writes a
// text with a width. It is compiled here, once.
template fmt::format_context::iterator
fmt::formatter<fmt::string_view>::format<fmt::format_context>(const fmt::string_view&, fmt::format_context&) const;
