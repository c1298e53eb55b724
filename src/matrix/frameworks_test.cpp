#include "matrix/frameworks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::matrix {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string k_text = R"(schema = "quarry.frameworks/1"
name = "x"
[[pythons]]
framework = "torch"
ci = ["3.12"]
release = ["3.10", "3.14"]
[[build]]
framework = "torch"
platform = "linux"
ref = "stable"
for = ["ci", "prerelease", "release"]
without_families = ["gfx90c"]
[[build]]
framework = "torch"
platform = "linux"
ref = "nightly"
for = ["release"]
without_pythons = ["3.10"]
untested_pythons = ["3.14"]
)";

std::vector<std::string> shown(const FrameworkRequest& request) {
  auto frameworks = parse_frameworks({k_text, "x.toml"});
  auto rows = framework_rows(*frameworks, request);
  std::vector<std::string> lines;
  if (!rows) return {rows.error().code};
  for (const auto& row : *rows) {
    auto line = row.python + " " + row.build.ref;
    for (const auto& family : row.families) line += " " + family;
    lines.push_back(line + (row.tested ? "" : " untested"));
  }
  return lines;
}

TEST(Frameworks, RowsByPythonAndBranch) {
  FrameworkRequest request{"torch", Platform::linux, "dev", {}, {}, {"gfx942", "GFX90C"}};
  EXPECT_THAT(shown(request),
              ElementsAre("3.10 stable gfx942", "3.14 stable gfx942", "3.14 nightly gfx942 GFX90C untested"));
  request.release_type = "ci";
  EXPECT_THAT(shown(request), ElementsAre("3.12 stable gfx942"));
  request.families = {"gfx90c"};
  EXPECT_THAT(shown(request), ElementsAre()) << "a branch that builds for none of the families is not built";
  request.refs = {"main"};
  EXPECT_THAT(shown(request), ElementsAre("F031"));
  request.other_refs = true;
  EXPECT_THAT(shown(request), ElementsAre("3.12 main gfx90c"));
  request = {"jax", Platform::linux, "dev", {}, {}, {}};
  EXPECT_THAT(shown(request), ElementsAre("F031"));
}

TEST(Frameworks, WhatIsNoneIsRefused) {
  auto message = [](const std::string& text) { return parse_frameworks({text, "x.toml"}).error().message; };
  EXPECT_THAT(message("["), HasSubstr("x.toml"));
  EXPECT_THAT(message(k_text + "[[build]]\nframework = \"torch\"\nplatform = \"linux\"\n"), HasSubstr("ref"));
  EXPECT_THAT(message(k_text + "[[build]]\nframework = \"t\"\nplatform = \"linux\"\nref = \"r\"\nfor = [\"all\"]\n"),
              HasSubstr("\"all\" is not one of ci"));
  EXPECT_THAT(
      message(k_text + "[[tests]]\nframework = \"t\"\nsize = \"s\"\nsubset = \"a\"\nrunner = \"test\"\nminutes = 0\n"),
      HasSubstr("minutes"));
}

TEST(Frameworks, DaysOfTheWeek) {
  EXPECT_EQ(weekday_of(0), "Thursday");
  EXPECT_EQ(weekday_of(1'795'219'200'000'000), "Saturday"); // 2026-11-21
  EXPECT_EQ(weekday_of(1'795'305'600'000'000), "Sunday");
}

} // namespace
} // namespace quarry::matrix
