#include "artifact/forward.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace quarry::artifact {
namespace {

/// Bytes that say where they are, and a record of what was asked.
class Watched final : public content::Source {
public:
  explicit Watched(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    reads.emplace_back(offset, into.size());
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = at(offset + i);
    return {};
  }
  static std::byte at(std::uint64_t offset) { return static_cast<std::byte>(offset * 2654435761u >> 24); }
  mutable std::vector<std::pair<std::uint64_t, std::uint64_t>> reads;

private:
  std::uint64_t size_;
};

class Forward : public ::testing::Test {
protected:
  void expect_read(std::uint64_t offset, std::uint64_t length) {
    std::vector<std::byte> bytes(length);
    ASSERT_TRUE(source_->read(offset, bytes));
    for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(bytes[i], Watched::at(offset + i)) << offset << " + " << i;
  }
  bool in_order() const {
    std::uint64_t next = 0;
    for (auto [offset, length] : watched_->reads) {
      if (offset != next) return false;
      next += length;
    }
    return true;
  }
  std::shared_ptr<Watched> watched_ = std::make_shared<Watched>((40u << 20) + 777);
  std::shared_ptr<const content::Source> source_ = make_forward_source(content::Rope::of(watched_));
};

TEST_F(Forward, HopsAheadAndComesBackWithinTheWindow) {
  for (std::uint64_t frame = 0; frame + (8u << 20) <= watched_->size(); frame += 8u << 20) {
    expect_read(frame, 18);
    for (std::uint64_t hop = frame; hop < frame + (8u << 20); hop += 130'000) expect_read(hop, 3);
    expect_read(frame, 8u << 20);
  }
  expect_read(watched_->size() - 777, 777);
  EXPECT_TRUE(in_order()) << "each byte once, in order";
}

TEST_F(Forward, FarAwayIsReadPastTheWindow) {
  expect_read(0, 100);
  expect_read(watched_->size() - 10, 10);
  expect_read(1u << 20, 100);
  expect_read(3u << 20, 12u << 20);
  expect_read(20u << 20, 100);
  expect_read(0, 100); // fell out
  expect_read(10u << 20, 20u << 20);
}

} // namespace
} // namespace quarry::artifact
