#include "gate/policy.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>

namespace quarry::gate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* k_head = "schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\napprovers = [\"ann\"]\n";
constexpr const char* k_requirement =
    "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"s\"]\n";
constexpr std::int64_t k_day_us = 86'400'000'000;

TEST(Policy, EveryKeyIsRead) {
  auto policy = parse_policy({R"(schema = "quarry.policy/1"
name = "full"
mode = "report_only"
max_age = "36h"
approvers = ["ann", "bob"]
waiver_max_age = "7d"
family_projects = ["x-{family}-libs"]
[states]
no_runner = "waive"
expected_failure = "strict"
skipped_counts_as = "failed"
flaky = "any_failure_holds"
[[require]]
platforms = ["linux", "windows"]
families = ["gfx94X-*"]
pythons = ["3.12", "3.13"]
frameworks = ["torch"]
suites = ["rocm-sdk", "smoke"]
max_age = "90m"
[[family]]
families = ["gfx1151"]
platforms = ["windows"]
state = "expected_failure"
counts_as = "waive"
reason = "driver bug"
until = "2026-12-15"
)",
                              "p.toml"});
  ASSERT_TRUE(policy) << render(policy.error());
  EXPECT_EQ(policy->mode, Mode::report_only);
  EXPECT_EQ(policy->max_age_us, k_day_us * 3 / 2);
  EXPECT_EQ(policy->waiver_max_age_us, 7 * k_day_us);
  EXPECT_THAT(policy->approvers, ElementsAre("ann", "bob"));
  EXPECT_THAT(policy->family_projects, ElementsAre("x-{family}-libs"));
  EXPECT_EQ(policy->no_runner, NoRunner::waive);
  EXPECT_EQ(policy->expected_failure, ExpectedFailure::strict);
  EXPECT_EQ(policy->skipped, Skipped::failed);
  EXPECT_EQ(policy->flaky, Flaky::any_failure_holds);
  ASSERT_EQ(policy->requirements.size(), 1u);
  EXPECT_THAT(policy->requirements[0].frameworks, ElementsAre("torch"));
  EXPECT_THAT(policy->requirements[0].suites, ElementsAre("rocm-sdk", "smoke"));
  EXPECT_EQ(policy->requirements[0].max_age_us, 90ll * 60'000'000);
  ASSERT_EQ(policy->families.size(), 1u);
  EXPECT_EQ(policy->families[0].until_us, *sys::parse_rfc3339("2026-12-15T23:59:59.999999Z"));
  EXPECT_EQ(policy->digest.size(), 64u);
}

TEST(Policy, DefaultsAreTheSafeOnes) {
  auto policy = parse_policy({std::string(k_head) + k_requirement, "p.toml"});
  ASSERT_TRUE(policy) << render(policy.error());
  EXPECT_EQ(policy->mode, Mode::enforce);
  EXPECT_EQ(policy->no_runner, NoRunner::held);
  EXPECT_EQ(policy->expected_failure, ExpectedFailure::held);
  EXPECT_EQ(policy->flaky, Flaky::latest);
  EXPECT_THAT(policy->requirements[0].frameworks, ElementsAre(""));
  EXPECT_THAT(policy->family_projects, ElementsAre("rocm-sdk-libraries-{family}", "rocm-sdk-device-{family}"));
}

struct Bad {
  const char* name;
  const char* text; ///< after the head, before a good [[require]]
  const char* message;
  bool with_require = true;
};
class BadPolicy : public ::testing::TestWithParam<Bad> {};

