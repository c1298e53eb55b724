// The bound on the memory of uploads.
#include "s3/slabs.hpp"

#include <gtest/gtest.h>

// So that AddressSanitizer answers a request for too much memory as the system does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace quarry::s3 {
namespace {

constexpr std::size_t k_mib = 1u << 20;

TEST(Slabs, WhatIsKeptCountsAgainstTheBound) {
  auto slabs = std::make_shared<Slabs>(4 * k_mib);
  {
    std::vector<Slabs::Slab> parts;
    for (int i = 0; i < 4; ++i) parts.push_back(*slabs->take(k_mib));
    EXPECT_EQ(slabs->bytes_held(), 4 * k_mib);
  }
  EXPECT_EQ(slabs->bytes_held(), 4 * k_mib) << "kept for the next parts";
  auto small = slabs->take(k_mib / 2); // an object that is smaller than a part
  EXPECT_LE(slabs->bytes_held(), 4 * k_mib);
  auto part = slabs->take(k_mib); // a kept one
  EXPECT_EQ(slabs->bytes_held(), 3 * k_mib + k_mib / 2);
}

TEST(Slabs, PartsOfAnotherSizeReplaceWhatIsKept) {
  auto slabs = std::make_shared<Slabs>(4 * k_mib);
  slabs->take(3 * k_mib)->reset();
  EXPECT_EQ(slabs->bytes_held(), 3 * k_mib);
  auto other = slabs->take(2 * k_mib);
  EXPECT_EQ(slabs->bytes_held(), 2 * k_mib);
}

TEST(Slabs, MemoryThatTheSystemDoesNotGiveIsAnErrorAndCanBeTakenLater) {
  constexpr std::size_t k_too_much = std::size_t{1} << 60;
  auto slabs = std::make_shared<Slabs>(k_too_much);
  for (int i = 0; i < 2; ++i) { // the second one would wait for ever if the first had kept its share
    auto taken = slabs->take(k_too_much);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, "D003");
  }
  EXPECT_EQ(slabs->bytes_held(), 0u);
  EXPECT_TRUE(slabs->take(k_mib));
}

} // namespace
} // namespace quarry::s3
