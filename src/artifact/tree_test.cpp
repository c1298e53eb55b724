#include "artifact/tree.hpp"

#include "artifact/testing.hpp"
#include <map>

namespace quarry::artifact {
namespace {
using namespace testing; // NOLINT: the fixture of this room
using ::testing::ElementsAre;

// A frame that does not say how long it is: it can be read from the front only.
std::string endless_zstd(std::string_view text) {
  std::string out("\x28\xB5\x2F\xFD\x00\x58", 6); // magic, no content size, a window of 2 MiB
  constexpr std::size_t k_block = 128u << 10;
  do {
    auto n = std::min(k_block, text.size());
    bool last = n == text.size();
    auto header = n << 3 | (last ? 1u : 0u); // a raw block
    for (int shift : {0, 8, 16}) out += static_cast<char>(header >> shift & 255);
    out += text.substr(0, n);
    text.remove_prefix(n);
  } while (!text.empty());
  return out;
}

class TreeTest : public Directory {
protected:
  // "file lib/x 5 bytes +x", with the content's digest.
  static std::map<std::string, std::string> told(const std::vector<TreeFile>& files) {
    std::map<std::string, std::string> lines;
    for (const auto& f : files) {
      if (f.type == sys::EntryType::directory) continue;
      lines[f.path] =
          f.type == sys::EntryType::symlink
              ? "-> " + f.link
              : fmt::format("{} {}{}", f.size, content::sha256_of(f.data)->hex(), f.executable ? " +x" : "");
    }
    return lines;
  }
  Result<std::map<std::string, std::string>> read(const std::string& directory, TreeOptions options = {}) {
    options.spool_directory = root_;
    TRY(auto catalogue, open_catalogue(directory));
    TreeReader reader(options);
    std::map<std::string, std::string> all;
    for (const auto& a : catalogue.artifacts) {
      TRY(auto files, reader.read(a));
      all.merge(told(files));
    }
    for (const auto& a : catalogue.archives) {
      TRY(auto files, reader.read(a));
      all.merge(told(files));
    }
    return all;
  }
  std::string code(TreeOptions options = {}) {
    auto result = read(from_, options);
    return result ? "" : result.error().code;
  }
};

TEST_F(TreeTest, WhatTheManifestDoesNotCoverIsNotLeftOut) {
  explode("a_lib_generic", "covered");
  EXPECT_EQ(code(), "");
  ASSERT_TRUE(sys::make_directories(from_ + "/a_lib_generic/other/deep"));
  EXPECT_EQ(code(), "") << "an empty directory loses nothing";
  ASSERT_TRUE(sys::write_file(from_ + "/a_lib_generic/other/deep/libx.so", "lost"));
  auto refused = read(from_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "A008");
  EXPECT_THAT(refused.error().message,
              ::testing::HasSubstr("a_lib_generic/other/deep/libx.so is in no base directory"));
}

TEST_F(TreeTest, AnArchiveHoldsWhatItsDirectoryHeld) {
  explode("a_lib_generic", std::string(20u << 20, 'a') + "end"); // several frames
  explode("b_run_gfx942", "small");
  auto expected = read(from_);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->size(), 6u);
  for (auto compression : {Compression::zstd, Compression::xz}) {
    out_ = root_ + "/packed" + std::string(suffix_of(compression));
    ASSERT_TRUE(pack(*source_of_path(from_), out_, {.compression = compression, .jobs = 2}));
    for (unsigned workers : {1u, 3u}) {
      auto found = read(out_, {.workers = workers});
      ASSERT_TRUE(found) << render(found.error());
      EXPECT_EQ(*found, *expected);
    }
  }
}

TEST_F(TreeTest, AnEndlessFrameIsSpooledAndLeavesNothingBehind) {
  auto stream = manifest() + tarball::file("math/stage/lib/one", std::string(300'000, 'x')) +
                tarball::file("math/stage/bin/two", "two") + tarball::end();
  auto packed = endless_zstd(stream);
  write(from_ + "/a_lib_generic.tar.zst", packed);
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", checksum_line(sha256(packed), "a_lib_generic.tar.zst"));
  auto found = read(from_);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ((*found)["bin/two"], "3 " + sha256("two").hex());
  EXPECT_EQ((*found)["lib/one"], "300000 " + sha256(std::string(300'000, 'x')).hex());
  EXPECT_EQ(sys::list_directory(root_)->size(), 1u);
}

TEST_F(TreeTest, AHardLinkIsTheFileItNames) {
  archive("a_lib_generic.tar.zst", manifest() + tarball::file("math/stage/lib/one", "content") +
                                       tarball::hardlink("math/stage/lib/two", "math/stage/lib/one") + tarball::end());
  auto found = read(from_);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ((*found)["lib/two"], (*found)["lib/one"]);
}

TEST_F(TreeTest, AnArchiveThatAFetchWouldRefuseIsRefused) {
  auto stream = manifest() + tarball::file("math/stage/lib/one", "content") + tarball::end();
  archive("a_lib_generic.tar.zst", stream, false);
  EXPECT_EQ(code(), "A010");
  EXPECT_EQ(code({.allow_unverified = true}), "");
  archive("a_lib_generic.tar.zst", stream);
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", checksum_line(sha256("other"), "a_lib_generic.tar.zst"));
  EXPECT_EQ(code(), "A012");
  archive("a_lib_generic.tar.zst", manifest() + tarball::file("elsewhere/one", "content") + tarball::end());
  EXPECT_EQ(code(), "A008");
  archive("a_lib_generic.tar.zst", tarball::file("math/stage/lib/one", "content") + tarball::end());
  EXPECT_EQ(code(), "A007");
}

// The checksum says that these are the bytes that were made; what was made wrongly is found when it is read.
TEST_F(TreeTest, ADamagedFrameUnderARightChecksumFailsTheReadThatWantsIt) {
  auto stream = manifest() + tarball::file("math/stage/lib/large", std::string(30u << 20, 'x')) +
                tarball::file("math/stage/lib/small", "small") + tarball::end();
  auto packed = codec::testing::compress(stream, Compression::zstd);
  auto frames = codec::find_frames(content::Rope::literal(packed), Compression::zstd);
  ASSERT_TRUE(frames && *frames && (*frames)->size() > 3);
  packed[(**frames)[2].packed_offset - 2] ^= 1; // the check of the second frame
  write(from_ + "/a_lib_generic.tar.zst", packed);
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", checksum_line(sha256(packed), "a_lib_generic.tar.zst"));
  auto catalogue = open_catalogue(from_);
  auto files = TreeReader({.workers = 2}).read(catalogue->archives.at(0));
  ASSERT_TRUE(files) << render(files.error());
  for (const auto& f : *files) {
    auto digest = content::sha256_of(f.data);
    EXPECT_EQ(digest.has_value(), f.path != "lib/large") << f.path;
    if (!digest) {
      EXPECT_EQ(digest.error().code, "T002");
    }
  }
}

} // namespace
} // namespace quarry::artifact
