#include "sys/directory_lock.hpp"

#include "sys/path.hpp"
#include <gtest/gtest.h>

namespace quarry::sys {
namespace {

class DirectoryLockTest : public ::testing::Test {
protected:
  void SetUp() override { root_ = *make_temporary_directory(::testing::TempDir(), "lock-"); }
  void TearDown() override { EXPECT_TRUE(remove_tree(root_)); }
  std::string root_;
};

TEST_F(DirectoryLockTest, KeepsOthersOutUntilItIsGone) {
  auto path = root_ + "/a";
  {
    auto first = DirectoryLock::try_acquire(path);
    ASSERT_TRUE(first && *first);
    auto second = DirectoryLock::try_acquire(path);
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second);
    EXPECT_TRUE(is_directory(path)) << "the one that was refused removes nothing";
    EXPECT_TRUE(*DirectoryLock::try_acquire(root_ + "/b"));
  }
  EXPECT_FALSE(exists(path)) << "the lock made it, and nothing came";
  EXPECT_TRUE(*DirectoryLock::try_acquire(path));
}

TEST_F(DirectoryLockTest, WhatIsInTheDirectoryStays) {
  auto path = root_ + "/a";
  {
    auto lock = DirectoryLock::try_acquire(path);
    ASSERT_TRUE(write_file(path::join(path, "x"), ""));
  }
  EXPECT_TRUE(exists(path::join(path, "x")));
  ASSERT_TRUE(make_directories(root_ + "/empty"));
  {
    auto lock = DirectoryLock::try_acquire(root_ + "/empty");
  }
  EXPECT_TRUE(exists(root_ + "/empty")) << "it was there before";
}

} // namespace
} // namespace quarry::sys
