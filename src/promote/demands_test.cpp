#include "promote/demands.hpp"

#include "digest/ed25519.hpp"
#include "gate/testing/policies.hpp"
#include <gmock/gmock.h>

namespace quarry::promote {
namespace {

constexpr const char* k_require =
    "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"rocm-sdk\"]\n";

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

TEST(Demands, ASuiteThatIsOnlyANameIsSaid) {
  const std::string open = "openly = [\"nothing_expected\", \"unsigned\"]\n";
  const std::string require = "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n";
  const std::string rule = "[[suite]]\nname = \"smoke\"\n";
  auto done = [&](const std::string& more) { return check_openness(gate::testing::parsed_policy(more)); };
  for (const auto& lacking : {open + require, open + require + rule + "min_passed = 3\n"}) {
    auto refused = done(lacking);
    ASSERT_FALSE(refused) << lacking;
    EXPECT_EQ(refused.error().code, "O045");
    EXPECT_THAT(refused.error().details.at(0), ::testing::StartsWith("no definition of smoke"));
    EXPECT_THAT(refused.error().hint, ::testing::HasSubstr("any_command"));
  }
  EXPECT_TRUE(done("openly = [\"nothing_expected\", \"unsigned\", \"any_command\"]\n" + require));
  EXPECT_TRUE(done(open + require + rule + "packaged = true\n"));
  auto bound = gate::testing::parsed_policy(open + require);
  auto before = bound.digest;
  gate::bind_suite(bound, "smoke", sha256("a definition"));
  EXPECT_NE(bound.digest, before);
  EXPECT_TRUE(check_openness(bound));
}

TEST(Demands, WhatIsLeftOpenIsSaid) {
  auto key = Ed25519PrivateKey::create()->public_key().base64();
  auto signer = [&](const char* more) {
    return "[[signer]]\nname = \"ci\"\nkey = \"" + key + "\"\nsigns = [\"evidence\"]\n" + more;
  };
  const std::string expect = "[expect]\nplatforms = [\"linux\"]\nprojects = [\"rocm\"]\n", unsaid;
  struct Case {
    std::string openly, tables;
    std::vector<const char*> left_open;
  };
  const Case cases[] = {{unsaid, unsaid, {"no [expect]", "no [[signer]]"}},
                        {unsaid, expect, {"no [[signer]]"}},
                        {unsaid, signer(""), {"no [expect]"}},
                        {unsaid, expect + signer("revoked = \"leaked\"\n"), {"no [[signer]]"}},
                        {unsaid, expect + signer(""), {}},
                        {"openly = [\"unsigned\"]\n", expect, {}},
                        {"openly = [\"unsigned\"]\n", unsaid, {"no [expect]"}},
                        {"openly = [\"nothing_expected\"]\n", signer(""), {}},
                        {"openly = [\"nothing_expected\", \"unsigned\"]\n", unsaid, {}}};
  for (const auto& one : cases) {
    auto policy = gate::testing::parsed_policy(one.openly + one.tables + k_require);
    auto done = check_openness(policy);
    EXPECT_EQ(done.has_value(), one.left_open.empty()) << one.openly << one.tables;
    if (done) continue;
    EXPECT_EQ(done.error().code, "O045");
    ASSERT_EQ(done.error().details.size(), one.left_open.size());
    for (std::size_t i = 0; i < one.left_open.size(); ++i)
      EXPECT_THAT(done.error().details[i], ::testing::StartsWith(one.left_open[i]));
    EXPECT_THAT(done.error().hint, ::testing::HasSubstr("openly = ["));
  }
  for (const auto& [openly, tables] :
       {std::pair("openly = [\"unsigned\"]\n", signer("")), std::pair("openly = [\"nothing_expected\"]\n", expect),
        std::pair("openly = [\"Unsigned\"]\n", unsaid)}) {
    auto parsed = gate::parse_policy(
        {"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"1d\"\n" + std::string(openly) + tables + k_require,
         "p.toml"});
    ASSERT_FALSE(parsed) << openly << tables;
    EXPECT_EQ(parsed.error().code, "G002");
    EXPECT_THAT(parsed.error().message, ::testing::HasSubstr("openly"));
  }
}

} // namespace
} // namespace quarry::promote
