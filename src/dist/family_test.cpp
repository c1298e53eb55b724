#include "dist/family.hpp"

#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

TEST(Family, OfAProject) {
  std::vector<std::string> patterns = {"rocm-sdk-libraries-{family}", "x-{family}-libs"};
  EXPECT_EQ(family_of("rocm-sdk-libraries-gfx94x-dcgpu", patterns), "gfx94x-dcgpu");
  EXPECT_EQ(family_of("x-gfx1-libs", patterns), "gfx1");
  EXPECT_EQ(family_of("rocm-sdk-libraries-", patterns), "");
  EXPECT_EQ(family_of("rocm-sdk-core", patterns), "");
  EXPECT_EQ(family_of_libraries("rocm-sdk-libraries-gfx103x-dgpu"), "gfx103x-dgpu");
  EXPECT_EQ(family_of_libraries("rocm-sdk-device-gfx1030"), "");
}

TEST(Family, IsComparedAsAProjectKeepsIt) {
  EXPECT_EQ(family_key("gfx103X-dgpu"), "gfx103x-dgpu");
  EXPECT_EQ(family_key("GFX94X_._dcgpu"), "gfx94x-dcgpu");
}

TEST(Family, IsWrittenAsTheTablesDo) {
  for (const auto& [any, written] : {std::pair{"gfx103x-dgpu", "gfx103X-dgpu"},
                                     {"gfx94X-dcgpu", "gfx94X-dcgpu"},
                                     {"GFX110x_all", "gfx110X-all"},
                                     {"gfx90a", "gfx90a"},
                                     {"gfx1151", "gfx1151"},
                                     {"gfx120x", "gfx120X"},
                                     {"gfxbox", "gfxbox"},
                                     {"gfx", "gfx"},
                                     {"Mine_x", "Mine_x"},
                                     {"", ""}})
    EXPECT_EQ(family_name(any), written);
}

} // namespace
} // namespace quarry::dist
