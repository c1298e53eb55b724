#include "registry/rounds.hpp"

#include "base/codes.hpp"
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

Error overtaken() { return Error::of(ErrorKind::precondition_failed, "R003", "moved"); }
Error unconfirmed() { return Error::of(ErrorKind::outcome_unknown, "R004", "lost"); }

TEST(Rounds, OthersMayBeFasterAllRoundsButTheLast) {
  Rounds rounds("channel stable");
  for (int i = 1; i < k_rebase_max; ++i) ASSERT_TRUE(rounds.another(overtaken())) << i;
  auto given_up = rounds.another(overtaken());
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, "P010");
  EXPECT_NE(given_up.error().message.find("channel stable 64 times"), std::string::npos);
}

TEST(Rounds, FewOutcomesMayStayUnknown) {
  Rounds rounds("x");
  ASSERT_TRUE(rounds.another(unconfirmed()));
  ASSERT_TRUE(rounds.another(overtaken()));
  ASSERT_TRUE(rounds.another(unconfirmed()));
  auto given_up = rounds.another(unconfirmed());
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, "R004");
}

TEST(Rounds, AnyOtherErrorIsFinal) {
  Rounds rounds("x");
  auto refused = rounds.another(Error::of(ErrorKind::precondition_failed, "O002", "another plan"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O002");
}

} // namespace
} // namespace quarry::registry
