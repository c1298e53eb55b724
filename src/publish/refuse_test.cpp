#include "publish/refuse.hpp"

#include "publish/collect.hpp"
#include "publish/plan.hpp"
#include "publish/testing/packages.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::publish {
namespace {

using ::testing::HasSubstr;
using testing::Packages;

std::string code_of(const Result<void>& result) { return result ? "" : result.error().code; }

TEST(Refuse, ARawWheelBesideItsRepairedCopy) {
  auto code = [](const std::vector<std::string>& names) { return code_of(refuse_raw_beside_repaired(names, "out")); };
  for (const auto& [raw, repaired] : std::vector<std::pair<std::string, std::string>>{
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp312-cp312-manylinux_2_28_x86_64.whl"},
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"},
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp312-cp312-manylinux1_x86_64.whl"},
           {"a-1-cp312-cp312-linux_aarch64.whl", "a-1-cp312-cp312-musllinux_1_2_aarch64.whl"},
           {"A.b-1.0-7-cp312-cp312-linux_x86_64.whl", "a_b-1-7-cp312-cp312-manylinux_2_28_x86_64.whl"},
           {"a-1-py2.py3-none-linux_x86_64.whl", "a-1-py3.py2-none-manylinux_2_28_x86_64.whl"}}) {
    EXPECT_EQ(code({raw, repaired}), "P061") << raw << " " << repaired;
    EXPECT_EQ(code({repaired, "b-1.tar.gz", raw}), "P061") << raw << " " << repaired;
  }
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp312-cp312-manylinux_2_28_aarch64.whl"}, // another machine
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp311-cp311-manylinux_2_28_x86_64.whl"},  // another Python
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp312-abi3-manylinux_2_28_x86_64.whl"},
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-2-cp312-cp312-manylinux_2_28_x86_64.whl"},
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-7-cp312-cp312-manylinux_2_28_x86_64.whl"},
           {"a-1-cp312-cp312-linux_x86_64.whl", "b-1-cp312-cp312-manylinux_2_28_x86_64.whl"},
           {"a-1-cp312-cp312-linux_x86_64.whl", "a-1-cp312-cp312-win_amd64.whl"},
           {"a-1-cp312-cp312-manylinux_2_17_x86_64.whl", "a-1-cp312-cp312-manylinux_2_28_x86_64.whl"},
           {"a-1-cp312-cp312-musllinux_1_2_x86_64.whl", "a-1-cp312-cp312-manylinux_2_28_x86_64.whl"}})
    EXPECT_EQ(code({one, other}), "") << one << " " << other;
  EXPECT_EQ(code({"a-1-py3-none-linux_x86_64.manylinux_2_28_x86_64.whl"}), ""); // one file
}

TEST(Refuse, TheHintOfARawWheelRemovesIt) {
  Packages packages;
  packages.add("a-1-py3-none-linux_x86_64.whl").add("a-1-py3-none-manylinux_2_28_x86_64.whl");
  auto refused = collect({packages.path(), testing::fake_describe, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P061");
  EXPECT_THAT(refused.error().hint, HasSubstr("`rm " + packages.path() + "/a-1-py3-none-linux_x86_64.whl`"));
}

TEST(Refuse, ALibrariesPackageWithoutALibrary) {
  Packages packages;
  packages.add("rocm_sdk_libraries_gfx942-1-py3-none-linux_x86_64.whl");
  std::optional<bool> holds;
  auto describe = [&](const std::string& path, unsigned) -> Result<index::Described> {
    TRY(auto described, testing::fake_describe(path));
    described.holds_library = holds;
    return described;
  };
  auto collected = [&] { return collect({packages.path(), describe, 1}); };
  EXPECT_TRUE(collected());
  holds = true;
  EXPECT_TRUE(collected());
  holds = false;
  auto refused = collected();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P060");
  index::Described described;
  described.holds_library = false;
  for (const auto& [project, code] :
       std::vector<std::pair<std::string, std::string>>{{"rocm-sdk-libraries", "P060"},
                                                        {"rocm-sdk-libraries-gfx94x-dcgpu", "P060"},
                                                        {"rocm-sdk-core", ""},
                                                        {"rocm-sdk-device-gfx942", ""},
                                                        {"torch", ""}}) {
    described.file.project = project;
    EXPECT_EQ(code_of(refuse_libraries_without_library(described)), code) << project;
  }
}

TEST(Refuse, JaxForWindows) {
  EXPECT_EQ(code_of(refuse_area_without_platform("jax", Platform::windows)), "P062");
  for (const auto& [area, platform] : std::vector<std::pair<std::string, Platform>>{
           {"jax", Platform::linux}, {"pytorch", Platform::windows}, {"python", Platform::windows}})
    EXPECT_EQ(code_of(refuse_area_without_platform(area, platform)), "") << area << " " << platform.text();
}

TEST(Refuse, JaxWheelsForWindows) {
  const std::string plugin = "jax_rocm7_plugin-0.8.0-cp312-cp312-win_amd64.whl", jax = "jax-0.8.0-py3-none-any.whl";
  EXPECT_EQ(code_of(refuse_packages_without_platform({jax, plugin}, Platform::windows)), "P062");
  EXPECT_EQ(code_of(refuse_packages_without_platform({"jaxlib-0.8.0-cp312-cp312-win_amd64.whl"}, Platform::windows)),
            "P062");
  EXPECT_EQ(code_of(refuse_packages_without_platform({jax}, Platform::windows)), "");
  EXPECT_EQ(code_of(refuse_packages_without_platform({jax, plugin}, Platform::linux)), "");
}

TEST(Refuse, WarningsOfPackagesAreNotes) {
  Packages packages;
  packages.add("a-1-py3-none-any.whl").add("b-1-py3-none-any.whl");
  auto describe = [](const std::string& path, unsigned) -> Result<index::Described> {
    TRY(auto described, testing::fake_describe(path));
    described.warnings = {{"M010", Severity::warning, described.file.filename, "old", {}}};
    return described;
  };
  auto collected = collect({packages.path(), describe, 2});
  ASSERT_TRUE(collected);
  ASSERT_EQ(collected->notes.size(), 2u);
  EXPECT_EQ(collected->notes[0].place + " " + collected->notes[1].place, "a-1-py3-none-any.whl b-1-py3-none-any.whl");
}

} // namespace
} // namespace quarry::publish
