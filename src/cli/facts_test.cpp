#include "cli/facts.hpp"

#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

TEST(Facts, HaveTheirValuesInOneColumn) {
  EXPECT_EQ(fact("view", "{}@{}", "stable", 3) + fact("unblocked", "{}", "a file"), "view        stable@3\n"
                                                                                    "unblocked   a file\n");
  EXPECT_EQ(fact("not counted", "x"), "not counted  x\n") << "a long label is not cut";
}

} // namespace
} // namespace quarry::cli
