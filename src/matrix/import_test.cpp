#include "matrix/import.hpp"

#include "base/text.hpp"
#include "matrix/testing.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::matrix {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string k_table = R"py(
# families
amdgpu_family_info_matrix_nightly = {
    "gfx900": {
        "windows": {"test-runs-on": "", "family": "gfx900", "fetch-gfx-targets": [], "build_variants": ["release"], "expect_pytorch_failure": True},
        "linux": {"test-runs-on": "", "family": "gfx900", "fetch-gfx-targets": [], "build_variants": ["release"], "sanity_check_only_for_family": True},
    },
}
amdgpu_family_info_matrix_presubmit = {
    "gfx94x": {
        "linux": {
            "test-runs-on": "one",
            "test-runs-on-labels": [{"label": "two", "count": 28, "weight": 1}, {"label": "one", "weight": 5.0}],
            "test-runs-on-multi-gpu": "eight",
            "test-runs-on-kernel": {"oem": "oem-kernel"},
            "benchmark-runs-on": "eight",
            "family": "gfx94X-dcgpu",
            "fetch-gfx-targets": ["gfx942"],
            "build_variants": ["release", "asan"],
            "bypass_tests_for_releases": False,
            "run-full-tests-only": True,
        },
    },
}
def get_all():
    return {}
)py";

TEST(Import, MakesAFamiliesFile) {
  auto families = import_families({k_table, "table.py"}, small_families());
  ASSERT_TRUE(families) << render(families.error());
  ASSERT_EQ(families->families.size(), 2u);
  const auto& first = families->families[0]; // presubmit before nightly, whatever the module's order
  EXPECT_EQ(first.key, "gfx94x");
  EXPECT_EQ(first.tier, "presubmit");
  const auto& linux = first.places[0];
  EXPECT_THAT(*linux.find("test"), ElementsAre(Runner{"one", 5}, Runner{"two", 28}));
  EXPECT_THAT(*linux.find("benchmark"), ElementsAre(Runner{"eight", 1}));
  EXPECT_EQ(linux.tests, Scope::full);
  EXPECT_FALSE(linux.release_untested);
  EXPECT_EQ(linux.kernels.at("oem"), "oem-kernel");
  const auto& second = families->families[1];
  EXPECT_EQ(second.find(Platform::linux)->find("test"), nullptr);
  EXPECT_EQ(second.find(Platform::linux)->tests, Scope::sanity);
  EXPECT_THAT(second.find(Platform::windows)->expected_failure, ElementsAre("pytorch"));
  EXPECT_EQ(families->targets, small_families().targets);
}

TEST(Import, TakesVariantsAndBuildRunners) {
  auto families = import_families({k_table + R"py(
all_build_variants = {"linux": {"release": {"build_variant_label": "release", "build_variant_suffix": "", "build_variant_cmake_preset": ""},
    "asan": {"build_variant_label": "asan", "build_variant_suffix": "asan", "build_variant_cmake_preset": "p", "expect_failure": True}},
  "windows": {"release": {"build_variant_label": "release", "build_variant_suffix": "", "build_variant_cmake_preset": "w"}}}
BUILD_RUNNER_LABELS = {"linux": {"default": [{"label": "d", "weight": 1.0}], "sanitizer": [{"label": "s", "weight": 2}]}, "windows": {"default": [{"label": "w", "weight": 1}]}}
)py",
                                   "table.py"},
                                  small_families());
  ASSERT_TRUE(families) << render(families.error());
  EXPECT_EQ(families->variant(Platform::linux, "asan")->build, "sanitizer");
  EXPECT_TRUE(families->variant(Platform::linux, "asan")->expected_failure);
  EXPECT_EQ(families->variant(Platform::linux, "tsan"), nullptr);
  EXPECT_THAT(families->build_runners.at(Platform::linux).at("sanitizer"), ElementsAre(Runner{"s", 2}));
}

TEST(Import, RefusesWhatItDoesNotUnderstand) {
  struct Row {
    const char *from, *to, *code, *why;
  };
  for (auto row :
       {Row{"\"benchmark-runs-on\"", "\"bench-runs-on\"", "F010",
            "table.py:16: gfx94x.linux.bench-runs-on is an unknown field"},
        Row{"\"fetch-gfx-targets\": [\"gfx942\"],", "", "F010", "gfx94x.linux lacks \"fetch-gfx-targets\""},
        Row{"\"fetch-gfx-targets\": [\"gfx942\"]", "\"fetch-gfx-target\": [\"gfx942\"]", "F010",
            "gfx94x.linux.fetch-gfx-target is an unknown field"},
        Row{"\"weight\": 5.0", "\"weight\": 5.5", "F010", "a weight must be a whole number"},
        Row{"\"weight\": 5.0", "\"share\": 5", "F010", "unknown field \"share\""},
        Row{"{\"label\": \"two\", ", "{", "F010", "lacks a label"},
        Row{"\"run-full-tests-only\": True", "\"run-full-tests-only\": 1", "F010", "must be True or False"},
        Row{"\"linux\": {\"test", "\"macos\": {\"test", "F010", "\"macos\" is not a platform"},
        Row{"\"family\": \"gfx900\", \"fetch-gfx-targets\": [], \"build_variants\": [\"release\"], \"sanity",
            "\"family\": \"gfx901\", \"fetch-gfx-targets\": [], \"build_variants\": [\"release\"], \"sanity", "F010",
            "has two names"},
        Row{"\"run-full-tests-only\": True", "\"run-full-tests-only\": True, \"sanity_check_only_for_family\": True",
            "F010", "only one of these fields"},
        Row{"_nightly", "_weekly", "", ""},
        Row{"[\"gfx942\"]", "[\"gfx1100\"]", "F002", "gfx1100 does not belong to gfx94X-dcgpu"},
        Row{"gfx94X-dcgpu", "gfx99X-all", "F002", "no target belongs to gfx99X-all"},
        Row{"[\"release\", \"asan\"]", "[\"release\", \"msan\"]", "F002", "there is no [variant.linux.msan]"},
        Row{"\"gfx94x\": {", "\"gfx900\": {", "F010", "appears in two tables"}}) {
    auto text = text::replace_all(k_table, row.from, row.to);
    ASSERT_NE(text, k_table) << row.from;
    auto families = import_families({text, "table.py"}, small_families());
    EXPECT_EQ(families ? "" : families.error().code, row.code) << row.to;
    if (!families) {
      EXPECT_THAT(families.error().message, HasSubstr(row.why)) << row.to;
    }
  }
  EXPECT_EQ(import_families({"x = {}\n", "table.py"}, small_families()).error().code, "F010");
  EXPECT_EQ(import_families({"a_nightly = {'x': open('y')}\n", "table.py"}, small_families()).error().code, "F009");
}

} // namespace
} // namespace quarry::matrix
