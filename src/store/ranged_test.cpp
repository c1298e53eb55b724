#include "store/ranged.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>
#include <vector>

namespace quarry::store {
namespace {

constexpr RangeLimits k_limits{.first_bytes = 100, .block_bytes = 1600, .ahead = 8, .ahead_least = 2};
constexpr std::uint64_t k_size = 100 * 1600 + 77;

std::byte byte_at(std::uint64_t offset) { return static_cast<std::byte>(offset * 2654435761u >> 24); }

/// An object far away, and what was asked of it.
struct Remote {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::uint64_t end = 0; ///< of what was asked for so far

  FetchRange fetch() {
    return [this](std::uint64_t offset, std::span<std::byte> into) -> Result<void> {
      std::lock_guard lock(mutex);
      ranges.emplace_back(offset, into.size());
      end = std::max<std::uint64_t>(end, offset + into.size());
      for (std::size_t i = 0; i < into.size(); ++i) into[i] = byte_at(offset + i);
      return {};
    };
  }
  std::uint64_t asked_for() {
    std::lock_guard lock(mutex);
    return end;
  }
};

bool reads(const content::Source& source, std::uint64_t offset, std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  if (!source.read(offset, bytes)) return false;
  for (std::size_t i = 0; i < length; ++i)
    if (bytes[i] != byte_at(offset + i)) return false;
  return true;
}

TEST(Ranged, ReadsForwardInGrowingBlocksAndEachByteOnce) {
  Remote remote;
  auto source = make_ranged_source(k_size, remote.fetch(), std::make_shared<RangeShare>(k_limits));
  for (std::uint64_t at = 0; at < k_size; at += 700)
    ASSERT_TRUE(reads(*source, at, std::min<std::uint64_t>(700, k_size - at)));
  std::sort(remote.ranges.begin(), remote.ranges.end());
  std::uint64_t next = 0;
  for (auto [offset, length] : remote.ranges) {
    EXPECT_EQ(offset, next);
    EXPECT_LE(length, k_limits.block_bytes);
    next = offset + length;
  }
  EXPECT_EQ(next, k_size);
}

TEST(Ranged, AShortSkipUsesWhatIsOnItsWay) {
  for (std::uint64_t skip : {50u, 300u, 2000u}) { // within a block, and over some
    Remote remote;
    auto source = make_ranged_source(k_size, remote.fetch(), std::make_shared<RangeShare>(k_limits));
    std::uint64_t at = 0;
    for (; at < 40 * 1600; at += 700) ASSERT_TRUE(reads(*source, at, 700));
    for (; at + 700 <= k_size; at += 700 + skip) ASSERT_TRUE(reads(*source, at, 700));
    source.reset(); // waits for what is in flight
    std::uint64_t fetched = 0;
    for (auto [offset, length] : remote.ranges) fetched += length;
    EXPECT_LE(fetched, k_size) << skip;
  }
}

TEST(Ranged, SharesWhatIsReadAheadAmongThoseThatReadInOrder) {
  auto share = std::make_shared<RangeShare>(k_limits);
  std::vector<Remote> remotes(4);
  std::vector<std::shared_ptr<const content::Source>> sources;
  for (auto& remote : remotes) sources.push_back(make_ranged_source(k_size, remote.fetch(), share));
  auto forward = [&](std::uint64_t from, std::uint64_t to, std::size_t readers) {
    std::uint64_t farthest = 0;
    for (auto at = from; at < to; at += 100)
      for (std::size_t i = 0; i < readers; ++i) {
        EXPECT_TRUE(reads(*sources[i], at, 100));
        auto end = remotes[i].asked_for();
        farthest = std::max(farthest, end - std::min(end, at));
      }
    return farthest;
  };
  constexpr auto k_block = k_limits.block_bytes;
  forward(0, 20 * k_block, 4); // what one of them had planned before the others came is read by then
  EXPECT_LE(forward(20 * k_block, 40 * k_block, 4), (2 + 1) * k_block);
  for (int i = 1; i < 4; ++i) sources[i].reset();
  EXPECT_LE(forward(40 * k_block, 60 * k_block, 1), (8 + 1) * k_block);
}

TEST(Ranged, AFailureIsSaidOnceAndTheNextReadAsksAnew) {
  bool broken = true;
  Remote remote;
  auto fetch = [&, inner = remote.fetch()](std::uint64_t offset, std::span<std::byte> into) -> Result<void> {
    if (broken) return fail(ErrorKind::unavailable, "H005", "the connection was cut");
    return inner(offset, into);
  };
  auto source = make_ranged_source(k_size, fetch, std::make_shared<RangeShare>(k_limits));
  EXPECT_FALSE(reads(*source, 0, 10));
  broken = false;
  EXPECT_TRUE(reads(*source, 0, 10));
  EXPECT_TRUE(reads(*source, k_size - 10, 10)) << "far away";
  EXPECT_TRUE(reads(*source, 5000, 4000));
}

} // namespace
} // namespace quarry::store
