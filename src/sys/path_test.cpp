#include "sys/path.hpp"

#include <gmock/gmock.h>

namespace quarry::path {
namespace {
using ::testing::ElementsAre;

TEST(Path, Join) {
  EXPECT_EQ(join("a", "b"), "a/b");
  EXPECT_EQ(join("a/", "b"), "a/b");
  EXPECT_EQ(join("a", "/b"), "/b");
  EXPECT_EQ(join("", "b"), "b");
  EXPECT_EQ(join("a", ""), "a");
}

TEST(Path, BasenameAndDirname) {
  const std::array<const char*, 3> table[] = {{"a/b", "b", "a"},   {"a/b/", "b", "a"}, {"a", "a", "."},
                                              {"/a", "a", "/"},    {"/", "/", "/"},    {"", "", "."},
                                              {"/a/b", "b", "/a"}, {"a//", "a", "."}};
  for (auto [text, base, directory] : table) {
    EXPECT_EQ(basename(text), base) << text;
    EXPECT_EQ(dirname(text), directory) << text;
  }
}

TEST(Path, Normal) {
  const std::pair<const char*, const char*> table[] = {{"a/./b//c", "a/b/c"},
                                                       {"a/../b", "b"},
                                                       {"../a", "../a"},
                                                       {"a/../../b", "../b"},
                                                       {"/../a", "/a"},
                                                       {"/", "/"},
                                                       {"", "."},
                                                       {"a/..", "."},
                                                       {"./", "."},
                                                       {"/a/b/../c/", "/a/c"}};
  for (auto [from, to] : table) EXPECT_EQ(normal(from), to) << from;
}

TEST(Path, Components) { EXPECT_THAT(components("/a/./b//../c"), ElementsAre("a", "b", "..", "c")); }

TEST(Path, Relative) {
  EXPECT_EQ(relative("a/b/c", "a/d"), "../b/c");
  EXPECT_EQ(relative("a", "a"), ".");
  EXPECT_EQ(relative("lib/x", "."), "lib/x");
  EXPECT_EQ(relative(".", "a/b"), "../..");
  EXPECT_EQ(relative("ab/c", "a"), "../ab/c");
}

} // namespace
} // namespace quarry::path
