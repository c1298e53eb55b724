#include "matrix/ci_run.hpp"

#include "matrix/testing.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::matrix {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string k_frameworks = R"(schema = "quarry.frameworks/1"
name = "x"
ci_workflow = "ci.yml"
changes_build_nothing = ["docs/**", "**/*.md"]
[[pythons]]
framework = "pytorch"
ci = ["3.12"]
release = ["3.12"]
[[build]]
framework = "pytorch"
platform = "linux"
ref = "stable"
for = ["ci", "prerelease", "release"]
[[environments]]
platform = "linux"
name = "a"
image = "image-a"
pythons = ["3.11", "3.12"]
[[environments]]
platform = "linux"
name = "b"
pythons = ["3.12"]
)";

class CiRunTest : public ::testing::Test {
protected:
  const Families families_ = small_families();
  const Frameworks frameworks_ = *parse_frameworks({k_frameworks, "x.toml"});

  /// "gfx94X-dcgpu two": families of Linux, each with its machine; or the code of the error.
  std::vector<std::string> shown(const CiInputs& inputs, const std::optional<CiChanges>& changes = std::nullopt) {
    auto run = plan_ci(families_, frameworks_, inputs, changes);
    if (!run) return {run.error().code};
    if (!run->enabled) return {"-"};
    std::vector<std::string> lines;
    for (const auto& build : run->builds)
      if (build.platform == Platform::linux)
        for (const auto& one : build.families) lines.push_back(one.family->name + " " + one.runner);
    return lines;
  }
  static CiInputs of(std::string event) {
    CiInputs inputs;
    inputs.event = std::move(event);
    inputs.pytorch = false;
    return inputs;
  }
};

TEST_F(CiRunTest, EachEventHasItsFamilies) {
  EXPECT_THAT(shown(of("pull_request")), ElementsAre("gfx94X-dcgpu two", "gfx110X-all radeon"));
  EXPECT_THAT(shown(of("schedule")), ElementsAre("gfx94X-dcgpu two", "gfx110X-all radeon", "gfx900 "));
  EXPECT_THAT(shown(of("workflow_dispatch")), IsEmpty()) << "what nobody names";
  EXPECT_THAT(shown(of("push")), IsEmpty()) << "the file has no tiers for it";
  EXPECT_THAT(shown(of("release")), ElementsAre("F032"));
}

TEST_F(CiRunTest, LabelsAddFamiliesAndChooseMachines) {
  auto inputs = of("pull_request");
  inputs.labels = {"gfx900-linux", "test_runner:oem"};
  EXPECT_THAT(shown(inputs), ElementsAre("gfx94X-dcgpu oem-kernel", "gfx110X-all ", "gfx900 "));
  inputs.labels = {"ci:run-all-archs"};
  EXPECT_THAT(shown(inputs), ElementsAre("gfx94X-dcgpu two", "gfx110X-all radeon", "gfx900 "));
  inputs.labels = {"gfx999"};
  EXPECT_THAT(shown(inputs), ElementsAre("F003"));
  inputs.labels = {"ci:skip", "gfx999"};
  EXPECT_THAT(shown(inputs), ElementsAre("-"));
}

TEST_F(CiRunTest, SanitizersAreTestedOnTheirMachinesAtNight) {
  auto inputs = of("schedule");
  inputs.variant = "asan";
  EXPECT_THAT(shown(inputs), ElementsAre("gfx94X-dcgpu sandbox"));
  inputs.labels = {"test_runner:oem"};
  EXPECT_THAT(shown(inputs), ElementsAre("gfx94X-dcgpu sandbox")) << "the machine of a kernel test runs no sanitizer";
  inputs = of("pull_request");
  inputs.variant = "asan";
  EXPECT_THAT(shown(inputs), ElementsAre("-"));
  inputs.labels = {"ci:asan"};
  EXPECT_THAT(shown(inputs), ElementsAre("gfx94X-dcgpu "));
  inputs.variant = "msan";
  EXPECT_THAT(shown(inputs), ElementsAre("F006"));
}

TEST_F(CiRunTest, SomeChangesBuildNothing) {
  auto with = [&](std::vector<std::string> files) {
    return shown(of("pull_request"), CiChanges{std::move(files), {}, {"ci.yml"}});
  };
  EXPECT_THAT(with({}), ElementsAre("-"));
  EXPECT_THAT(with({"docs/a/b.txt", "a/b.md", ".github/workflows/other.yml"}), ElementsAre("-"));
  EXPECT_EQ(with({"docs/glossary.md", "a.cpp"}).size(), 2u);
  EXPECT_EQ(with({".github/workflows/ci.yml"}).size(), 2u);
}

TEST_F(CiRunTest, TheAmountOfTestsFollowsTheStrongestReason) {
  auto type = [&](const CiInputs& inputs, const std::optional<CiChanges>& changes = std::nullopt) {
    auto run = plan_ci(families_, frameworks_, inputs, changes);
    return run ? run->test_type : run.error().code;
  };
  auto inputs = of("pull_request");
  EXPECT_EQ(type(inputs), "quick");
  EXPECT_EQ(type(inputs, CiChanges{{"lib"}, {"lib", "other"}, {}}), "standard");
  EXPECT_EQ(type(of("schedule")), "comprehensive");
  inputs.release_type = "prerelease";
  EXPECT_EQ(type(inputs), "full");
  inputs.release_type = "nightly-bkc";
  EXPECT_EQ(type(inputs), "comprehensive");
  inputs.linux.tests = {"test:a"};
  EXPECT_EQ(type(inputs), "full");
  inputs.labels = {"test_filter:standard"};
  EXPECT_EQ(type(inputs), "standard");
  inputs.labels = {"test_filter:"};
  EXPECT_EQ(type(inputs), "F032");
}

TEST_F(CiRunTest, PackagesAreTestedForEachPythonInEachEnvironment) {
  auto inputs = of("pull_request");
  inputs.pytorch = true;
  auto run = plan_ci(families_, frameworks_, inputs, std::nullopt);
  EXPECT_EQ(run.error().code, "F031") << "no row of PyTorch for Windows";
  run = plan_ci(families_, frameworks_, of("pull_request"), std::nullopt);
  std::vector<std::string> lines;
  for (const auto& test : package_tests(frameworks_, run->builds.at(0), ""))
    lines.push_back(test.family->family->key + " " + test.runner + " " + test.python + " " + test.environment.name);
  EXPECT_THAT(lines, ElementsAre("gfx94x two 3.11 a", "gfx94x two 3.12 a", "gfx94x two 3.12 b", "gfx110x radeon 3.11 a",
                                 "gfx110x radeon 3.12 a", "gfx110x radeon 3.12 b"));
}

TEST_F(CiRunTest, WhatIsNamedAndNotBuiltIsANote) {
  auto inputs = of("workflow_dispatch");
  inputs.windows.families = {"gfx94x", "gfx110x"};
  auto run = plan_ci(families_, frameworks_, inputs, std::nullopt);
  EXPECT_THAT(run->notes, ElementsAre("gfx94x is not built on windows as release"));
}

} // namespace
} // namespace quarry::matrix
