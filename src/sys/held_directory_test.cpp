#include "sys/held_directory.hpp"

#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::sys {
namespace {

class Held : public ::testing::Test {
protected:
  void SetUp() override { root_ = *make_temporary_directory(::testing::TempDir(), "held"); }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }
  std::string at(const std::string& name) const { return path::join(root_, name); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    auto entries = list_directory(root_);
    for (const auto& entry : entries.value()) found.push_back(entry.path);
    std::sort(found.begin(), found.end());
    return found;
  }
  std::string root_;
};

using Names = std::vector<std::string>;

TEST_F(Held, GetsItsNameOrIsGone) {
  {
    auto dropped = HeldDirectory::create(at("x"));
    ASSERT_TRUE(dropped);
    EXPECT_EQ(names().size(), 1u);
  }
  EXPECT_EQ(names(), Names());
  auto held = HeldDirectory::create(at("x"));
  ASSERT_TRUE(write_file(path::join(held->path(), "file"), "1"));
  ASSERT_TRUE(held->commit());
  EXPECT_EQ(names(), Names{"x"});
  EXPECT_EQ(*read_file(at("x/file")), "1");
}

TEST_F(Held, AnEmptyDirectoryOfThatNameIsNotReplaced) {
  auto held = HeldDirectory::create(at("x"));
  ASSERT_TRUE(make_directories(at("x")));
  auto done = held->commit();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::already_exists);
  EXPECT_TRUE(is_directory(held->path()));
}

TEST_F(Held, OneThatAProcessLeftIsRemovedByTheNextOfTheSameName) {
  auto child = ::fork();
  if (child == 0) {
    auto held = HeldDirectory::create(at("x"));
    if (held) static_cast<void>(write_file(path::join(held->path(), "file"), "1"));
    ::_exit(held ? 0 : 1); // as if killed: no destructor runs
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  auto left = names();
  ASSERT_EQ(left.size(), 1u);
  auto other = HeldDirectory::create(at("y"));
  EXPECT_TRUE(is_directory(at(left[0]))) << "of another name";
  auto next = HeldDirectory::create(at("x"));
  EXPECT_FALSE(exists(at(left[0])));
}

TEST_F(Held, WhatIsInUseOrNotOfOurFormStays) {
  auto one = HeldDirectory::create(at("x"));
  for (const std::string name :
       {".x.partial", ".x.0123456789ag.partial", ".x.0123456789ab", ".x.0123456789abcd.partial"})
    ASSERT_TRUE(make_directories(at(name)));
  ASSERT_TRUE(write_file(at(".x.0123456789ab.partial"), "a file"));
  auto two = HeldDirectory::create(at("x"));
  ASSERT_TRUE(two);
  EXPECT_TRUE(is_directory(one->path()));
  EXPECT_EQ(names().size(), 7u);
}

} // namespace
} // namespace quarry::sys
