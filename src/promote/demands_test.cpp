#include "promote/demands.hpp"

#include "gate/testing/policies.hpp"
#include <gmock/gmock.h>

namespace quarry::promote {
namespace {

constexpr const char* k_require =
    "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n";

TEST(Demands, ExpectAsksForFamilies) {
  auto done = [](const std::string& expect) {
    return check_demands(gate::testing::parsed_policy("[expect]\nplatforms = [\"linux\"]\n" + expect + k_require),
                         {"expect"});
  };
  EXPECT_TRUE(done("families = [\"gfx1151\"]\n"));
  auto lacks = done("projects = [\"rocm\"]\n"); // a family whose job never ran would be missed by nobody
  ASSERT_FALSE(lacks);
  EXPECT_EQ(lacks.error().code, "O030");
  EXPECT_THAT(lacks.error().message, ::testing::HasSubstr("families in [expect]"));
}

} // namespace
} // namespace quarry::promote
