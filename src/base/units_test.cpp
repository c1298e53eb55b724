#include "base/units.hpp"

#include <gtest/gtest.h>
#include <tuple>

namespace quarry::units {
namespace {

TEST(Units, Bytes) {
  const std::pair<std::uint64_t, const char*> table[] = {{0, "0 B"},
                                                         {512, "512 B"},
                                                         {999, "999 B"},
                                                         {1000, "1.00 kB"},
                                                         {9'994, "9.99 kB"},
                                                         {9'996, "10.0 kB"},
                                                         {96'000'000, "96.0 MB"},
                                                         {262'500'000, "262.5 MB"},
                                                         {999'499'999, "999.5 MB"},
                                                         {999'500'000, "1.00 GB"},
                                                         {1'610'000'000, "1.61 GB"},
                                                         {5'000'000'000'000, "5.00 TB"}};
  for (auto [count, text] : table) EXPECT_EQ(bytes(count), text);
  EXPECT_EQ(bytes(UINT64_MAX), "18446744.1 TB");
}

TEST(Units, Seconds) {
  EXPECT_EQ(seconds(6.94), "6.9 s");
  EXPECT_EQ(seconds(0), "0.0 s");
  EXPECT_EQ(seconds(123), "2 min 03 s");
  EXPECT_EQ(seconds(3600 * 2 + 60 * 5), "2 h 05 min");
}

TEST(Units, CountAndPercent) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(3214), "3,214");
  EXPECT_EQ(count(1234567890), "1,234,567,890");
  EXPECT_EQ(percent(26, 100), "26 %");
  EXPECT_EQ(percent(1, 0), "- %");
}

TEST(Units, Durations) {
  const std::pair<const char*, std::uint64_t> table[] = {
      {"90", 90'000},    {"90s", 90'000}, {"15m", 900'000}, {"15min", 900'000},
      {"2h", 7'200'000}, {"500ms", 500},  {"0", 0}};
  for (auto [text, ms] : table) EXPECT_EQ(parse_duration_ms(text), ms) << text;
  for (auto bad : {"", "s", "-1", "1d", "1 s", "1.5s", "18446744073709551615h"})
    EXPECT_EQ(parse_duration_ms(bad), std::nullopt) << bad;
}

TEST(Units, Things) {
  const std::tuple<std::uint64_t, const char*, const char*> table[] = {{0, "file", "0 files"},
                                                                       {1, "file", "1 file"},
                                                                       {3214, "file", "3,214 files"},
                                                                       {1, "library", "1 library"},
                                                                       {2, "library", "2 libraries"},
                                                                       {2, "key", "2 keys"},
                                                                       {2, "y", "2 ys"},
                                                                       {1000000, "entry", "1,000,000 entries"}};
  for (auto [count, noun, text] : table) EXPECT_EQ(things(count, noun), text);
}

} // namespace
} // namespace quarry::units
