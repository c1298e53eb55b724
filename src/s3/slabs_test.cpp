// The bound on the memory of uploads.
#include "s3/slabs.hpp"

#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

constexpr std::size_t k_mib = 1u << 20;

TEST(Slabs, WhatIsKeptCountsAgainstTheBound) {
  auto slabs = std::make_shared<Slabs>(4 * k_mib);
  {
    std::vector<Slabs::Slab> parts;
    for (int i = 0; i < 4; ++i) parts.push_back(slabs->take(k_mib));
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
  slabs->take(3 * k_mib).reset();
  EXPECT_EQ(slabs->bytes_held(), 3 * k_mib);
  auto other = slabs->take(2 * k_mib);
  EXPECT_EQ(slabs->bytes_held(), 2 * k_mib);
}

} // namespace
} // namespace quarry::s3
