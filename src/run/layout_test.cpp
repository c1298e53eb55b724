#include "run/layout.hpp"

#include "run/find_runs.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::run {
namespace {
using ::testing::ElementsAre;

TEST(Layout, ComputesEveryKey) {
  auto layout = *Layout::create({"", "42", Platform::linux});
  EXPECT_EQ(layout.prefix(), "42-linux/");
  EXPECT_EQ(*layout.artifact("blas_lib_gfx942:xnack+.tar.zst"), "42-linux/blas_lib_gfx942:xnack+.tar.zst");
  EXPECT_EQ(*layout.log("gfx94X-dcgpu", "build.log"), "42-linux/logs/gfx94X-dcgpu/build.log");
  EXPECT_EQ(*layout.log("", "build.log"), "42-linux/logs/build.log");
  EXPECT_EQ(*layout.manifest("gfx94X-dcgpu", "therock_manifest.json"),
            "42-linux/manifests/gfx94X-dcgpu/therock_manifest.json");
  EXPECT_EQ(*layout.tarball("dist.tar.gz"), "42-linux/tarballs/dist.tar.gz");
}

TEST(Layout, ForksHaveTheirOwnDirectory) {
  EXPECT_EQ(Layout::create({"jax-ml-rocm", "7", Platform::windows})->prefix(), "jax-ml-rocm/7-windows/");
  EXPECT_EQ(Layout::create({"jax-ml-rocm/", "7", Platform::windows})->prefix(), "jax-ml-rocm/7-windows/");
}

TEST(Layout, PackageDirectories) {
  auto layout = *Layout::create({"", "42", Platform::linux});
  auto ours = *layout.python("gfx110X-dgpu");
  EXPECT_EQ(ours.root, "42-linux/python/gfx110X-dgpu/");
  EXPECT_EQ(ours.dist, "42-linux/python/gfx110X-dgpu/dist/");
  EXPECT_EQ(ours.simple, "42-linux/python/gfx110X-dgpu/simple/");
  EXPECT_EQ(ours.simple_json, "42-linux/python/gfx110X-dgpu/simple-json/");
  EXPECT_EQ(ours.index_html, "42-linux/python/gfx110X-dgpu/index.html");
  EXPECT_EQ(ours.seals, "42-linux/python/gfx110X-dgpu/seals/");
  EXPECT_EQ(layout.python("")->dist, "42-linux/python/dist/");
  EXPECT_EQ(layout.packages("jax", "g")->dist, "42-linux/jax/g/dist/");
  EXPECT_EQ(layout.packages("python", "g", PackageForm::feb)->dist, "42-linux/python/g/");
  EXPECT_EQ(layout.packages("python", "g", PackageForm::aug)->dist, "42-linux/python/g/");
  EXPECT_EQ(layout.packages("python", "", PackageForm::aug)->dist, "42-linux/python/");
  EXPECT_EQ(layout.packages("python", "multi-arch-release", PackageForm::aug)->dist, "42-linux/python/");
  EXPECT_EQ(layout.packages("python", "", PackageForm::aug)->index_html, "42-linux/python/index.html");
  EXPECT_EQ(layout.packages("jax", "", PackageForm::aug)->dist, "42-linux/python/");
  EXPECT_EQ(layout.packages("jax", "", PackageForm::feb)->dist, "42-linux/jax/");
  EXPECT_FALSE(layout.packages("rust", "g"));
}

TEST(Layout, RefusesPartsThatCannotStandInAKey) {
  for (auto bad : {"", "../x", "a/b", "a b", ".a", "a\n", "a%2F", "-a", "42-linux"})
    EXPECT_FALSE(Layout::create({"", bad, Platform::linux})) << bad;
  EXPECT_FALSE(Layout::create({"", std::string(129, '1'), Platform::linux}));
  for (auto bad : {"", "Linux", "macos", "linux/x"})
    EXPECT_FALSE(Layout::create({"", "42", Platform::read(bad)})) << bad;
  for (auto bad : {"a/b", "..", "a b"}) EXPECT_FALSE(Layout::create({bad, "42", Platform::linux})) << bad;
  auto layout = *Layout::create({"", "42", Platform::linux});
  for (auto bad :
       {"dist", "simple", "simple-json", "seals", "merged", "index.html", "pages.json", "..", "a/b", "a\x7f"})
    EXPECT_FALSE(layout.python(bad)) << bad;
  for (auto bad : {"", "..", "a/b", ".hidden"}) EXPECT_FALSE(layout.artifact(bad)) << bad;
  auto refused = layout.log("g", "../x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "L020");
}

TEST(Layout, ReadsItsOwnPrefixes) {
  for (std::string prefix : {"42-linux/", "a-b/42-windows/", "nightly-1-linux/"})
    EXPECT_EQ(Layout::parse(prefix)->prefix(), prefix);
  EXPECT_EQ(Layout::parse("42-linux")->run_id(), "42");
  for (auto bad : {"", "/42-linux", "42", "channels/stable", "a/b/42-linux", "42-linux-x"})
    EXPECT_FALSE(Layout::parse(bad)) << bad;
}

class FindRuns : public ::testing::Test {
protected:
  void SetUp() override {
    for (auto key : {"42-linux/a.tar.zst", "42-linux/logs/g/x.log", "421-linux/a.tar.zst", "42-windows/b",
                     "7-linux/python/g/dist/x.whl", "ROCm-TheRock/7-linux/c", "ROCm-other/7-windows/c",
                     "channels/42-linux.json", "sets/42", "x/y/42-linux/z"})
      ASSERT_TRUE(store_->put(key, content::Rope::literal("x"), {}));
  }
  std::vector<std::string> found(std::string_view text) {
    auto runs = find_runs(*store_, *parse_locator(text));
    std::vector<std::string> prefixes;
    if (runs)
      for (const auto& run : *runs) prefixes.push_back(run.prefix());
    return prefixes;
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(FindRuns, TakesAnIdAsAWhole) {
  EXPECT_THAT(found("run:42"), ElementsAre("42-linux/", "42-windows/"));
  EXPECT_THAT(found("run:421"), ElementsAre("421-linux/"));
  EXPECT_THAT(found("run:4"), ElementsAre());
  EXPECT_THAT(found("run:42-linux"), ElementsAre("42-linux/"));
}

TEST_F(FindRuns, LooksBelowOtherRepositories) {
  EXPECT_THAT(found("run:7"), ElementsAre("7-linux/", "ROCm-TheRock/7-linux/", "ROCm-other/7-windows/"));
  EXPECT_THAT(found("run:7-linux"), ElementsAre("7-linux/", "ROCm-TheRock/7-linux/"));
  EXPECT_THAT(found("run:ROCm-TheRock/7"), ElementsAre("ROCm-TheRock/7-linux/"));
  EXPECT_THAT(found("https://github.com/ROCm/other/actions/runs/7"), ElementsAre("7-linux/", "ROCm-other/7-windows/"));
}

TEST_F(FindRuns, OneIsWantedAndAllAreNamed) {
  EXPECT_EQ(find_run(*store_, *parse_locator("run:42-windows"))->prefix(), "42-windows/");
  auto none = find_run(*store_, *parse_locator("run:43"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "L010");
  EXPECT_EQ(traits(none.error().kind).exit_code, 3);
  auto several = find_run(*store_, *parse_locator("run:7"));
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, "L011");
  EXPECT_EQ(traits(several.error().kind).exit_code, 2);
  EXPECT_THAT(several.error().details,
              ElementsAre("run:7-linux", "run:ROCm-TheRock/7-linux", "run:ROCm-other/7-windows"));
  for (const auto& again : several.error().details) {
    auto one = find_run(*store_, *parse_locator(again));
    ASSERT_TRUE(one) << again;
    EXPECT_EQ("run:" + one->prefix(), again + "/") << "what is named in full is meant";
  }
}

TEST_F(FindRuns, NeedsARunLocator) { EXPECT_FALSE(find_runs(*store_, *parse_locator("channel:stable"))); }

} // namespace
} // namespace quarry::run