TEST_P(BadPolicy, IsRefusedAtItsLine) {
  auto policy =
      parse_policy({std::string(k_head) + GetParam().text + (GetParam().with_require ? k_requirement : ""), "p.toml"});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code, "G002");
  EXPECT_EQ(policy.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(policy.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPolicy,
    ::testing::Values(
        Bad{"typo_at_the_root", "aprovers = []\n", "p.toml:5: aprovers: is not a known key"},
        Bad{"typo_in_states", "[states]\nno_runer = \"held\"\n", "p.toml:6: states.no_runer: is not a known key"},
        Bad{"wrong_type", "waiver_max_age = 14\n", "p.toml:5: waiver_max_age: must be a string"},
        Bad{"age_without_unit", "waiver_max_age = \"14\"\n", "p.toml:5: waiver_max_age: \"14\" is not an age"},
        Bad{"unknown_mode", "mode = \"enforced\"\n", "p.toml:5: mode: \"enforced\" is not one of enforce, report_only"},
        Bad{"unknown_meaning", "[states]\nno_runner = \"skip\"\n",
            "states.no_runner: \"skip\" is not one of held, waive"},
        Bad{"unknown_flaky", "[states]\nflaky = \"newest\"\n", "\"newest\" is not one of latest, any_failure_holds"},
        Bad{"bool_for_choice", "[states]\nno_runner = true\n", "states.no_runner: must be a string"},
        Bad{"empty_approver", "[states]\n[[family]]\nfamilies=[\"a\"]\nstate=\"tested\"\n[bogus]\n",
            "bogus: is not a known key"},
        Bad{"family_pattern_without_hole", "family_projects = [\"rocm\"]\n",
            "family_projects: \"rocm\" is not a project's name"},
        Bad{"nothing_required", "", "require: is missing", false},
        Bad{"unknown_platform",
            "[[require]]\nplatforms=[\"lunix\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"s\"]\n",
            "\"lunix\" is not linux, windows or *"},
        Bad{"missing_platforms", "[[require]]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"s\"]\n",
            "require.platforms: is missing"},
        Bad{"no_family", "[[require]]\nplatforms=[\"linux\"]\nfamilies=[]\npythons=[\"*\"]\nsuites=[\"s\"]\n",
            "require.families: is empty"},
        Bad{"bad_python", "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"312\"]\nsuites=[\"s\"]\n",
            "\"312\" is not a Python such as 3.12"},
        Bad{"no_suite", "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[]\n",
            "require.suites: is empty"},
        Bad{"suite_glob", "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"*\"]\n",
            "must name one suite"},
        Bad{"no_runner_without_reason", "[[family]]\nfamilies=[\"a\"]\nstate=\"no_runner\"\n",
            "family.reason: is missing"},
        Bad{"endless_expected_failure", "[[family]]\nfamilies=[\"a\"]\nstate=\"expected_failure\"\nreason=\"r\"\n",
            "family.until: is missing"},
        Bad{"unknown_state", "[[family]]\nfamilies=[\"a\"]\nstate=\"bypass\"\nreason=\"r\"\n",
            "\"bypass\" is not one of tested, no_runner, expected_failure"},
        Bad{"bad_until", "[[family]]\nfamilies=[\"a\"]\nstate=\"no_runner\"\nreason=\"r\"\nuntil=\"soon\"\n",
            "\"soon\" is neither a day nor a time"},
        Bad{"strict_no_runner",
            "[[family]]\nfamilies=[\"a\"]\nstate=\"no_runner\"\nreason=\"r\"\ncounts_as=\"strict\"\n",
            "is for expected failures"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Policy, HeadIsChecked) {
  auto empty_name = parse_policy(
      {std::string("schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\napprovers = [\" \"]\n") +
           k_requirement,
       "p.toml"});
  ASSERT_FALSE(empty_name);
  EXPECT_THAT(empty_name.error().message, HasSubstr("approvers: holds an empty name"));
  auto later = parse_policy(
      {std::string("schema = \"quarry.policy/2\"\nname = \"p\"\nmax_age = \"14d\"\n") + k_requirement, "p.toml"});
  ASSERT_FALSE(later);
  EXPECT_THAT(later.error().message, HasSubstr("\"quarry.policy/2\" is not one of"));
  auto no_age = parse_policy({std::string("schema = \"quarry.policy/1\"\nname = \"p\"\n") + k_requirement, "p.toml"});
  ASSERT_FALSE(no_age);
  EXPECT_THAT(no_age.error().message, HasSubstr("max_age: is missing"));
  auto broken = parse_policy({"schema = \n", "p.toml"});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, "G001");
  EXPECT_THAT(broken.error().message, StartsWith("p.toml:1:"));
}

TEST(Policy, ShippedOnesAreSound) {
  for (const char* name : {"default", "demo", "incumbent-feb"}) {
    auto text = sys::read_file(std::string(QUARRY_SOURCE_DIR "/data/policies/") + name + ".toml");
    ASSERT_TRUE(text);
    auto policy = parse_policy({*text, name});
    ASSERT_TRUE(policy) << render(policy.error());
    EXPECT_EQ(policy->name, name);
    EXPECT_EQ(policy->no_runner, NoRunner::held);
    EXPECT_EQ(policy->mode, Mode::enforce);
  }
}

TEST(Age, Table) {
  EXPECT_EQ(parse_age("1m").value(), 60'000'000);
  EXPECT_EQ(parse_age("36h").value(), 36ll * 3'600'000'000);
  EXPECT_EQ(parse_age("3650d").value(), 3650 * k_day_us);
  for (const char* bad : {"", "d", "0d", "14", "-1d", "1.5d", "3651d", "99999999999999999999d", "1w", "1 d", "d1"}) {
    auto age = parse_age(bad);
    ASSERT_FALSE(age) << bad;
    EXPECT_EQ(age.error().code, "G003");
  }
}

TEST(Until, Table) {
  EXPECT_EQ(parse_until("2026-12-15").value(), *sys::parse_rfc3339("2026-12-15T23:59:59.999999Z"));
  EXPECT_EQ(parse_until("2026-12-15T18:00:00Z").value(), *sys::parse_rfc3339("2026-12-15T18:00:00Z"));
  for (const char* bad : {"", "tomorrow", "2026-13-01", "15.12.2026", "2026-12-15 18:00"}) {
    auto until = parse_until(bad);
    ASSERT_FALSE(until) << bad;
    EXPECT_EQ(until.error().code, "G004");
  }
}

TEST(Policy, TheStoredFormSaysTheSame) {
  std::string full = std::string(k_head) + "[states]\nflaky = \"any_failure_holds\"\n" + k_requirement +
                     "frameworks = [\"torch\"]\nmax_age = \"90m\"\n[[family]]\nfamilies = [\"gfx1151\"]\nstate = "
                     "\"expected_failure\"\nreason = \"driver\"\nuntil = \"2026-12-15\"\n";
  for (const auto& text : {std::string(k_head) + k_requirement, full}) {
    auto policy = parse_policy({text, "p.toml"});
    ASSERT_TRUE(policy) << render(policy.error());
    auto stored = canonical_json(*policy);
    auto again = parse_stored_policy({stored, "policies/x.json"});
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(canonical_json(*again), stored);
    EXPECT_EQ(again->digest, policy->digest);
    EXPECT_EQ(again->max_age_us, policy->max_age_us);
    EXPECT_EQ(again->families.size(), policy->families.size());
  }
}

TEST(Policy, CommentsDoNotCountAndEveryRuleDoes) {
  auto digest = [](const std::string& text) { return parse_policy({text, "p.toml"})->digest; };
  auto plain = digest(std::string(k_head) + k_requirement);
  EXPECT_EQ(digest("# why\n" + std::string(k_head) + "mode = \"enforce\"\n" + k_requirement), plain);
  for (const char* more :
       {"waiver_max_age = \"1d\"\n", "mode = \"report_only\"\n", "[states]\nno_runner = \"waive\"\n"})
    EXPECT_NE(digest(std::string(k_head) + more + k_requirement), plain) << more;
}

TEST(Policy, AStoredPolicyIsReadWholeOrNotAtAll) {
  auto stored = canonical_json(*parse_policy({std::string(k_head) + k_requirement, "p.toml"}));
  for (const auto& bad : {"{\"zz\":\"1\"," + stored.substr(1), stored + " ", stored.substr(0, stored.size() - 1),
                          std::string("{\"schema\":\"quarry.policy/1\"}")})
    EXPECT_FALSE(parse_stored_policy({bad, "policies/x.json"})) << bad;
}

TEST(Policy, EmptyExtrasAreNamedInFull) {
  auto read = [](const std::string& names) {
    return parse_policy({std::string(k_head) + "empty_extras = " + names + "\n" + k_requirement, "p.toml"});
  };
  auto good = read("[\"rocm[Libraries_gfx1153]\", \"ROCm[devel]\"]");
  ASSERT_TRUE(good) << render(good.error());
  EXPECT_EQ(good->empty_extras, (std::vector<EmptyExtra>{{"rocm", "devel"}, {"rocm", "libraries-gfx1153"}}));
  EXPECT_EQ(parse_stored_policy({canonical_json(*good), "x"})->digest, good->digest);
  EXPECT_NE(good->digest, parse_policy({std::string(k_head) + k_requirement, "p.toml"})->digest);
  for (const char* bad : {"[\"rocm\"]", "[\"rocm[a,b]\"]", "[\"rocm[libraries-*]\"]", "[\"rocm[a]==1\"]",
                          "[\"rocm[a]; python_version > '3'\"]", "[\"rocm[a]\", \"ROCM[A]\"]", "[\"\"]"})
    EXPECT_FALSE(read(bad)) << bad;
}

TEST(Policy, AnExpectationNamesWhatItExpects) {
  auto read = [](const std::string& expect) {
    return parse_policy({std::string(k_head) + "[expect]\n" + expect + k_requirement, "p.toml"});
  };
  auto good =
      read("platforms = [\"linux\"]\nfamilies = [\"gfx94X-dcgpu\"]\npythons = [\"3.12\"]\nprojects = [\"rocm\"]\n");
  ASSERT_TRUE(good) << render(good.error());
  EXPECT_THAT(good->expectation.families, ElementsAre("gfx94X-dcgpu"));
  EXPECT_EQ(parse_stored_policy({canonical_json(*good), "x"})->digest, good->digest);
  for (const char* bad :
       {"platforms = [\"linux\"]\n", "projects = [\"rocm\"]\n", "frameworks = [\"torch\"]\n",
        "platforms = [\"linux\"]\nframeworks = [\"*\"]\n", "platforms = [\"linux\"]\nframeworks = []\n",
        "platforms = [\"*\"]\nprojects = [\"rocm\"]\n", "platforms = [\"linux\"]\nfamilies = [\"gfx*\"]\n",
        "platforms = [\"linux\"]\npythons = [\"*\"]\n",
        "platforms = [\"linux\"]\nprojects = [\"rocm\"]\nframework = [\"torch\"]\n"})
    EXPECT_FALSE(read(bad)) << bad;
  auto torch = read("platforms = [\"linux\"]\nframeworks = [\"torch\"]\n");
  ASSERT_TRUE(torch) << render(torch.error());
  EXPECT_THAT(torch->expectation.frameworks, ElementsAre("torch"));
  EXPECT_EQ(parse_stored_policy({canonical_json(*torch), "x"})->digest, torch->digest);
}

TEST(Policy, HowManyResultsMustHavePassed) {
  auto read = [](const std::string& states, const std::string& suite) {
    return parse_policy({std::string(k_head) + states + k_requirement + suite, "p.toml"});
  };
  auto plain = read("", ""), one = read("[states]\nlast_n_pass = 1\n", ""),
       two = read("[states]\nlast_n_pass = 2\n", "");
  ASSERT_TRUE(plain && one && two);
  EXPECT_EQ(one->digest, plain->digest) << "a policy that says the default keeps its digest";
  EXPECT_NE(two->digest, plain->digest);
  EXPECT_EQ(parse_stored_policy({canonical_json(*two), "x"})->last_n_pass, 2);
  auto suite = "[[suite]]\nname = \"" + plain->requirements.at(0).suites.at(0) + "\"\nlast_n_pass = ";
  auto own = read("", suite + "3\n");
  ASSERT_TRUE(own) << render(own.error());
  EXPECT_EQ(parse_stored_policy({canonical_json(*own), "x"})->suites.at(0).last_n_pass, 3);
  for (const char* bad : {"0", "-1", "101", "\"2\""}) {
    EXPECT_FALSE(read("", suite + bad + "\n")) << bad;
    EXPECT_FALSE(read(std::string("[states]\nlast_n_pass = ") + bad + "\n", "")) << bad;
  }
}

} // namespace
} // namespace quarry::gate
