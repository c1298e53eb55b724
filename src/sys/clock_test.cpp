#include "sys/clock.hpp"

#include <gmock/gmock.h>
#include <set>

namespace quarry::sys {
namespace {

TEST(Rfc3339, Writes) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(rfc3339(1'795'253'400'123'456), "2026-11-21T09:30:00.123456Z");
  EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, ReadsWhatItWrites) {
  for (std::int64_t us : {std::int64_t{0}, std::int64_t{1'795'253'400'123'456}, std::int64_t{951'782'400'000'001},
                          std::int64_t{4'102'444'800'000'000}})
    EXPECT_EQ(parse_rfc3339(rfc3339(us)).value(), us);
  EXPECT_EQ(parse_rfc3339("2026-11-21T09:30:00Z").value(), 1'795'253'400'000'000);
  EXPECT_EQ(parse_rfc3339("2026-11-21T09:30:00.1Z").value(), 1'795'253'400'100'000);
  EXPECT_EQ(parse_rfc3339("2026-11-21T09:30:00.123456789Z").value(), 1'795'253'400'123'456);
  EXPECT_EQ(parse_rfc3339("2026-11-21T09:30:00+00:00").value(), 1'795'253'400'000'000);
  EXPECT_TRUE(parse_rfc3339("2024-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_rfc3339("2016-12-31T23:59:60Z"));
}

TEST(Rfc3339, RefusesTheRest) {
  for (auto bad : {"", "2026-11-21", "2026-11-21 09:30:00Z", "2026-11-21T09:30:00", "2026-11-21T09:30:00+01:00",
                   "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z",
                   "2100-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T00:60:00Z", "2026-11-21T00:00:61Z",
                   "2026-11-21T00:00:00.Z", "2026-11-21T00:00:00.1234567890Z", "2026-11-21T00:00:00Zx",
                   "+026-11-21T00:00:00Z", "2026-11-21T00:00:00z"}) {
    auto result = parse_rfc3339(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, "B005");
  }
}

TEST(Clock, Fixed) {
  FixedClock clock(5);
  EXPECT_EQ(clock.now_us(), 5);
  clock.advance_us(10);
  EXPECT_EQ(clock.now_us(), 15);
  EXPECT_EQ(clock.steady_ns(), 15'000u);
}

TEST(Clock, RealOneMoves) {
  RealClock clock;
  EXPECT_GT(clock.now_us(), 1'700'000'000'000'000);
  auto first = clock.steady_ns();
  EXPECT_GE(clock.steady_ns(), first);
}

TEST(RandomHex, IsLongEnoughAndDiffers) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    auto text = random_hex(16);
    EXPECT_EQ(text.size(), 32u);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), text.npos);
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 100u);
}

} // namespace
} // namespace quarry::sys
