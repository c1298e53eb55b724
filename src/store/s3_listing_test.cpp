#include "store/s3_listing.hpp"

#include <gtest/gtest.h>

namespace quarry::store {
namespace {

TEST(OwnKey, IsBelowTheRootAndThePrefix) {
  EXPECT_EQ(own_key(s3::BucketKey("nightly/runs/42/a.whl"), {"nightly/", "runs/"}), "runs/42/a.whl");
  EXPECT_EQ(own_key(s3::BucketKey("runs/42/a.whl"), {"", ""}), "runs/42/a.whl");
  EXPECT_EQ(own_key(s3::BucketKey("nightly/runs/42/"), {"nightly/", ""}), "runs/42/"); // a directory of a listing
}

TEST(OwnKey, WhatOthersAndTheStoreItselfKeepIsEmpty) {
  EXPECT_EQ(own_key(s3::BucketKey("other/runs/a.whl"), {"nightly/", ""}), "");
  EXPECT_EQ(own_key(s3::BucketKey("nightly/.quarry/capabilities.json"), {"nightly/", ""}), "");
  EXPECT_EQ(own_key(s3::BucketKey("nightly/sets/a.json"), {"nightly/", "runs/"}), "");
  EXPECT_EQ(own_key(s3::BucketKey("nightly/"), {"nightly/", ""}), ""); // the root itself
}

} // namespace
} // namespace quarry::store
