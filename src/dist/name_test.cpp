#include "dist/name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

using testing::ElementsAre;

TEST(ProjectName, HasOneNormalForm) {
  for (const char* text : {"rocm-sdk-core", "ROCm_SDK.Core", "rocm--sdk__core", "Rocm-_.sdk.-_core"})
    EXPECT_EQ(ProjectName::parse(text)->str(), "rocm-sdk-core") << text;
  EXPECT_EQ(ProjectName::parse("rocm-sdk-core")->file_form(), "rocm_sdk_core");
}

TEST(ProjectName, RefusesWhatNoIndexAccepts) {
  for (const char* text : {"", "-a", "a-", "_a", "a.", "a b", "a/b", "..", "a\n", "\xc3\xa1", "a%2fb", "a+b"}) {
    auto name = ProjectName::parse(text);
    ASSERT_FALSE(name) << text;
    EXPECT_EQ(name.error().code, "M001");
    EXPECT_EQ(name.error().kind, ErrorKind::invalid_argument);
  }
  EXPECT_TRUE(ProjectName::parse(std::string(255, 'a')));
  EXPECT_FALSE(ProjectName::parse(std::string(256, 'a')));
}

TEST(WheelName, KeepsTheWrittenAndTheNormalForm) {
  auto name = WheelName::parse(
      "rocm_sdk_libraries_gfx103X_dgpu-7.12.0.DEV0-1local-py3.py2-none-manylinux_2_28_x86_64.linux_x86_64.whl");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->project.str(), "rocm-sdk-libraries-gfx103x-dgpu");
  EXPECT_EQ(name->raw_name, "rocm_sdk_libraries_gfx103X_dgpu");
  EXPECT_EQ(name->version.str(), "7.12.0.dev0");
  EXPECT_EQ(name->raw_version, "7.12.0.DEV0");
  EXPECT_EQ(name->raw_build, "1local");
  EXPECT_EQ(name->build, (BuildTag{1, "local"}));
  EXPECT_EQ(name->dist_info(), "rocm_sdk_libraries_gfx103X_dgpu-7.12.0.DEV0.dist-info");
  EXPECT_THAT(name->tags.expanded(), ElementsAre("py3-none-manylinux_2_28_x86_64", "py3-none-linux_x86_64",
                                                 "py2-none-manylinux_2_28_x86_64", "py2-none-linux_x86_64"));
}

TEST(WheelName, RefusesWithM002) {
  for (const std::string& text :
       {std::string("foo-1.0.whl"), std::string("foo-1.0-py3-none-any.WHL"), std::string("foo- 1.0-py3-none-any.whl"),
        std::string("foo-1.0-py3-none-any/x.whl"), std::string("../foo-1.0-py3-none-any.whl"),
        std::string("foo-1.0-py3-none-a%2fny.whl"), std::string("foo-1.0-py3-none-any\0.whl", 25),
        std::string("foo-1.0-99999999999999999999-py3-none-any.whl"), std::string("foo-1.0-1\xe9-py3-none-any.whl"),
        std::string("foo-1.0-py3-none-") + std::string(250, 'a') + ".whl"}) {
    auto name = WheelName::parse(text);
    ASSERT_FALSE(name) << text;
    EXPECT_EQ(name.error().code, "M002");
  }
}

TEST(WheelName, BoundsTheTagsThatAWheelClaims) {
  std::string set = "a";
  for (int i = 0; i < 16; ++i) set += ".a";
  EXPECT_FALSE(WheelName::parse("foo-1.0-" + set + "-" + set + "-" + set + ".whl"));
}

TEST(WheelName, TheWrittenNameIsNormal) {
  auto project = ProjectName::parse("Rocm.SDK").value();
  auto version = Version::parse("7.12+Local.1").value();
  EXPECT_EQ(wheel_file_name(project, version, "", {}), "rocm_sdk-7.12+local.1-py3-none-any.whl");
  EXPECT_EQ(wheel_file_name(project, version, "2", {"py3", "none", "linux_x86_64"}),
            "rocm_sdk-7.12+local.1-2-py3-none-linux_x86_64.whl");
}

TEST(SdistName, SplitsAtTheLastDash) {
  auto name = SdistName::parse("Foo-Bar-1.0+x.tar.gz");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->project.str(), "foo-bar");
  EXPECT_EQ(name->version.str(), "1.0+x");
  for (const char* text :
       {"foo-1.0.tgz", "foo1.0.tar.gz", "-1.0.tar.gz", "foo-1.x.tar.gz", "foo- 1.0.tar.gz", "../foo-1.0.tar.gz"})
    EXPECT_EQ(SdistName::parse(text).error().code, "M003") << text;
}

TEST(DistributionName, TellsWheelsFromSdists) {
  EXPECT_EQ(DistributionName::parse("a-1-py3-none-any.whl")->kind, DistributionKind::wheel);
  EXPECT_EQ(DistributionName::parse("a-1.tar.gz")->kind, DistributionKind::sdist);
  EXPECT_EQ(DistributionName::parse("a.whl").error().code, "M002");
  EXPECT_EQ(DistributionName::parse("README.md").error().code, "M003");
}

} // namespace
} // namespace quarry::dist
