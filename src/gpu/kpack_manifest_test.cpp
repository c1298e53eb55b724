#include "gpu/kpack_manifest.hpp"

#include <gmock/gmock.h>

namespace quarry::gpu {
namespace {

using testing::ElementsAre;

std::string text_of(std::string_view text) {
  return std::string(1, static_cast<char>(0xA0 + text.size())) + std::string(text);
}

TEST(KpackManifest, NamesTheTargets) {
  // {"v": 1, "kpack_files": {"gfx900:xnack-": "a", "gfx1030": {"size": 7}}}
  auto manifest = "\x82" + text_of("v") + "\x01" + text_of("kpack_files") + "\x82" + text_of("gfx900:xnack-") +
                  text_of("a") + text_of("gfx1030") + "\x81" + text_of("size") + "\x07";
  auto targets = targets_in_manifest(manifest);
  ASSERT_TRUE(targets);
  EXPECT_THAT(*targets, ElementsAre("gfx1030", "gfx900"));
  EXPECT_FALSE(targets_in_manifest(manifest + "x"));
  for (std::size_t size = 0; size < manifest.size(); ++size)
    EXPECT_FALSE(targets_in_manifest(manifest.substr(0, size))) << size;
}

TEST(KpackManifest, ATargetWithoutANameIsNotOne) {
  auto targets = targets_in_manifest("\x81" + text_of("kpack_files") + "\x82" + text_of(":xnack-") + text_of("a") +
                                     text_of("gfx1030") + text_of("b"));
  ASSERT_TRUE(targets);
  EXPECT_THAT(*targets, ElementsAre("gfx1030"));
}

TEST(KpackManifest, OtherBytesAreNotOne) {
  for (std::string_view bytes : {"", "kpm", "{}", "\x80", "\x90"}) EXPECT_FALSE(targets_in_manifest(bytes)) << bytes;
  EXPECT_FALSE(targets_in_manifest("\x81" + text_of("kpack_files") + text_of("gfx900"))) << "a text instead of a map";
}

} // namespace
} // namespace quarry::gpu
