#include "content/cached.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace quarry::content {
namespace {

constexpr std::uint64_t k_kib = 1024, k_size = 4096 * k_kib + 77;

std::byte byte_at(std::uint64_t offset) { return static_cast<std::byte>(offset * 2654435761u >> 24); }

/// Far content, and what was asked of it.
class Far final : public Source {
public:
  std::uint64_t size() const override { return k_size; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (broken) return fail(ErrorKind::unavailable, "H005", "the connection was cut");
    asked.emplace_back(offset, into.size());
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = byte_at(offset + i);
    return {};
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (auto [offset, length] : asked) sum += length;
    return sum;
  }
  mutable std::vector<std::pair<std::uint64_t, std::uint64_t>> asked;
  bool broken = false;
};

struct CachedTest : ::testing::Test {
  std::shared_ptr<Far> far = std::make_shared<Far>();
  std::shared_ptr<Cached> cached = Cached::create(Rope::of(far), ::testing::TempDir()).value();

  bool reads(std::uint64_t offset, std::uint64_t length) {
    std::vector<std::byte> bytes(length);
    if (!cached->read(offset, bytes)) return false;
    for (std::size_t i = 0; i < length; ++i)
      if (bytes[i] != byte_at(offset + i)) return false;
    return true;
  }
};

using Asked = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST_F(CachedTest, APlaceIsFetchedOnce) {
  EXPECT_TRUE(reads(1000 * k_kib, 10));
  EXPECT_TRUE(reads(1000 * k_kib + 5, 20 * k_kib));
  EXPECT_TRUE(reads(1000 * k_kib, 64 * k_kib));
  EXPECT_EQ(far->asked, (Asked{{1000 * k_kib, 64 * k_kib}}));
}

TEST_F(CachedTest, AShortGapIsFetchedAndALongOneIsNot) {
  EXPECT_TRUE(reads(0, 10));
  EXPECT_TRUE(reads(300 * k_kib, 10)); // 236 KiB behind the first
  EXPECT_TRUE(reads(2000 * k_kib, 10));
  EXPECT_EQ(far->asked, (Asked{{0, 64 * k_kib}, {64 * k_kib, 300 * k_kib}, {2000 * k_kib, 64 * k_kib}}));
  far->asked.clear();
  EXPECT_TRUE(reads(100 * k_kib, 200 * k_kib));
  EXPECT_EQ(far->asked, Asked{});
}

TEST_F(CachedTest, AReadOverSeveralPartsFetchesWhatIsMissing) {
  EXPECT_TRUE(reads(1000 * k_kib, 10));
  EXPECT_TRUE(reads(2000 * k_kib, 10));
  EXPECT_TRUE(reads(900 * k_kib, 1228 * k_kib));
  EXPECT_EQ(far->bytes(), 1228 * k_kib);
  EXPECT_TRUE(reads(0, k_size));
  EXPECT_EQ(far->bytes(), k_size);
  EXPECT_TRUE(reads(k_size - 1, 1));
  EXPECT_EQ(far->bytes(), k_size);
}

TEST_F(CachedTest, EndsWithTheContent) {
  EXPECT_TRUE(reads(k_size - 7, 7));
  EXPECT_EQ(far->asked, (Asked{{k_size - 7, 7}}));
}

TEST_F(CachedTest, TheFirstFailureIsRememberedAndTheNextReadFetchesAgain) {
  EXPECT_FALSE(cached->failure());
  far->broken = true;
  EXPECT_FALSE(reads(0, 10));
  far->broken = false;
  EXPECT_TRUE(reads(0, 10));
  ASSERT_TRUE(cached->failure());
  EXPECT_EQ(cached->failure()->code, "H005");
}

} // namespace
} // namespace quarry::content
