#include "matrix/expand.hpp"

#include "matrix/check.hpp"
#include "matrix/page.hpp"
#include "matrix/testing.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::matrix {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

ExpandRequest on_linux(std::string trigger, Names families = {}, Names variants = {}) {
  return {std::move(trigger), Platform::linux, std::move(families), std::move(variants), ""};
}

Names groups(const Result<Expansion>& expansion) {
  Names names;
  if (expansion)
    for (const auto& cell : expansion->cells) names.push_back(cell.artifact_group);
  else
    names.push_back(expansion.error().code);
  return names;
}

TEST(Expand, TriggersChooseTiers) {
  auto families = small_families();
  EXPECT_THAT(groups(expand(families, on_linux("pull_request"))), ElementsAre("gfx94X-dcgpu", "gfx110X-all"));
  EXPECT_THAT(groups(expand(families, on_linux("schedule"))), ElementsAre("gfx94X-dcgpu", "gfx110X-all", "gfx900"));
  EXPECT_THAT(groups(expand(families, on_linux("nightly"))), ElementsAre("gfx900"));
  EXPECT_THAT(groups(expand(families, on_linux("nightly,presubmit"))),
              ElementsAre("gfx94X-dcgpu", "gfx110X-all", "gfx900"));
  EXPECT_THAT(groups(expand(families, on_linux("workflow_dispatch", {"gfx900", "GFX94X-dcgpu", "gfx94x"}))),
              ElementsAre("gfx94X-dcgpu", "gfx900"));
  EXPECT_THAT(groups(expand(families, on_linux("pull_request", {"gfx110x"}))), ElementsAre("gfx110X-all"));
}

TEST(Expand, NothingVanishesSilently) {
  auto families = small_families();
  EXPECT_THAT(groups(expand(families, on_linux("weekly"))), ElementsAre("F005"));
  EXPECT_THAT(groups(expand(families, on_linux(""))), ElementsAre("F005"));
  EXPECT_THAT(groups(expand(families, on_linux("workflow_dispatch"))), ElementsAre("F004"));
  EXPECT_THAT(groups(expand(families, on_linux("pull_request", {"gfx900"}))), ElementsAre("F004"));
  EXPECT_THAT(groups(expand(families, {"pull_request", Platform::windows, {"gfx94x"}, {}, ""})), ElementsAre("F004"));
  EXPECT_THAT(groups(expand(families, {"pull_request", Platform::read("macos"), {}, {}, ""})), ElementsAre("F004"));
  EXPECT_THAT(groups(expand(families, on_linux("pull_request", {"gfx9"}))), ElementsAre("F003"));
  EXPECT_THAT(groups(expand(families, on_linux("pull_request", {}, {"msan"}))), ElementsAre("F006"));
  auto target = expand(families, on_linux("pull_request", {"gfx1101"}));
  EXPECT_THAT(target.error().message, HasSubstr("is a target"));
  EXPECT_THAT(target.error().hint, HasSubstr("gfx110X-all"));
  auto windows = expand(families, {"pull_request", Platform::windows, {}, {}, ""});
  EXPECT_THAT(groups(windows), ElementsAre("gfx110X-all"));
  EXPECT_THAT(windows->skipped, ElementsAre("gfx94x is not built on windows"));
}

TEST(Expand, VariantsHaveTheirGroupsAndMachines) {
  auto families = small_families();
  auto all = expand(families, on_linux("pull_request", {"gfx94x"}, {"all"}));
  EXPECT_THAT(groups(all), ElementsAre("gfx94X-dcgpu", "gfx94X-dcgpu-asan", "gfx94X-dcgpu-tsan"));
  EXPECT_EQ(all->cells[0].build_runner, "builder");
  EXPECT_EQ(all->cells[0].test_runner, "two");
  EXPECT_EQ(all->cells[0].multi_gpu_runner, "eight");
  EXPECT_EQ(all->cells[1].build_runner, "big-builder");
  EXPECT_EQ(all->cells[1].test_runner, "sandbox");
  EXPECT_EQ(all->cells[2].state, TestState::expected_failure);
  EXPECT_TRUE(all->cells[2].held);
  EXPECT_THAT(expand(families, on_linux("pull_request", {}, {"asan"}))->skipped,
              ElementsAre("gfx110x is not built as asan"));
}

TEST(Expand, AVariantIsTestedOnTheRunnersThatItNames) {
  auto families = small_families();
  families.variants[Platform::linux][2].expected_failure = false;
  auto runners = [&] {
    std::vector<std::string> found;
    auto matrix = expand(families, on_linux("pull_request", {"gfx94x"}, {"all"})); // outlives the loop over its cells
    for (const auto& cell : matrix->cells) found.push_back(cell.test_runner);
    return found;
  };
  EXPECT_THAT(runners(), ElementsAre("two", "sandbox", "two")) << "tsan is not for the sandbox";
  families.families[0].places[0].runners.erase("sandbox");
  EXPECT_THAT(runners(), ElementsAre("two", "", "two")) << "asan runs in the sandbox or not at all";
  families.variants[Platform::linux][1].test = {"sandbox", "test"};
  EXPECT_THAT(runners(), ElementsAre("two", "two", "two"));
}

