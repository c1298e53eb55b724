#include "gpu/gpu_forge_for_test.hpp"
#include "gpu/target.hpp"

#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {

TEST(Target, IsReadAndWritten) {
  for (std::string_view text :
       {"gfx942", "gfx90a:xnack+", "gfx90a:sramecc+:xnack-", "gfx9-4-generic", "sm_90", "amdgcnspirv"}) {
    auto target = parse_target(text);
    ASSERT_TRUE(target) << text;
    EXPECT_EQ(target->str(), text);
  }
  EXPECT_EQ(parse_target("gfx90a:xnack-:sramecc+")->str(), "gfx90a:sramecc+:xnack-");
  for (std::string_view text :
       {"", ":xnack+", "gfx90a:", "gfx90a:xnack", "gfx90a:warp+", "gfx90a:+", "gfx 90a", "gfx90a\n"})
    EXPECT_FALSE(parse_target(text)) << text;
}

TEST(Target, OfABundleEntry) {
  struct Case {
    std::string_view id, target;
  };
  for (auto [id, target] : {Case{"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-"},
                            {"hip-amdgcn-amd-amdhsa-gfx906", "gfx906"},
                            {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"},
                            {"openmp-nvptx64-nvidia-cuda--sm_70", "sm_70"},
                            {"hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv"}}) {
    auto found = parse_entry_id(id);
    ASSERT_TRUE(found) << id;
    EXPECT_EQ(found->str(), target);
  }
  for (std::string_view id :
       {"", "host-x86_64-unknown-linux--", "hip", "hipv4-amdgcn-amd-amdhsa--", "hipv4-amdgcn-amd-amdhsa--gfx90a:x"})
    EXPECT_FALSE(parse_entry_id(id)) << id;
}

TEST(Target, OfAHeader) {
  struct Case {
    std::uint32_t flags;
    char abi;
    std::string_view target;
  };
  for (auto [flags, abi, target] : {Case{0x54c, 2, "gfx942"},
                                    {0x73f, 3, "gfx90a:xnack+"},
                                    {0xA3f, 2, "gfx90a:sramecc-:xnack-"},
                                    {0x130, 1, "gfx908:xnack+"},
                                    {0x230, 1, "gfx908:sramecc+"},
                                    {0x36, 0, "gfx1030"},
                                    {0x01000054, 4, "gfx11-generic"}}) {
    auto head = parse_elf_head(forge::code(flags, 64, abi));
    ASSERT_TRUE(head);
    ASSERT_TRUE(target_of(*head)) << target;
    EXPECT_EQ(target_of(*head)->str(), target);
  }
  EXPECT_FALSE(target_of(*parse_elf_head(forge::code(0xFF))));
  EXPECT_FALSE(parse_elf_head(forge::code(0x36).substr(0, 63)));
  EXPECT_FALSE(parse_elf_head("\177ELF"));
}

TEST(Target, OldHeadersSayLessAboutFeatures) {
  auto head = [](std::uint32_t flags, char abi) { return *parse_elf_head(forge::code(flags, 64, abi)); };
  EXPECT_TRUE(agrees(*parse_target("gfx908:xnack-"), head(0x30, 1)));
  EXPECT_TRUE(agrees(*parse_target("gfx908"), head(0x30, 1)));
  EXPECT_FALSE(agrees(*parse_target("gfx908:xnack+"), head(0x30, 1)));
  EXPECT_FALSE(agrees(*parse_target("gfx908"), head(0x130, 1)));
  EXPECT_TRUE(agrees(*parse_target("gfx908:xnack+"), head(0x30, 0)));
  EXPECT_FALSE(agrees(*parse_target("gfx906"), head(0x30, 0)));
  EXPECT_FALSE(agrees(*parse_target("gfx908:xnack-"), head(0x130, 2)));
}

TEST(Target, GenericTargetsCoverWhatTheyRunOn) {
  struct Case {
    std::string_view code, device;
    bool covers;
  };
  for (auto [code, device, expected] : {Case{"gfx942", "gfx942", true},
                                        {"gfx942", "gfx950", false},
                                        {"gfx11-generic", "gfx1100", true},
                                        {"gfx11-generic", "gfx1153", true},
                                        {"gfx11-generic", "gfx1200", false},
                                        {"gfx9-generic", "gfx908", false},
                                        {"gfx9-generic", "gfx906", true},
                                        {"gfx9-4-generic", "gfx942", true},
                                        {"gfx10-3-generic", "gfx1036", true},
                                        {"gfx12-generic", "gfx1250", false},
                                        {"gfx11-generic", "", false},
                                        {"gfx11xx", "gfx1151", true},
                                        {"gfx120x", "gfx1201", true},
                                        {"gfx120x", "gfx1150", false},
                                        {"gfx11xx", "gfx942", false},
                                        {"gfx", "gfx", true},
                                        {"gfx", "gfa", false}})
    EXPECT_EQ(runs_on(code, device), expected) << code << " " << device;
}

TEST(Target, KnownProcessorsAreTheLongestThatFit) {
  EXPECT_EQ(known_processor("gfx90878"), "gfx908");
  EXPECT_EQ(known_processor("gfx942130.db.txt"), "gfx942");
  EXPECT_EQ(known_processor("gfx90a68"), "gfx90a");
  EXPECT_EQ(known_processor("gfx110148"), "gfx1101");
  EXPECT_EQ(known_processor("gfx5"), "");
}

} // namespace
} // namespace quarry::gpu
