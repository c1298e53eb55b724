#include "base/edit_distance.hpp"

#include <gtest/gtest.h>
#include <string>
#include <tuple>

namespace quarry::text {
namespace {

TEST(EditDistance, CountsEdits) {
  const std::tuple<std::string, std::string, std::size_t> k_cases[] = {
      {"", "", 0},
      {"", "abc", 3},
      {"abc", "", 3},
      {"fetch", "fetch", 0},
      {"fecth", "fetch", 1},
      {"ftch", "fetch", 1},
      {"fetcch", "fetch", 1},
      {"fitch", "fetch", 1},
      {"kitten", "sitting", 3},
  };
  for (const auto& [from, to, distance] : k_cases) {
    EXPECT_EQ(edit_distance(from, to), distance) << from << " " << to;
    EXPECT_EQ(edit_distance(to, from), distance) << to << " " << from;
  }
}

} // namespace
} // namespace quarry::text
