#include "gpu/unneeded.hpp"

#include "gpu/gpu_forge_for_test.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {
using namespace forge;

std::string unneeded(const std::string& bytes, const std::vector<std::string>& devices) {
  auto found = unneeded_of(std::string_view(bytes).substr(0, 4096), bytes.size(), devices);
  if (!found) return "none";
  std::string out;
  for (const auto& range : found->ranges) out += fmt::format("{}-{} ", range.begin, range.end);
  return out + fmt::format("of {}", found->end);
}

// 4096 bytes of table, then code at 4096, 16384 and 36864.
std::string of_three() {
  return bundle({device("gfx942", code(k_gfx942, 12288)), device("gfx1030", code(k_gfx1030, 20000)),
                 device("gfx1201", code(k_gfx1201, 5000))});
}

TEST(Unneeded, IsCodeOfOtherTargetsBehindItsFirstPage) {
  EXPECT_EQ(unneeded(of_three(), {"gfx942"}), "20480-32768 of 41864");
  EXPECT_EQ(unneeded(of_three(), {"gfx1030"}), "8192-16384 of 41864"); // gfx1201 has less than two whole pages
  EXPECT_EQ(unneeded(of_three(), {"gfx942", "gfx1030"}), "of 41864");
}

TEST(Unneeded, IsNothingWithoutABundleThatFits) {
  EXPECT_EQ(unneeded("text", {"gfx942"}), "none");
  EXPECT_EQ(unneeded(compressed(of_three()), {"gfx942"}), "none");
  EXPECT_EQ(unneeded(of_three().substr(0, 30000), {"gfx942"}), "none"); // cut off
  EXPECT_EQ(unneeded(of_three().substr(0, 100), {"gfx942"}), "none");
}

TEST(Unneeded, FilesThatAreReadAsAWholeAreNotLookedThrough) {
  EXPECT_TRUE(may_have_unneeded(library({{".text", "code", {}, {}}})));
  EXPECT_TRUE(may_have_unneeded(of_three()));
  for (auto head : {"MZ", "!<arch>\n", "CCOB", "KPAK", ""}) EXPECT_FALSE(may_have_unneeded(head)) << head;
}

} // namespace
} // namespace quarry::gpu
