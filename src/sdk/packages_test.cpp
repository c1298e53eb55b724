#include "sdk/packages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Script script(std::string name, std::string program, bool required, std::vector<Platform> platforms = {}) {
  Script made;
  made.name = std::move(name), made.program = std::move(program), made.required = required;
  made.platforms = std::move(platforms);
  return made;
}

std::vector<std::string> programs(const ScriptChoice& choice) {
  std::vector<std::string> out;
  for (const auto& held : choice.held) out.push_back(held.name + "=" + held.program);
  return out;
}

TEST(ScriptChoice, OnlyScriptsWhoseProgramIsHeldOnTheirPlatform) {
  Package package;
  package.scripts = {script("cc", "bin/cc", true), script("info", "bin/info", true), script("smi", "bin/smi", false),
                     script("hip", "bin/hip.exe", true, {Platform::windows})};
  Population population;
  for (const char* path : {"bin/cc", "bin/cc.exe", "bin/hip.exe"}) population.files[path] = {};
  auto linux_choice = choose_scripts(package, population, Platform::linux);
  EXPECT_THAT(programs(linux_choice), ElementsAre("cc=bin/cc"));
  EXPECT_THAT(linux_choice.missing, ElementsAre("info")); // smi is optional, hip is not for this platform
  auto windows_choice = choose_scripts(package, population, Platform::windows);
  EXPECT_THAT(programs(windows_choice), ElementsAre("cc=bin/cc.exe", "hip=bin/hip.exe"));
  EXPECT_THAT(windows_choice.missing, ElementsAre("info"));
}

TEST(Requirements, APackageThatNeedsAnAbsentOneIsAnError) {
  Recipe recipe;
  Package core, tools;
  core.name = "core";
  tools.name = "tools", tools.dist = "toolkit", tools.requires_packages = {"core"};
  recipe.packages = {core, tools};
  EXPECT_THAT(unmet_requirements(recipe, {}), IsEmpty());
  auto findings = unmet_requirements(recipe, {"core"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "S027");
  EXPECT_EQ(findings[0].place, "toolkit");
  EXPECT_TRUE(has_errors(findings));
  EXPECT_THAT(unmet_requirements(recipe, {"core", "tools"}), IsEmpty()); // what is absent itself needs nothing
}

struct EmptyResources final : Resources {
  std::vector<std::string> list(std::string_view) const override { return {}; }
  std::optional<std::string> read(std::string_view) const override { return std::nullopt; }
  std::string origin(std::string_view) const override { return ""; }
};

TEST(LeftOut, OptionalPackagesGetAWarningOthersAnError) {
  BuildRequest request;
  Recipe recipe;
  EmptyResources resources;
  PackageInputs inputs{request, recipe, resources, Naming{&recipe, {}, "", {}, {}, {}}, {}, "linux_x86_64"};
  Package package;
  package.name = "tools", package.dist = "toolkit";
  auto finding = left_out(inputs, {package, ""});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->code, "S026");
  package.required = true;
  auto refused = left_out(inputs, {package, ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "S007");
  package.per_family = true;
  refused = left_out(inputs, {package, "gfx94X-dcgpu"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "S006");
  EXPECT_THAT(refused.error().message, HasSubstr("family gfx94X-dcgpu has no files"));
}

TEST(Modes, EachFileIsNotedInTheFirstPackageThatHoldsIt) {
  BuildRequest request;
  Recipe recipe;
  EmptyResources resources;
  PackageInputs inputs{request, recipe, resources, Naming{&recipe, {}, "", {}, {}, {}}, {}, "linux_x86_64"};
  View view;
  view.executable_in_some = {{"bin/a", "x and y"}, {"bin/b", "x and z"}};
  std::set<std::string> noted;
  auto finding = note_modes(view, "core", inputs, noted);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->code, "S050");
  EXPECT_THAT(finding->message, HasSubstr("bin/a (x and y) is executable"));
  EXPECT_THAT(finding->message, HasSubstr("so are 1 more"));
  EXPECT_FALSE(note_modes(view, "devel", inputs, noted));
}

} // namespace
} // namespace quarry::sdk
