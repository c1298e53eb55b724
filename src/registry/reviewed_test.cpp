#include "registry/reviewed.hpp"

#include "digest/sha256.hpp"
#include <gtest/gtest.h>

namespace quarry::registry {

namespace {
TEST(ReviewedPlan, NamesByTheFirstSixteenDigitsOrMore) {
  PlanDigest plan(sha256("a plan")), other(sha256("another"));
  for (std::size_t digits : {k_plan_digits_min, std::size_t{40}, PlanDigest::k_digits}) {
    auto reviewed = ReviewedPlan::parse(plan.hex().substr(0, digits));
    ASSERT_TRUE(reviewed) << digits;
    EXPECT_TRUE(reviewed->names(plan));
    EXPECT_FALSE(reviewed->names(other));
    EXPECT_FALSE(reviewed->names(PlanDigest())) << "a move without a plan";
  }
  EXPECT_TRUE(ReviewedPlan(plan).names(plan));
}

// Few digits would name many plans, none at all every plan.
TEST(ReviewedPlan, OtherTextsAreRefused) {
  auto whole = PlanDigest(sha256("a plan")).hex();
  for (const auto& digits : {std::string(), whole.substr(0, 1), whole.substr(0, k_plan_digits_min - 1), whole + "0",
                             std::string(16, 'g'), std::string(16, 'A')}) {
    auto refused = ReviewedPlan::parse(digits);
    ASSERT_FALSE(refused) << digits;
    EXPECT_EQ(refused.error().code, "O005");
  }
}
} // namespace

} // namespace quarry::registry