TEST(Expand, AFamilyWithoutARunnerIsHeldAndStays) {
  auto families = small_families();
  auto nightly = *expand(families, on_linux("nightly"));
  EXPECT_EQ(nightly.cells[0].state, TestState::no_runner);
  EXPECT_TRUE(nightly.cells[0].held);
  EXPECT_EQ(nightly.cells[0].test_runner, "");
  auto sanity = *expand(families, on_linux("pull_request", {"gfx110x"}));
  EXPECT_EQ(sanity.cells[0].state, TestState::sanity_only);
  EXPECT_FALSE(sanity.cells[0].held);
}

TEST(Expand, TheSeedDecidesAmongWeightedRunners) {
  auto families = small_families();
  auto request = on_linux("pull_request", {"gfx94x"});
  std::map<std::string, int> counts;
  for (int i = 0; i < 330; ++i) {
    request.seed = std::to_string(i);
    ++counts[expand(families, request)->cells[0].test_runner];
  }
  EXPECT_GT(counts["one"], 20);
  EXPECT_GT(counts["two"], 200);
}

TEST(GithubMatrix, IsOneLineThatFits) {
  auto families = small_families();
  auto text = *github_matrix(*expand(families, on_linux("schedule")));
  EXPECT_EQ(text.find('\n'), text.npos);
  auto parsed = Json::parse(text);
  EXPECT_EQ(parsed["include"].size(), 3u);
  EXPECT_EQ(parsed["include"][0]["test_runs_on"], "two");
  EXPECT_EQ(parsed["include"][2]["held"], true);
}

/// `count` families, each with a reason of `bytes`.
Families many(int count, std::size_t bytes) {
  auto text = k_small.substr(0, k_small.find("[target]")) + "[target]\n";
  for (int i = 0; i < count; ++i) text += "gfx" + std::to_string(i) + " = { product = \"p\" }\n";
  for (int i = 0; i < count; ++i) {
    auto key = "gfx" + std::to_string(i);
    text += "[family." + key + "]\nname = \"" + key +
            "\"\ntier = \"nightly\"\nlinux.variants = [\"release\"]\nlinux.reason = \"" + std::string(bytes, 'x') +
            "\"\n";
  }
  return *parse_families({text, "many.toml"});
}

TEST(GithubMatrix, RefusesWhatGithubWould) {
  auto fits = many(256, 0), jobs = many(257, 0), bytes = many(256, 2000);
  EXPECT_TRUE(github_matrix(*expand(fits, on_linux("nightly"))));
  EXPECT_THAT(github_matrix(*expand(jobs, on_linux("nightly"))).error().message, HasSubstr("257 jobs"));
  EXPECT_THAT(github_matrix(*expand(bytes, on_linux("nightly"))).error().message, HasSubstr("UTF-16"));
  EXPECT_TRUE(has_errors(check_families(jobs)));
  EXPECT_FALSE(has_errors(check_families(fits)));
}

TEST(Targets, KeepTheOrderAndStandOnce) {
  auto families = small_families();
  EXPECT_THAT(*expand_targets(families, {"gfx1101", "gfx110X-all", "gfx94x"}),
              ElementsAre("gfx1101", "gfx1100", "gfx942"));
  auto unknown = expand_targets(families, {"gfx94x", "nope"}).error();
  EXPECT_EQ(unknown.code, "F003");
  EXPECT_THAT(unknown.hint, HasSubstr("gfx110X-all")) << "as --amdgpu-family and the documentation write it";
}

TEST(Check, SaysWhatPeopleShouldLookAt) {
  auto text = k_small;
  text.erase(text.find("fetch = [\"gfx1100\"]\n"), std::string("fetch = [\"gfx1100\"]\n").size());
  text.erase(text.find("reason = \"no machine yet\"\n"), std::string("reason = \"no machine yet\"\n").size());
  text += "[target.gfx1200]\nproduct = \"RX 9060\"\n";
  Names codes;
  for (const auto& finding : check_families(*parse_families({text, "small.toml"}))) codes.push_back(finding.code);
  EXPECT_THAT(codes, ElementsAre("F020", "F021", "F022", "F021", "F024"));
}

TEST(Page, ShowsEveryFamily) {
  auto page = support_page(small_families());
  for (auto part :
       {"| gfx94X-dcgpu | gfx942 (MI300X) | tested on `one`, `two` | no | presubmit |", "sanity checks on `radeon`",
        "built, not tested; pytorch expected to fail; released without tests (no machine yet)",
        "| workflow_dispatch | what is named |"})
    EXPECT_THAT(page, HasSubstr(part));
}

} // namespace
} // namespace quarry::matrix
