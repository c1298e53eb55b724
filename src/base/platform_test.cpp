#include "base/platform.hpp"
#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <type_traits>
#include <vector>

namespace quarry {
namespace {

static_assert(!std::is_convertible_v<const char*, Platform>, "text becomes a platform by read() only");
static_assert(!std::is_convertible_v<std::string, Platform>);

TEST(Platform, IsReadAsItIsWritten) {
  for (const auto& platform : Platform::all()) {
    EXPECT_EQ(Platform::read(platform.text()), platform) << platform.text();
    EXPECT_TRUE(platform.kind() && !platform.empty());
  }
  EXPECT_EQ(Platform::read("windows"), Platform::windows);
  EXPECT_EQ(fmt::format("{:>6}", Platform(Platform::linux)), " linux");
}

TEST(Platform, AnotherOneIsKeptAndIsNeither) {
  for (const std::string text : {"macos", "Linux", "linux ", "win"}) {
    auto platform = Platform::read(text);
    EXPECT_EQ(platform.text(), text);
    EXPECT_FALSE(platform.kind() || platform.empty()) << text;
    EXPECT_FALSE(platform == Platform::linux || platform == Platform::windows) << text;
  }
  EXPECT_TRUE(Platform().empty());
  EXPECT_EQ(Platform::read(""), Platform());
}

TEST(Platform, StandsInTheOrderOfItsText) {
  std::vector<Platform> platforms = {Platform::windows, Platform::read("macos"), Platform::linux, {}};
  std::sort(platforms.begin(), platforms.end());
  EXPECT_EQ(platforms, (std::vector<Platform>{{}, Platform::linux, Platform::read("macos"), Platform::windows}));
}

} // namespace
} // namespace quarry
