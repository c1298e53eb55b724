#include "dist/platform_parts.hpp"
#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

TEST(PlatformParts, TheVersionOfTheSystemIsLeftOut) {
  struct Case {
    std::string_view tag, system, machine;
  };
  for (auto [tag, system, machine] : {Case{"manylinux_2_28_x86_64", "manylinux", "x86_64"},
                                      {"manylinux2014_aarch64", "manylinux", "aarch64"},
                                      {"manylinux1_i686", "manylinux", "i686"},
                                      {"musllinux_1_2_x86_64", "musllinux", "x86_64"},
                                      {"linux_x86_64", "linux", "x86_64"},
                                      {"macosx_11_0_arm64", "macosx", "arm64"},
                                      {"win_amd64", "win_amd64", ""},
                                      {"any", "any", ""}}) {
    EXPECT_EQ(platform_parts(tag).system, system) << tag;
    EXPECT_EQ(platform_parts(tag).machine, machine) << tag;
  }
}

} // namespace
} // namespace quarry::dist
