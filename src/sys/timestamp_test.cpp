#include "sys/timestamp.hpp"
#include <gtest/gtest.h>
#include <type_traits>

namespace quarry::sys {
namespace {

static_assert(!std::is_convertible_v<std::string, Timestamp>, "text becomes a time by parse() only");
static_assert(!std::is_convertible_v<std::int64_t, Timestamp>);

TEST(Timestamp, KeepsTheTextThatItWasReadFrom) {
  for (const std::string text : {"2026-11-20T10:00:00Z", "2026-11-20T10:00:00.5Z", "2026-11-20T10:00:00.123456789Z",
                                 "2026-11-20T10:00:00+00:00"}) {
    auto time = Timestamp::parse(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(time->text(), text);
    EXPECT_EQ(Timestamp::from_us(time->us()).us(), time->us());
  }
  EXPECT_EQ(Timestamp::from_us(1'500'000).text(), "1970-01-01T00:00:01.500000Z");
}

TEST(Timestamp, RefusesWhatIsNotATimeInUtc) {
  for (const std::string text :
       {"", "t", "yesterday", "2026-11-20", "2026-13-20T10:00:00Z", "2026-11-20T10:00:00+01:00"}) {
    auto time = Timestamp::parse(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, "B005");
  }
}

TEST(Timestamp, IsOrderedByTheInstant) {
  auto early = *Timestamp::parse("2026-11-20T10:00:00.9Z"), late = *Timestamp::parse("2026-11-20T10:00:01Z");
  EXPECT_LT(early, late);
  EXPECT_LT(*Timestamp::parse("2026-11-20T10:00:00.25Z"), *Timestamp::parse("2026-11-20T10:00:00.3Z"));
  EXPECT_LT(*Timestamp::parse("2026-11-20T10:00:00Z"), *Timestamp::parse("2026-11-20T10:00:00.1Z")) << "not by text";
  EXPECT_TRUE(Timestamp().empty());
  EXPECT_FALSE(Timestamp::from_us(0).empty());
}

} // namespace
} // namespace quarry::sys
