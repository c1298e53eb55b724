#include "sdk/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<artifact::Name> k_names{{"blas", "lib", "gfx94X-dcgpu"},
                                          {"blas", "lib", "gfx103X-dgpu"},
                                          {"blas", "dbg", "gfx94X-dcgpu"},
                                          {"tools", "run", "generic"}};

Recipe libraries_and_tools() {
  Recipe recipe;
  Package libraries, tools;
  libraries.name = "libraries";
  libraries.per_family = true;
  libraries.select = {{{"blas"}, false, {"lib"}, TargetRule::family, {}, {}, {}}};
  tools.name = "tools";
  tools.select = {{{"tools"}, false, {"run"}, TargetRule::generic, {}, {}, {}}};
  recipe.packages = {libraries, tools};
  return recipe;
}

std::vector<std::string> texts(const std::vector<artifact::Name>& names) {
  std::vector<std::string> out;
  for (const auto& name : names) out.push_back(name.text());
  return out;
}

TEST(Choice, TakesEveryFamilyThatArtifactsNameAndOnlyWhatAPackageSelects) {
  auto choice = choose({}, libraries_and_tools(), k_names);
  ASSERT_TRUE(choice) << render(choice.error());
  EXPECT_THAT(choice->families, ElementsAre("gfx103X-dgpu", "gfx94X-dcgpu"));
  EXPECT_THAT(texts(choice->artifacts),
              ElementsAre("blas_lib_gfx94X-dcgpu", "blas_lib_gfx103X-dgpu", "tools_run_generic"));
  EXPECT_THAT(choice->linux_families, IsEmpty());
}

TEST(Choice, TheOrderOfAFlagAndItsRepeatsDoNotMatter) {
  BuildRequest request;
  request.families = {"gfx94X-dcgpu", "gfx103X-dgpu", "gfx94X-dcgpu"};
  auto choice = choose(request, libraries_and_tools(), k_names);
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->families, ElementsAre("gfx103X-dgpu", "gfx94X-dcgpu"));
}

TEST(Choice, FamiliesThatAreNotBuiltAreNotRead) {
  BuildRequest request;
  request.families = {"gfx103X-dgpu"};
  auto choice = choose(request, libraries_and_tools(), k_names);
  ASSERT_TRUE(choice);
  EXPECT_THAT(texts(choice->artifacts), ElementsAre("blas_lib_gfx103X-dgpu", "tools_run_generic"));
}

TEST(Choice, AListOfTheOtherPlatformAddsWhatIsBuiltToThisOne) {
  BuildRequest request;
  request.windows_families = {"gfx110X-dgpu"};
  auto choice = choose(request, libraries_and_tools(), k_names);
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->linux_families, ElementsAre("gfx103X-dgpu", "gfx94X-dcgpu"));
  EXPECT_THAT(choice->windows_families, ElementsAre("gfx110X-dgpu"));
  request.linux_families = {"gfx90X-dcgpu"};
  choice = choose(request, libraries_and_tools(), k_names);
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->linux_families, ElementsAre("gfx90X-dcgpu"));
}

TEST(Choice, FamiliesWithoutArtifactsAreRefused) {
  BuildRequest request;
  request.families = {"gfx94x-dcgpu"};
  auto choice = choose(request, libraries_and_tools(), k_names);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, "S005");
  EXPECT_THAT(choice.error().hint, HasSubstr("gfx103X-dgpu, gfx94X-dcgpu; names are case-sensitive"));
  choice = choose({}, libraries_and_tools(), {{"tools", "run", "generic"}});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, "S005");
  choice = choose({}, libraries_and_tools(), {{"blas", "lib", "gfx94X;rm"}});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, "S008");
}

TEST(Choice, FamiliesOfTheOtherPlatformMustLookLikeFamilies) {
  BuildRequest request;
  request.windows_families = {"gfx110X-dgpu"};
  EXPECT_TRUE(check_other_families(request));
  for (const char* name : {"", "gfx", "windows", "gfx110X_dgpu", "gfx'"}) {
    request.windows_families = {name};
    auto checked = check_other_families(request);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, "S044");
  }
  request.platform = Platform::windows; // now the list of Linux is the one that is checked
  EXPECT_TRUE(check_other_families(request));
}

} // namespace
} // namespace quarry::sdk
