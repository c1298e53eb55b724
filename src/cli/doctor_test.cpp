#include "cli/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Doctor, NamesVariablesThatSteerInstallersAndHidesTheirValues) {
  auto checks = installer_variables({{"PIP_INDEX_URL", "https://user:secret@example.com/"},
                                     {"UV_FIND_LINKS", ""},
                                     {"PIP_CERT", "x"},
                                     {"PATH", "/bin"},
                                     {"MY_PIP_INDEX_URL", "x"}});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].name, "PIP_INDEX_URL");
  EXPECT_EQ(checks[0].health, Health::note);
  EXPECT_THAT(checks[0].found + checks[0].next, Not(HasSubstr("secret")));
}

TEST(Doctor, FindsMistypedVariables) {
  auto checks = unknown_variables({{"QUARRY_STOER", "x"}, {"QUARRY_STORE", "y"}, {"STORE", "z"}},
                                  {"QUARRY_STORE", "QUARRY_JOBS"});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].name, "QUARRY_STOER");
  EXPECT_THAT(checks[0].next, HasSubstr("`QUARRY_STORE`"));
}

TEST(Doctor, OnlyAFailureIsUnhealthy) {
  EXPECT_TRUE(is_healthy({{"a", Health::ok, "", ""}, {"b", Health::note, "", ""}, {"c", Health::warning, "", ""}}));
  EXPECT_FALSE(is_healthy({{"a", Health::ok, "", ""}, {"b", Health::failed, "", ""}}));
}

} // namespace
} // namespace quarry::cli
