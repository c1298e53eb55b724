#include "version/forward.hpp"

#include <gtest/gtest.h>

namespace quarry::version {
namespace {

TEST(PythonDirectory, IsInterpreterAndAbi) {
  struct Case {
    const char *python, *directory;
  };
  for (auto [python, directory] : {Case{"3.12", "cp312-cp312"}, {"3.9", "cp39-cp39"}, {"3.13t", "cp313-cp313t"}}) {
    auto found = python_directory(python);
    ASSERT_TRUE(found) << python;
    EXPECT_EQ(*found, directory);
  }
}

TEST(PythonDirectory, RefusesOtherShapes) {
  for (auto python : {"", "t", "3", "312", "3.", ".12", "3.12.1", "3.012", "3.12tt", "2.7", "3.x", "-3.12", "3.12 ",
                      "3.99999999999"}) {
    auto found = python_directory(python);
    ASSERT_FALSE(found) << python;
    EXPECT_EQ(found.error().code, "N014");
  }
}

TEST(SdkReference, DevelopmentVersionsAreApart) {
  struct Case {
    const char *version, *arguments;
  };
  for (auto [version, arguments] :
       {Case{"7.10.0", "--rocm-sdk-version ==7.10.0 --version-suffix +rocm7.10.0"},
        {"7.10.0a20251124", "--rocm-sdk-version ==7.10.0a20251124 --version-suffix +rocm7.10.0a20251124"},
        {"7.10.0-rc2", "--rocm-sdk-version ==7.10.0rc2 --version-suffix +rocm7.10.0rc2"},
        {"7.10.0.dev0+efed3c",
         "--rocm-sdk-version ==7.10.0.dev0+efed3c --version-suffix +devrocm7.10.0.dev0-efed3c"}}) {
    auto reference = sdk_reference(version);
    ASSERT_TRUE(reference) << version;
    EXPECT_EQ(reference->build_arguments(), arguments);
  }
  auto wrong = sdk_reference("7.x");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "M004");
}

TEST(JaxVersions, ComeFromTheFirstPin) {
  constexpr std::string_view k_text = "numpy==2.0\n# jax==0.1\n jaxlib == 0.8.0#x\njax==0.9.0\n";
  auto found = jax_versions({k_text, "r.txt"}, "7.12.0.dev0+e1a5d395");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->jax, "0.8.0");
  EXPECT_EQ(found->jaxlib, "0.8.0+rocm7.12.0.dev0.e1a5d395");
  EXPECT_EQ(jax_versions({"jax>=0.8\njax-rocm7-plugin==0.8\n", "r.txt"}, "7.12.0").error().code, "N016");
  EXPECT_EQ(jax_versions({"jax==0.8;x\n", "r.txt"}, "7.12.0").error().code, "M004");
  EXPECT_EQ(jax_versions({"jax==0.8\n", "r.txt"}, "7.x").error().code, "M004");
}

} // namespace
} // namespace quarry::version
