#include "gate/agreement.hpp"

#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::gate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Policy policy_of(const std::string& entries) {
  auto policy = parse_policy({"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"1d\"\n[[require]]\nplatforms = "
                              "[\"*\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"s\"]\n" +
                                  entries,
                              "p.toml"});
  EXPECT_TRUE(policy) << render(policy.error());
  return *policy;
}

matrix::Families families() {
  return *matrix::parse_families({R"(schema = "quarry.families/1"
name = "f"
tiers = ["all"]
variant.linux.release = {}
build_runners.linux.default = { b = 1 }
target.gfx942 = { product = "a" }
target.gfx900 = { product = "b" }
family.x = { name = "gfx942", tier = "all", linux = { variants = ["release"], runners = { test = { t = 1 } } } }
family.y = { name = "gfx900", tier = "all", linux = { variants = ["release"] } }
)",
                                  "f.toml"});
}

std::string fact(const std::string& family) {
  return "[[family]]\nfamilies = [\"" + family + "\"]\nstate = \"no_runner\"\nreason = \"r\"\n";
}

TEST(Agreement, SaysWhereTheyHaveDriftedApart) {
  EXPECT_THAT(compare_with_families(policy_of(fact("GFX900")), families()), IsEmpty());
  auto silent = compare_with_families(policy_of(""), families());
  ASSERT_EQ(silent.size(), 1u);
  EXPECT_EQ(silent[0].code, "G022");
  EXPECT_THAT(silent[0].message, HasSubstr("gfx900 on linux"));
  auto stale = compare_with_families(policy_of(fact("gfx9*")), families());
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(stale[0].code, "G021");
  EXPECT_EQ(stale[0].place, "p.toml:9: family");
  auto typo = compare_with_families(policy_of(fact("gfx900") + fact("gfx90O")), families());
  ASSERT_EQ(typo.size(), 1u);
  EXPECT_EQ(typo[0].code, "G020");
}

TEST(Agreement, TheShippedPolicyOfFebruaryKnowsItsFamilies) {
  auto read = [](const std::string& name) { return *sys::read_file(std::string(QUARRY_SOURCE_DIR) + "/data/" + name); };
  auto policy = parse_policy({read("policies/incumbent-feb.toml"), "incumbent-feb"});
  auto table = matrix::parse_families({read("families/therock-2026-02.toml"), "therock-2026-02"});
  ASSERT_TRUE(policy && table);
  EXPECT_EQ(render(compare_with_families(*policy, *table)), "");
}

} // namespace
} // namespace quarry::gate
