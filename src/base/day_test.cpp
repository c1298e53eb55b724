#include "base/day.hpp"

#include <gtest/gtest.h>

namespace quarry {
namespace {

TEST(Day, IsOneOfTheCalendar) {
  for (const char* day : {"2026-02-28", "2028-02-29", "0001-12-31"}) EXPECT_TRUE(is_day(day)) << day;
  for (const char* other : {"", "2026-02-29", "2026-13-01", "2026-99-99", "2026-1-01", "2026/01/01", "2026-01-01 ",
                            "tomorrow!!", "2026-01-00"})
    EXPECT_FALSE(is_day(other)) << other;
}

} // namespace
} // namespace quarry
