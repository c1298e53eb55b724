#pragma once
// Days as people write them in rule files and on command lines. Pure.
#include <string_view>

namespace quarry {

/// Whether `text` is a day of the calendar as YYYY-MM-DD: "2026-02-30" is not.
bool is_day(std::string_view text);

} // namespace quarry
