#include "sdk/recipe.hpp"

#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

using testing::HasSubstr;

const std::string k_small = R"(schema = "quarry.sdk-recipe/1"
name = "toolkit"
[metadata]
requires_python = ">=3.10"
license = "MIT"
[package.tools]
role = "runtime"
dist = "toolkit-core"
pure = "toolkit_core"
platform = "_toolkit_core"
tree = "python/x"
summary = "Tools"
[[package.tools.select]]
artifacts = ["tools"]
components = ["lib"]
)";

TEST(Recipe, ShippedOneParses) {
  auto text = sys::read_file(QUARRY_SOURCE_DIR "/data/recipes/rocm-sdk.toml");
  ASSERT_TRUE(text);
  auto recipe = parse_recipe({*text, "rocm-sdk.toml"});
  ASSERT_TRUE(recipe) << render(recipe.error());
  std::vector<std::string> names;
  for (const auto& p : recipe->packages) names.push_back(p.name);
  EXPECT_THAT(names, testing::ElementsAre("meta", "core", "libraries", "devel"));
  EXPECT_EQ(recipe->find("libraries")->rpath.size(), 3u);
  EXPECT_EQ(recipe->meta()->dist, "rocm");
}

TEST(Recipe, SmallOneParses) {
  auto recipe = parse_recipe({k_small, "r.toml"});
  ASSERT_TRUE(recipe) << render(recipe.error());
  EXPECT_EQ(recipe->packages[0].select[0].targets, TargetRule::any);
}

struct Refusal {
  const char *from, *to, *code, *place;
};

class RecipeRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(RecipeRefusal, NamesFileLineAndKey) {
  auto text = k_small;
  std::string from = GetParam().from;
  auto at = text.find(from);
  ASSERT_NE(at, text.npos) << from;
  text.replace(at, from.size(), GetParam().to);
  auto recipe = parse_recipe({text, "r.toml"});
  ASSERT_FALSE(recipe);
  EXPECT_EQ(recipe.error().code, GetParam().code);
  EXPECT_EQ(recipe.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(recipe.error().message, HasSubstr(GetParam().place));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RecipeRefusal,
    testing::Values(
        Refusal{"name = \"toolkit\"", "name = toolkit", "S001", "r.toml:2:"},
        Refusal{"name = \"toolkit\"", "name = 3", "S002", "r.toml:2: name: must be a string"},
        Refusal{"sdk-recipe/1", "sdk-recipe/2", "S002", "r.toml:1: schema"},
        Refusal{"role = \"runtime\"", "role = \"rutime\"", "S002", "r.toml:7: package.tools.role"},
        Refusal{"summary = ", "sumary = ", "S002", "package.tools.summary: is missing"},
        Refusal{"summary = \"Tools\"", "summary = \"Tools\"\ncolour = 1", "S002",
                "r.toml:13: package.tools.colour: is not a known key"},
        Refusal{"components = [\"lib\"]", "components = [\"lib\", \"bin\"]", "S002", "\"bin\" is not one of lib"},
        Refusal{"components = [\"lib\"]", "components = \"lib\"", "S002", "must be an array of strings"},
        Refusal{"components = [\"lib\"]", "components = [\"lib\"]\ntargets = \"all\"", "S002",
                "package.tools.select.targets"},
        Refusal{"artifacts = [\"tools\"]", "artifacts = []", "S002", "names no artifact"},
        Refusal{"summary = \"Tools\"", "summary = \"Tools\"\nrequires = [\"base\"]", "S003",
                "there is no package \"base\""},
        Refusal{"summary = \"Tools\"", "summary = \"Tools\"\nper_family = true", "S003", "needs {family}"},
        Refusal{"dist = \"toolkit-core\"", "dist = \"a b\"", "S003", "r.toml:8: package.tools.dist"},
        Refusal{"pure = \"toolkit_core\"", "pure = \"toolkit-core\"", "S003", "r.toml:9: package.tools.pure"},
        Refusal{"pure = \"toolkit_core\"", "pure = \"_toolkit_core\"", "S003", "r.toml:10: package.tools.platform"},
        Refusal{"platform = \"_toolkit_core\"", "platform = \"a/b\"", "S003", "r.toml:10: package.tools.platform"},
        Refusal{"license = \"MIT\"", "licence = \"MIT\"", "S002", "metadata.license: is missing"},
        Refusal{"name = \"toolkit\"", "name = \"\"", "S002", "r.toml:2: name: is empty"},
        Refusal{"\">=3.10\"", "\"bogus\"", "S002", "r.toml:4: metadata.requires_python"},
        Refusal{"\">=3.10\"", "\"\"", "S002", "r.toml:4: metadata.requires_python"},
        Refusal{"\"MIT\"", "\"Foo Bar\"", "S002", "r.toml:5: metadata.license"},
        Refusal{"\"MIT\"", "\"\"", "S002", "r.toml:5: metadata.license"},
        Refusal{"\"MIT\"", "\"(MIT\"", "S002", "r.toml:5: metadata.license"},
        Refusal{"\"MIT\"", "\"MIT OR\"", "S002", "r.toml:5: metadata.license"},
        Refusal{"\"MIT\"", "\"(MIT) WITH x\"", "S002", "r.toml:5: metadata.license"},
        Refusal{"components = [\"lib\"]", "components = [\"lib\"]\ninclude = [\"[\"]", "S002",
                "r.toml:16: package.tools.select.include"},
        Refusal{"components = [\"lib\"]", "components = [\"lib\"]\nexclude = [\"/lib/x\"]", "S002",
                "r.toml:16: package.tools.select.exclude"},
        Refusal{"components = [\"lib\"]",
                "components = [\"lib\"]\n[[package.tools.script]]\nname = \"a b\"\nprogram = \"x\"", "S002",
                "r.toml:17: package.tools.script.name"},
        Refusal{"components = [\"lib\"]",
                "components = [\"lib\"]\n[[package.tools.script]]\nname = \"../x\"\nprogram = \"x\"", "S002",
                "r.toml:17: package.tools.script.name"},
        Refusal{"components = [\"lib\"]",
                "components = [\"lib\"]\n[[package.tools.script]]\nname = \"x\"\nprogram = \"../x\"", "S002",
                "r.toml:18: package.tools.script.program"}));

TEST(Recipe, LicensesHaveTheFormOfSpdx) {
  for (const std::string license : {"MIT", "Apache-2.0 WITH LLVM-exception", "(MIT OR NCSA) AND LicenseRef-AMD",
                                    "GPL-2.0+", "MIT and BSD-3-Clause"}) {
    auto text = k_small;
    text.replace(text.find("\"MIT\""), 5, "\"" + license + "\"");
    EXPECT_TRUE(parse_recipe({text, "r.toml"})) << license;
  }
}

TEST(Recipe, PackageThatSelectsNothingIsRefused) {
  auto recipe = parse_recipe({k_small.substr(0, k_small.find("[[package.tools.select]]")), "r.toml"});
  ASSERT_FALSE(recipe);
  EXPECT_EQ(recipe.error().code, "S003");
}

TEST(Recipe, EntryPointsFollowTheRuntimePackage) {
  EXPECT_EQ(entry_point_attribute("amdclang++"), "amdclang_pp");
  EXPECT_EQ(entry_point_attribute("hipify-perl"), "hipify_perl");
  EXPECT_EQ(entry_point_attribute("7z"), "_7z");
  auto twice = k_small + "[[package.tools.script]]\nname = \"a-b\"\nprogram = \"x\"\n[[package.tools.script]]\nname = "
                         "\"a_b\"\nprogram = \"y\"\n";
  auto recipe = parse_recipe({twice, "r.toml"});
  ASSERT_FALSE(recipe);
  EXPECT_THAT(recipe.error().message, HasSubstr("a-b and a_b would be one entry point"));
}

TEST(Recipe, OneNameMayStandForTwoPlatforms) {
  const std::string script = "[[package.tools.script]]\nname = \"a\"\nprogram = \"x\"\n";
  auto apart = k_small + script + "platforms = [\"linux\"]\n" + script + "platforms = [\"windows\"]\n";
  EXPECT_TRUE(parse_recipe({apart, "r.toml"}));
  auto both = k_small + script + "platforms = [\"linux\"]\n" + script;
  EXPECT_FALSE(parse_recipe({both, "r.toml"}));
}

TEST(Recipe, FamilyNames) {
  EXPECT_EQ(for_family({"rocm-sdk-libraries-{family}", "gfx94X-dcgpu"}, NameForm::as_written),
            "rocm-sdk-libraries-gfx94X-dcgpu");
  EXPECT_EQ(for_family({"_rocm_sdk_libraries_{family}", "gfx94X-dcgpu"}, NameForm::importable),
            "_rocm_sdk_libraries_gfx94X_dcgpu");
}

} // namespace
} // namespace quarry::sdk
