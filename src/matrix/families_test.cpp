#include "matrix/families.hpp"

#include "base/text.hpp"
#include "matrix/testing.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace quarry::matrix {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Families, ReadsEveryField) {
  auto families = small_families();
  EXPECT_EQ(families.families.size(), 3u);
  const auto* family = families.find("GFX94x-DCGPU");
  ASSERT_NE(family, nullptr);
  EXPECT_EQ(family->key, "gfx94x");
  const auto* place = family->find(Platform::linux);
  EXPECT_THAT(*place->find("test"), ElementsAre(Runner{"one", 5}, Runner{"two", 28}));
  EXPECT_EQ(place->kernels.at("oem"), "oem-kernel");
  EXPECT_EQ(family->find(Platform::windows), nullptr);
  const auto* windows = families.find("gfx110x")->find(Platform::windows);
  EXPECT_THAT(windows->expected_failure, ElementsAre("pytorch"));
  EXPECT_TRUE(windows->release_untested);
  EXPECT_EQ(windows->reason, "no machine yet");
  EXPECT_EQ(families.find("gfx110x")->find(Platform::linux)->tests, Scope::sanity);
  EXPECT_EQ(families.variant(Platform::linux, "asan")->build, "sanitizer");
}

TEST(Families, TargetsOfFamiliesGroupsAndThemselves) {
  auto families = small_families();
  EXPECT_THAT(families.targets_of("gfx110X-all"), ElementsAre("gfx1100", "gfx1101"));
  EXPECT_THAT(families.targets_of("gfx110x-ALL"), ElementsAre("gfx1100", "gfx1101"));
  EXPECT_THAT(families.targets_of("gfx942"), ElementsAre("gfx942"));
  EXPECT_TRUE(families.targets_of("gfx110").empty());
}

TEST(Families, WhatIsWrittenReadsBackAsTheSame) {
  auto families = small_families();
  auto text = write_families(families);
  auto again = parse_families({text, "again.toml"});
  ASSERT_TRUE(again) << render(again.error()) << text;
  EXPECT_EQ(write_families(*again), text);
  EXPECT_EQ(again->targets, families.targets);
  EXPECT_EQ(again->variants, families.variants);
  EXPECT_EQ(again->build_runners, families.build_runners);
  EXPECT_EQ(again->families.size(), families.families.size());
}

TEST(Families, WritesNamesThatNeedQuotes) {
  auto families = small_families();
  families.targets[0].product = "a \"b\" \\ \n";
  families.families[0].places[0].runners["test"] = {{"label.with.dots", 1}};
  auto again = parse_families({write_families(families), "again.toml"});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->targets[0].product, "a \"b\" \\ \n");
  EXPECT_EQ(again->families[0].places[0].runners.at("test")[0].label, "label.with.dots");
}

struct Change {
  const char *from, *to, *place; // the error's message begins with "bad.toml:" and holds `place`
};

TEST(Families, RefusesWithFileLineAndKey) {
  for (auto change :
       {Change{"schema = \"quarry.families/1\"", "schema = \"quarry.families/2\"", "bad.toml:1: schema: "},
        Change{"fetch = [\"gfx942\"]", "fetsch = [\"gfx942\"]",
               "bad.toml:25: family.gfx94x.linux.fetsch: is not a known key"},
        Change{"runners.test = { one = 5, two = 28 }", "runners.tests = { one = 5 }",
               "family.gfx94x.linux.runners.tests: is not a known key"},
        Change{"tier = \"nightly\"", "tier = \"weekly\"", "family.gfx900.tier: \"weekly\" is not one of"},
        Change{"name = \"gfx900\"", "name = \"gfx901\"", "family.gfx900.name: no target belongs to gfx901"},
        Change{"name = \"gfx900\"", "name = \"gfx94X-dcgpu\"", "family.gfx900.name: another family"},
        Change{"fetch = [\"gfx1100\"]", "fetch = [\"gfx942\"]", "gfx942 does not belong to gfx110X-all"},
        Change{"\"asan\", \"tsan\"]", "\"asan\", \"msan\"]", "there is no [variant.linux.msan]"},
        Change{"one = 5, two = 28", "one = 0, two = 0", "all weights are 0"},
        Change{"one = 5", "one = -5", "weight -5 is not between"},
        Change{"one = 5", "one = \"5\"", "must be a whole number"},
        Change{"{ radeon = 1 }", "{}", "names no runner"},
        Change{"{ radeon = 1 }", "{ \"ra deon\" = 1 }", "is not a runner's label"},
        Change{"tests = \"sanity\"", "tests = \"some\"", "family.gfx110x.linux.tests: \"some\" is not one of"},
        Change{"[\"pytorch\"]", "[\"jax\"]", "is not one of build, pytorch"},
        Change{"[\"presubmit\", \"nightly\"]\ntrigger.pull", "[\"presubmit\", \"presubmit\"]\ntrigger.pull",
               "tiers: presubmit appears twice"},
        Change{"trigger.pull_request = [\"presubmit\"]", "trigger.pull_request = [\"postsubmit\"]",
               "trigger.pull_request: postsubmit is not one of"},
        Change{"build = \"sanitizer\"", "build = \"other\"", "build_runners.linux has no"},
        Change{"test = [\"sandbox\"]", "test = [\"sandpit\"]", "test: \"sandpit\" is not one of test, sandbox"},
        Change{"suffix = \"tsan\"", "suffix = \"asan\"", "suffix: is that of asan too"},
        Change{"[family.gfx900.linux]\nvariants = [\"release\"]\n", "", "is built on no platform"},
        Change{"[family.gfx900.linux]", "[family.gfx900.macos]", "family.gfx900"},
        Change{"variants = [\"release\"]\nexpected", "expected", "variants: is missing or empty"},
        Change{"product = \"Vega\"", "produkt = \"Vega\"", "target.gfx900"}}) {
    auto text = text::replace_all(k_small, change.from, change.to);
    ASSERT_NE(text, k_small) << change.from;
    auto families = parse_families({text, "bad.toml"});
    ASSERT_FALSE(families) << change.to;
    EXPECT_EQ(families.error().code, "F002") << change.to;
    EXPECT_THAT(families.error().message, StartsWith("bad.toml:")) << change.to;
    EXPECT_THAT(families.error().message, HasSubstr(change.place)) << change.to;
  }
  EXPECT_EQ(parse_families({"not toml", "bad.toml"}).error().code, "F001");
  EXPECT_EQ(parse_families({"", "bad.toml"}).error().code, "F002");
}

TEST(Runners, TheHeaviestStandsForAll) {
  EXPECT_EQ(heaviest({}), "");
  EXPECT_EQ(heaviest({{"only", 0}}), "only");
  EXPECT_EQ(heaviest({{"a", 5}, {"b", 28}}), "b");
  EXPECT_EQ(heaviest({{"a", 5}, {"b", 5}}), "a");
}

TEST(Runners, ASeedChoosesByWeightAndForEverTheSame) {
  Runners runners = {{"five", 5}, {"never", 0}, {"twenty-eight", 28}};
  std::map<std::string, int> counts;
  for (int i = 0; i < 3300; ++i) ++counts[choose(runners, "run-" + std::to_string(i))];
  EXPECT_EQ(counts["never"], 0);
  EXPECT_NEAR(counts["five"], 500, 100); // 4.9 standard deviations; the seeds are fixed
  EXPECT_EQ(choose(runners, "42"), choose(runners, "42"));
  EXPECT_EQ(choose({{"only", 0}}, "42"), "only");
  EXPECT_EQ(choose(runners, ""), "twenty-eight");
}

} // namespace
} // namespace quarry::matrix
