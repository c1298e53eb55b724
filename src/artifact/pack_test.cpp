#include "artifact/pack.hpp"

#include "artifact/case_rule.hpp"
#include "artifact/testing.hpp"
#include "artifact/verify.hpp"
#include <sys/stat.h>

namespace quarry::artifact {
namespace {
using namespace testing; // NOLINT: the fixture of this room
using ::testing::ElementsAre;

class PackTest : public Directory {
protected:
  Result<std::vector<Packed>> pack_all(PackOptions options = {}) { return pack(*source_of_path(from_), out_, options); }
  std::string code(PackOptions options = {}) {
    auto packed = pack_all(options);
    return packed ? "" : packed.error().code;
  }
};

TEST_F(PackTest, WhatIsPackedComesBackTheSame) {
  explode("a_lib_generic");
  explode("b_run_gfx942:xnack+", std::string(100'000, 'b'));
  ASSERT_TRUE(sys::make_directories(from_ + "/a_lib_generic/math/stage/empty/inside"));
  for (auto compression : {Compression::zstd, Compression::xz}) {
    auto suffix = std::string(suffix_of(compression));
    out_ = root_ + "/packed" + suffix;
    auto packed = pack_all({.compression = compression, .jobs = 2});
    ASSERT_TRUE(packed) << packed.error().message;
    EXPECT_THAT(visible(), ElementsAre("a_lib_generic" + suffix, "a_lib_generic" + suffix + ".sha256sum",
                                       "b_run_gfx942:xnack+" + suffix, "b_run_gfx942:xnack+" + suffix + ".sha256sum"));
    auto back = root_ + "/back" + suffix;
    auto report = *fetch(source_of_path(out_)->items, back, {});
    ASSERT_EQ(report.failures(), 0u) << report.artifacts[0].error->message;
    EXPECT_EQ(visible(back), visible(from_));
    EXPECT_TRUE(sys::is_directory(back + "/a_lib_generic/math/stage/empty/inside"));
    struct stat program{};
    ASSERT_EQ(::stat((back + "/a_lib_generic/math/stage/bin/a_lib_generic").c_str(), &program), 0);
    EXPECT_TRUE(program.st_mode & 0100);
  }
}

TEST_F(PackTest, EqualTreesGiveEqualBytes) {
  explode("a_lib_generic", std::string(300'000, 'x'));
  std::map<unsigned, Sha256> digests;
  for (unsigned jobs : {1u, 2u, 5u}) {
    out_ = root_ + fmt::format("/out{}", jobs);
    // Times and modes that a tar would not carry.
    ASSERT_EQ(::chmod((from_ + "/a_lib_generic/artifact_manifest.txt").c_str(), jobs == 2 ? 0600 : 0664), 0);
    digests[jobs] = (*pack_all({.jobs = jobs}))[0].digest;
  }
  EXPECT_EQ(digests[1], digests[2]);
  EXPECT_EQ(digests[1], digests[5]);
}

TEST_F(PackTest, TheManifestComesFirst) {
  explode("a_lib_generic", "x", "Above/stage"); // sorts before the manifest
  ASSERT_TRUE(pack_all());
  auto stream = *codec::testing::expand(*sys::read_file(out_ + "/a_lib_generic.tar.zst"), Compression::zstd);
  EXPECT_THAT(*tarball::read(stream), ElementsAre("file artifact_manifest.txt", "file Above/stage/bin/a_lib_generic +x",
                                                  "link Above/stage/lib/liba_lib_generic.so -> liba_lib_generic.so.1",
                                                  "file Above/stage/lib/liba_lib_generic.so.1"));
}

TEST_F(PackTest, WhatAFetchWouldRefuseIsNotPacked) {
  EXPECT_EQ(code(), "A021");
  explode("a_lib_generic");
  write(from_ + "/a_lib_generic/stray", "");
  EXPECT_EQ(code(), "A008");
  ASSERT_TRUE(sys::remove_file(from_ + "/a_lib_generic/stray"));
  link(from_ + "/a_lib_generic/math/stage/l", "/usr/lib");
  EXPECT_EQ(code(), "T010");
  ASSERT_TRUE(sys::remove_file(from_ + "/a_lib_generic/math/stage/l"));
  ASSERT_TRUE(sys::remove_file(from_ + "/a_lib_generic/artifact_manifest.txt"));
  EXPECT_EQ(code(), "A003");
  EXPECT_FALSE(sys::exists(out_));
}

// An archive of zeros is 10,000 times smaller than they are.
TEST_F(PackTest, WhatIsPackedIsFetchedHoweverWellItPacks) {
  explode("a_lib_generic");
  auto zeros = sys::File::create(from_ + "/a_lib_generic/math/stage/lib/zeros");
  ASSERT_TRUE(zeros->truncate(200u << 20));
  auto packed = pack_all();
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_LT(packed->at(0).size, 100'000u);
  EXPECT_EQ(exit_code_of(*verify(source_of_path(out_)->items, {})), 0);
}

// Beyond 1 GiB, an archive may be 60 times smaller than what is in it.
TEST_F(PackTest, WhatAFetchWouldRefuseForItsSizeIsNotLeftBehind) {
  explode("a_lib_generic");
  auto zeros = sys::File::create(from_ + "/a_lib_generic/math/stage/lib/zeros");
  ASSERT_TRUE(zeros->truncate((1u << 30) + (100u << 20)));
  EXPECT_EQ(code({.jobs = 2}), "T008");
  EXPECT_THAT(visible(), ::testing::IsEmpty());
  EXPECT_EQ(code({.jobs = 2, .max_ratio = 100'000}), "");
}

TEST_F(PackTest, ATerminfoDatabaseOfLinuxIsPackedAndFetched) {
  explode("a_lib_generic");
  for (const auto* name : {"E/Eterm", "e/eterm", "E/Eterm-color", "e/eterm-color"})
    write(from_ + "/a_lib_generic/math/stage/share/terminfo/" + name, name);
  auto packed = pack_all();
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->at(0).case_pairs.count, 2u);
  auto verdicts = *verify(source_of_path(out_)->items, {});
  ASSERT_FALSE(verdicts.at(0).error) << verdicts.at(0).error->message;
  Findings notes;
  note_case_pairs(verdicts.at(0).case_pairs, "a", notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].code, "T013");
  EXPECT_EQ(notes[0].severity, Severity::note);
  for (auto form : {FetchForm::exploded, FetchForm::flat}) {
    auto back = root_ + "/back" + std::to_string(static_cast<int>(form));
    auto report = *fetch(source_of_path(out_)->items, back, {.form = form});
    ASSERT_EQ(report.failures(), 0u) << report.artifacts[0].error->message;
    auto stage = form == FetchForm::flat ? back : back + "/a_lib_generic/math/stage";
    EXPECT_EQ(*sys::read_file(stage + "/share/terminfo/E/Eterm"), "E/Eterm");
    EXPECT_EQ(*sys::read_file(stage + "/share/terminfo/e/eterm"), "e/eterm");
  }
}

TEST_F(PackTest, NamesThatAreOneNameOnWindowsAreRefusedInItsArtifacts) {
  explode("a_lib_generic");
  for (const auto* name : {"E/Eterm", "e/eterm"}) write(from_ + "/a_lib_generic/math/stage/" + name, name);
  auto source = *source_of_path(from_);
  source.items.at(0).windows = true;
  EXPECT_EQ(pack(source, out_, {}).error().code, "T007");
  ASSERT_TRUE(pack_all());
  auto items = source_of_path(out_)->items;
  items.at(0).windows = true;
  auto verdicts = *verify(items, {});
  ASSERT_TRUE(verdicts.at(0).error);
  EXPECT_EQ(verdicts.at(0).error->code, "T007");
}

TEST(CaseRule, AWindowsRunIsKnownByItsPlace) {
  for (const auto* place : {"42-windows", "42-windows/", "42-windows/tarballs/", "s3://bucket/o-r/42-windows"})
    EXPECT_TRUE(names_windows(place)) << place;
  for (const auto* place : {"42-linux/", "windows", "", "/", "42-windows-not", "a/windows/b"})
    EXPECT_FALSE(names_windows(place)) << place;
}

TEST_F(PackTest, PackingAgainReplaces) {
  explode("a_lib_generic", "old");
  ASSERT_TRUE(pack_all());
  write(from_ + "/a_lib_generic/math/stage/lib/more", "new");
  ASSERT_TRUE(pack_all());
  EXPECT_EQ(exit_code_of(*verify(source_of_path(out_)->items, {})), 0);
  EXPECT_EQ(code({.compression = Compression::xz}), "A006");
}

} // namespace
} // namespace quarry::artifact
