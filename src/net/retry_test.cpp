#include "net/retry.hpp"

#include <gtest/gtest.h>

namespace quarry::net {
namespace {

// The corners of the policy: what happened, and the longest wait before the next attempt (random = 1); -1: stop.
struct Corner {
  std::string name;
  Attempt attempt;
  std::int64_t delay;
};
void PrintTo(const Corner& corner, std::ostream* out) { *out << corner.name; }

class Policy : public ::testing::TestWithParam<Corner> {};

TEST_P(Policy, WaitsOrStops) {
  auto attempt = GetParam().attempt;
  attempt.random = 1;
  auto delay = next_delay(attempt, {});
  EXPECT_EQ(delay ? static_cast<std::int64_t>(*delay) : -1, GetParam().delay);
}

INSTANTIATE_TEST_SUITE_P(
    Corners, Policy,
    ::testing::Values(
        Corner{"first_busy", {Trouble::busy, 1, 1}, 100}, Corner{"bounds_double", {Trouble::busy, 4, 4}, 800},
        Corner{"last_attempt", {Trouble::busy, 6, 1}, -1},
        Corner{"throttled_waits_longer", {Trouble::throttled, 1, 1}, 1000},
        Corner{"throttled_is_capped", {Trouble::throttled, 5, 5}, 16000},
        Corner{"unreachable", {Trouble::unreachable, 2, 2}, 200}, Corner{"cut", {Trouble::cut, 3, 1}, 400},
        Corner{"conflict", {Trouble::conflict, 1, 1}, 100},
        Corner{"stale_connection_at_once", {Trouble::stale, 1, 1}, 0},
        Corner{"stale_again_waits", {Trouble::stale, 2, 2}, 200}, Corner{"skewed_once", {Trouble::skewed, 1, 1}, 0},
        Corner{"skewed_twice", {Trouble::skewed, 2, 2}, -1}, Corner{"expired_once", {Trouble::expired, 3, 1}, 0},
        Corner{"expired_twice", {Trouble::expired, 4, 2}, -1}, Corner{"moved_once", {Trouble::moved, 1, 1}, 0},
        Corner{"moved_twice", {Trouble::moved, 2, 2}, -1},
        Corner{"damaged_once_is_the_wire", {Trouble::damaged, 1, 1}, 100},
        Corner{"damaged_twice_is_us", {Trouble::damaged, 2, 2}, -1}, Corner{"final", {Trouble::final, 1, 1}, -1},
        Corner{"too_long_already", {Trouble::busy, 2, 1, 180'000}, -1},
        Corner{"retry_after_is_obeyed", {Trouble::throttled, 1, 1, 0, 7000}, 7000},
        Corner{"retry_after_never_shortens", {Trouble::throttled, 5, 1, 0, 1}, 16000},
        Corner{"retry_after_beyond_patience", {Trouble::throttled, 1, 1, 0, 61'000}, -1}),
    [](const auto& corner) { return corner.param.name; });

TEST(Policy, JitterIsFull) {
  Attempt attempt{Trouble::busy, 3, 3};
  EXPECT_EQ(next_delay(attempt, {}), 0u);
  attempt.random = 0.5;
  EXPECT_EQ(next_delay(attempt, {}), 200u);
}

TEST(TroubleOf, Failures) {
  auto of = [](Fault fault, bool sent, bool reused) { return trouble_of({fault, sent, reused, {}}); };
  EXPECT_EQ(of(Fault::unreachable, false, false), Trouble::unreachable);
  EXPECT_EQ(of(Fault::stalled, true, false), Trouble::cut);
  EXPECT_EQ(of(Fault::cut, true, false), Trouble::cut);
  EXPECT_EQ(of(Fault::cut, true, true), Trouble::stale);
  EXPECT_EQ(of(Fault::cut, false, false), Trouble::unreachable);
  EXPECT_EQ(of(Fault::untrusted, false, false), Trouble::final);
  EXPECT_EQ(of(Fault::own, true, false), Trouble::final);
}

TEST(TroubleOf, Statuses) {
  for (int status : {408, 500, 502, 504}) EXPECT_EQ(trouble_of_status(status), Trouble::busy);
  for (int status : {429, 503}) EXPECT_EQ(trouble_of_status(status), Trouble::throttled);
  EXPECT_EQ(trouble_of_status(409), Trouble::conflict);
  for (int status : {301, 400, 401, 403, 404, 405, 412, 416, 501})
    EXPECT_EQ(trouble_of_status(status), Trouble::final) << status;
}

TEST(RetryAfter, SecondsOnly) {
  EXPECT_EQ(retry_after_ms({{"retry-after", "3"}}), 3000u);
  EXPECT_EQ(retry_after_ms({{"retry-after", "Fri, 24 May 2013 00:00:00 GMT"}}), std::nullopt);
  EXPECT_EQ(retry_after_ms({{"retry-after", "99999999999999999"}}), 1'000'000'000u);
  EXPECT_EQ(retry_after_ms({}), std::nullopt);
}

} // namespace
} // namespace quarry::net
