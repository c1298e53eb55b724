#include "registry/junk.hpp"

#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

TEST(Junk, IsToldInAFewLines) {
  std::vector<Junk> junk;
  for (int i = 0; i < 10; ++i) junk.push_back({"evidence/" + std::to_string(i) + ".json", "it was altered"});
  Findings few, many;
  tell_junk(junk, few);
  ASSERT_EQ(few.size(), 10u);
  EXPECT_EQ(few[3].place, "evidence/3.json");
  for (int i = 10; i < 20'000; ++i) junk.push_back({"evidence/" + std::to_string(i) + ".json", "it was altered"});
  tell_junk(junk, many);
  ASSERT_EQ(many.size(), 11u);
  EXPECT_EQ(many.back().place, "evidence/");
  EXPECT_NE(many.back().message.find("20,000 objects"), std::string::npos) << many.back().message;
}

} // namespace
} // namespace quarry::registry
