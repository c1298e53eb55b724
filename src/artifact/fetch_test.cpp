#include "artifact/fetch.hpp"

#include "artifact/testing.hpp"
#include "artifact/unpack.hpp"
#include "artifact/verify.hpp"
#include <random>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>

namespace quarry::artifact {
namespace {
using namespace testing; // NOLINT: the fixture of this room
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = Fetched::State;

class FetchTest : public Directory {
protected:
  /// The one artifact's error code after a fetch of everything; checks that nothing of it is visible and nothing is
  /// left over.
  std::string refused_with(FetchOptions options = {}) {
    auto report = run(options);
    EXPECT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->artifacts.size(), 1u);
    EXPECT_THAT(visible(), IsEmpty());
    EXPECT_THAT(staging(), IsEmpty());
    return report->artifacts[0].error ? report->artifacts[0].error->code : "";
  }
};

TEST_F(FetchTest, ExtractsWhatIsSound) {
  good("a_lib_generic");
  archive("b_run_generic.tar.xz", manifest() + tarball::directory("math") + tarball::directory("math/stage/") +
                                      tarball::file("math/stage/x") + tarball::end());
  auto report = *run();
  ASSERT_EQ(report.failures(), 0u);
  EXPECT_TRUE(report.artifacts[0].verified);
  EXPECT_EQ(report.artifacts[0].files, 3u);
  EXPECT_THAT(visible(),
              ElementsAre("a_lib_generic/artifact_manifest.txt", "a_lib_generic/math/stage/lib/a_lib_generic",
                          "a_lib_generic/math/stage/lib/link-a_lib_generic -> a_lib_generic",
                          "b_run_generic/artifact_manifest.txt", "b_run_generic/math/stage/x"));
  EXPECT_THAT(staging(), IsEmpty());
}

TEST_F(FetchTest, TheSameOutcomeForAnyNumberOfJobs) {
  for (int i = 0; i < 12; ++i)
    good(fmt::format("a{}_lib_generic", i), std::string(static_cast<std::size_t>(i) * 10'000, 'x'));
  archive("bad_lib_generic.tar.zst", tarball::file("x") + tarball::end());
  std::vector<std::string> first;
  for (unsigned jobs : {1u, 2u, 5u}) {
    out_ = root_ + fmt::format("/out{}", jobs);
    auto report = *run({.jobs = jobs});
    EXPECT_EQ(report.failures(), 1u);
    auto seen = visible();
    if (jobs == 1) first = seen;
    EXPECT_EQ(seen, first);
    EXPECT_EQ(report.artifacts[12].error->code, "A007");
  }
}

TEST_F(FetchTest, OtherBytesThanPromised) {
  good("a_lib_generic");
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", std::string(64, '0') + "\n");
  auto report = *run();
  const auto& error = *report.artifacts[0].error;
  EXPECT_EQ(error.code, "A012");
  ASSERT_EQ(error.details.size(), 2u);
  EXPECT_THAT(error.details[0], HasSubstr(std::string(64, '0') + ", from a_lib_generic.tar.zst.sha256sum"));
  EXPECT_THAT(error.details[1], HasSubstr("bytes read"));
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(FetchTest, ADamagedArchiveIsToldByItsChecksumFirst) {
  good("a_lib_generic", std::string(100'000, 'x'));
  auto path = from_ + "/a_lib_generic.tar.zst";
  auto sound = *sys::read_file(path);
  write(path, sound.substr(0, sound.size() / 2));
  EXPECT_EQ(refused_with(), "A012");
}

TEST_F(FetchTest, NoFlippedByteIsEverAccepted) {
  std::mt19937 random(7);
  for (const std::string suffix : {".tar.zst", ".tar.xz"}) {
    auto stream = manifest() + tarball::file("math/stage/lib/x", std::string(3000, 'y')) +
                  tarball::symlink("math/stage/l", "lib") + tarball::end(20);
    auto file = "a_lib_generic" + suffix;
    archive(file, stream);
    auto sound = *sys::read_file(from_ + "/" + file);
    for (int i = 0; i < 200; ++i) {
      auto changed = sound;
      auto at = random() % changed.size();
      changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
      auto item = source_of_path(from_ + "/" + file)->items[0];
      item.open = [&] { return Result<content::Rope>(content::Rope::literal(changed)); };
      auto verdict = verify_archive(item, {});
      ASSERT_FALSE(verdict) << file << " at " << at;
      EXPECT_EQ(verdict.error().code, "A012");
    }
    ASSERT_TRUE(sys::remove_file(from_ + "/" + file));
  }
}

TEST_F(FetchTest, NoChecksumFileIsRefusedUnlessAllowed) {
  archive("a_lib_generic.tar.zst", manifest() + tarball::file("math/stage/x") + tarball::end(), false);
  EXPECT_EQ(refused_with(), "A010");
  auto report = *run({.allow_unverified = true});
  EXPECT_EQ(report.failures(), 0u);
  EXPECT_FALSE(report.artifacts[0].verified);
}

TEST_F(FetchTest, AllowingNoChecksumDoesNotAllowAWrongOne) {
  good("a_lib_generic");
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", std::string(64, '0') + "\n");
  EXPECT_EQ(refused_with({.allow_unverified = true}), "A012");
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", "rubbish");
  EXPECT_EQ(refused_with({.allow_unverified = true}), "A011");
}

TEST_F(FetchTest, WhatIsWrongInsideIsRefusedAlthoughTheChecksumIsRight) {
  struct Case {
    const char* what;
    std::string stream, code;
  };
  for (const auto& [what, stream, code] :
       {Case{"no manifest", tarball::file("math/stage/x") + tarball::end(), "A007"},
        {"empty", tarball::end(), "A007"},
        {"manifest second", tarball::file("math/stage/x") + manifest() + tarball::end(), "A007"},
        {"manifest is a link", tarball::symlink("artifact_manifest.txt", "x") + tarball::end(), "A007"},
        {"manifest twice", manifest() + manifest() + tarball::end(), "T007"},
        {"manifest escapes", manifest("../x\n") + tarball::end(), "A004"},
        {"manifest not UTF-8", manifest("math/stage\nmath/\xff\n") + tarball::file("math/stage/x") + tarball::end(),
         "A004"},
        {"manifest half of a character", manifest("math/stage\nmath/\xe2\x82\n") + tarball::end(), "A004"},
        {"manifest with an invisible character", manifest("math/\xe2\x80\x8b\n") + tarball::end(), "A004"},
        {"manifest absolute", manifest("/x\n") + tarball::end(), "A004"},
        {"manifest huge", manifest(std::string(2u << 20, 'a')) + tarball::end(), "A004"},
        {"member outside", manifest() + tarball::file("other/x") + tarball::end(), "A008"},
        {"member beside the base", manifest() + tarball::file("math/stage2/x") + tarball::end(), "A008"},
        {"file above the base", manifest() + tarball::file("math/x") + tarball::end(), "A008"},
        {"empty directory outside", manifest() + tarball::directory("other") + tarball::end(), "A008"},
        {"hard link to the manifest",
         manifest() + tarball::hardlink("math/stage/x", "artifact_manifest.txt") + tarball::end(), "A008"},
        {"member that leads up", manifest() + tarball::file("math/stage/../../../x") + tarball::end(), "T010"},
        {"link that leads up", manifest() + tarball::symlink("math/stage/l", "../../../x") + tarball::end(), "T010"},
        {"base is a link", manifest() + tarball::symlink("math/stage", "..") + tarball::end(), "A008"},
        {"no end", manifest() + tarball::file("math/stage/x"), "T003"},
        {"bytes behind the end", manifest() + tarball::end() + tarball::file("math/stage/x"), "T003"}}) {
    archive("a_lib_generic.tar.zst", stream);
    EXPECT_EQ(refused_with(), code) << what;
  }
}

TEST_F(FetchTest, AHostileArchiveMarksItsChecksumAsRight) {
  archive("a_lib_generic.tar.zst", manifest() + tarball::file("../x") + tarball::end());
  auto report = *run();
  EXPECT_THAT(report.artifacts[0].error->details, ElementsAre("its checksum is right: it was made like this"));
  EXPECT_EQ(report.artifacts[0].error->kind, ErrorKind::corrupt);
  EXPECT_THAT(report.artifacts[0].error->context, ElementsAre("while reading a_lib_generic.tar.zst"));
}

TEST_F(FetchTest, ABombIsRefusedByItsRatio) {
  // Says that 2 GiB follow, of which there are none: with a larger ratio, that is what is wrong with it.
  auto size = std::string("20000000000\0", 12);
  archive("a_lib_generic.tar.zst", manifest() + tarball::member({.name = "math/stage/zeros", .size_field = size}));
  EXPECT_EQ(refused_with(), "T008");
  EXPECT_EQ(refused_with({.max_ratio = 100'000'000}), "T003");
}

TEST_F(FetchTest, OneBadArchiveDoesNotStopTheOthers) {
  good("a_lib_generic");
  good("b_lib_generic");
  good("c_lib_generic");
  write(from_ + "/b_lib_generic.tar.zst.sha256sum", std::string(64, '0'));
  auto report = *run({.jobs = 2});
  EXPECT_EQ(report.failures(), 1u);
  EXPECT_TRUE(sys::exists(out_ + "/a_lib_generic"));
  EXPECT_FALSE(sys::exists(out_ + "/b_lib_generic"));
  EXPECT_TRUE(sys::exists(out_ + "/c_lib_generic"));
  auto error = failure_of(report, "out");
  EXPECT_EQ(error.code, "A012");
  EXPECT_EQ(error.details.back(), "2 of 3 artifacts are complete in out; this one was not extracted");
  write(from_ + "/a_lib_generic.tar.zst.sha256sum", "rubbish");
  ASSERT_TRUE(sys::remove_tree(out_));
  error = failure_of(*run(), "out");
  EXPECT_EQ(error.code, "A013");
  EXPECT_EQ(traits(error.kind).exit_code, 6);
  EXPECT_EQ(error.details.back(), "1 of 3 artifacts are complete in out; the other 2 were not extracted");
}

TEST_F(FetchTest, ASecondRunKeepsWhatIsCompleteAndMendsTheRest) {
  good("a_lib_generic");
  good("b_lib_generic");
  auto sound = *sys::read_file(from_ + "/b_lib_generic.tar.zst");
  write(from_ + "/b_lib_generic.tar.zst", "damaged in transfer");
  ASSERT_EQ(run()->failures(), 1u);
  write(from_ + "/b_lib_generic.tar.zst", sound);
  auto report = *run();
  EXPECT_EQ(report.failures(), 0u);
  EXPECT_EQ(report.artifacts[0].state, State::kept);
  EXPECT_EQ(report.artifacts[1].state, State::fetched);
  report = *run();
  EXPECT_EQ(report.artifacts[1].state, State::kept);
  EXPECT_TRUE(report.artifacts[1].verified);
}

TEST_F(FetchTest, NewBytesReplaceOldOnes) {
  good("a_lib_generic", "old");
  ASSERT_EQ(run()->failures(), 0u);
  good("a_lib_generic", "newer");
  EXPECT_EQ(run()->artifacts[0].state, State::fetched);
  EXPECT_EQ(*sys::read_file(out_ + "/a_lib_generic/math/stage/lib/a_lib_generic"), "newer");
  EXPECT_THAT(staging(), IsEmpty());
}

TEST_F(FetchTest, WhatLostBytesIsDoneAgain) {
  good("a_lib_generic", "complete");
  ASSERT_EQ(run()->failures(), 0u);
  auto file = out_ + "/a_lib_generic/math/stage/lib/a_lib_generic";
  write(file, ""); // as a power loss may leave it
  EXPECT_EQ(run()->artifacts[0].state, State::fetched);
  EXPECT_EQ(*sys::read_file(file), "complete");
}

TEST_F(FetchTest, WhatAKilledFetchLeftIsRemovedAndDoneAgain) {
  good("a_lib_generic");
  ASSERT_EQ(run()->failures(), 0u);
  write(out_ + "/.quarry-fetch/staging/b_lib_generic/half", "x");
  ASSERT_TRUE(sys::rename(out_ + "/a_lib_generic", out_ + "/.quarry-fetch/staging/old")); // between the two renames
  EXPECT_EQ(run()->artifacts[0].state, State::fetched);
  EXPECT_TRUE(sys::exists(out_ + "/a_lib_generic"));
  EXPECT_THAT(staging(), IsEmpty());
}

TEST_F(FetchTest, ADirectoryThatNoFetchMadeIsNotTouched) {
  good("a_lib_generic");
  write(out_ + "/a_lib_generic/mine", "precious");
  auto report = *run();
  EXPECT_EQ(report.artifacts[0].error->code, "A014");
  EXPECT_EQ(traits(report.artifacts[0].error->kind).exit_code, 7);
  EXPECT_EQ(*sys::read_file(out_ + "/a_lib_generic/mine"), "precious");
}

TEST_F(FetchTest, ADanglingLinkInThePlaceIsNotFollowed) {
  good("a_lib_generic");
  link(out_ + "/a_lib_generic", root_ + "/elsewhere");
  EXPECT_EQ(run()->artifacts[0].error->code, "A014");
  EXPECT_FALSE(sys::exists(root_ + "/elsewhere"));
}

TEST_F(FetchTest, TwoAtOnceTakeTurns) {
  for (int i = 0; i < 6; ++i) good(fmt::format("a{}_lib_generic", i), std::string(50'000, 'x'));
  Result<FetchReport> first, second;
  {
    std::thread other([&] { first = run(); });
    second = run();
    other.join();
  }
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(first->failures() + second->failures(), 0u);
  EXPECT_NE(first->artifacts[0].state, second->artifacts[0].state); // one did the work, the other found it done
}

TEST_F(FetchTest, ArchivesAreKeptAsTheyAre) {
  good("a_lib_generic");
  auto report = *run({.form = FetchForm::archives});
  EXPECT_EQ(report.failures(), 0u);
  EXPECT_THAT(visible(), ElementsAre("a_lib_generic.tar.zst", "a_lib_generic.tar.zst.sha256sum"));
  EXPECT_EQ(*sys::read_file(out_ + "/a_lib_generic.tar.zst"), *sys::read_file(from_ + "/a_lib_generic.tar.zst"));
  EXPECT_EQ(run({.form = FetchForm::archives})->artifacts[0].state, State::kept);
  write(out_ + "/a_lib_generic.tar.zst", "damaged here");
  EXPECT_EQ(run({.form = FetchForm::archives})->artifacts[0].state, State::fetched);
  EXPECT_EQ(*sys::read_file(out_ + "/a_lib_generic.tar.zst"), *sys::read_file(from_ + "/a_lib_generic.tar.zst"));
  write(from_ + "/a_lib_generic.tar.zst", "damaged there");
  ASSERT_TRUE(sys::remove_tree(out_));
  EXPECT_EQ(run({.form = FetchForm::archives})->artifacts[0].error->code, "A012");
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(FetchTest, ExplodedDirectoriesAreCopiedAndCalledUnverified) {
  explode("a_lib_generic");
  auto report = *run();
  EXPECT_EQ(report.failures(), 0u);
  EXPECT_TRUE(report.artifacts[0].exploded);
  EXPECT_FALSE(report.artifacts[0].verified);
  EXPECT_EQ(visible(out_), visible(from_));
  EXPECT_EQ(::access((out_ + "/a_lib_generic/math/stage/bin/a_lib_generic").c_str(), X_OK), 0);
  EXPECT_EQ(run()->artifacts[0].state, State::fetched); // without a checksum nothing proves that it is the same
}

TEST_F(FetchTest, ExplodedDirectoriesAreJudgedLikeArchives) {
  struct Case {
    const char* what;
    std::function<void(const std::string&)> spoil;
    const char* code;
  };
  for (const auto& [what, spoil, code] :
       {Case{"no manifest",
             [&](const std::string& at) { ASSERT_TRUE(sys::remove_file(at + "/artifact_manifest.txt")); }, "A003"},
        {"bad manifest", [&](const std::string& at) { write(at + "/artifact_manifest.txt", "../x"); }, "A004"},
        {"file outside", [&](const std::string& at) { write(at + "/other/x", ""); }, "A008"},
        {"link that leads up", [&](const std::string& at) { link(at + "/math/stage/l", "../../../x"); }, "T010"},
        {"absolute link", [&](const std::string& at) { link(at + "/math/stage/l", "/etc"); }, "T010"},
        {"base is a link",
         [&](const std::string& at) {
           ASSERT_TRUE(sys::remove_tree(at + "/math/stage"));
           link(at + "/math/stage", "..");
         },
         "A008"},
        {"fifo", [&](const std::string& at) { ASSERT_EQ(::mkfifo((at + "/math/stage/f").c_str(), 0600), 0); },
         "T009"}}) {
    ASSERT_TRUE(sys::remove_tree(from_ + "/a_lib_generic"));
    explode("a_lib_generic");
    spoil(from_ + "/a_lib_generic");
    EXPECT_EQ(refused_with(), code) << what;
  }
}

TEST_F(FetchTest, ABaseDirectoryThatHoldsNothingIsMade) {
  archive("a_lib_generic.tar.zst",
          manifest("math/stage\nmath/empty\n") + tarball::file("math/stage/lib/x", "text") + tarball::end());
  ASSERT_EQ(run()->failures(), 0u);
  EXPECT_TRUE(sys::is_directory(out_ + "/a_lib_generic/math/empty"));
  EXPECT_THAT(source_of_path(out_)->findings, IsEmpty());
}

TEST_F(FetchTest, EachOfSeveralFailuresNamesItsArchive) {
  for (const auto* name : {"a_lib_generic", "b_lib_generic"}) archive(name + std::string(".tar.zst"), tarball::end());
  auto error = failure_of(*run(), out_);
  EXPECT_THAT(error.details, ::testing::Contains(HasSubstr("a_lib_generic.tar.zst: A007")));
  EXPECT_THAT(error.details, ::testing::Contains(HasSubstr("b_lib_generic.tar.zst: A007")));
}

TEST_F(FetchTest, OneArtifactTwiceIsRefusedByName) {
  good("a_lib_generic");
  archive("a_lib_generic.tar.xz", manifest() + tarball::end());
  auto report = *run();
  EXPECT_EQ(report.failures(), 2u);
  EXPECT_EQ(report.artifacts[0].error->code, "A006");
  EXPECT_THAT(report.artifacts[0].error->message,
              ::testing::AllOf(HasSubstr("a_lib_generic.tar.xz"), HasSubstr("a_lib_generic.tar.zst")));
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(FetchTest, AFullDiskLeavesNothingBehind) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small file system";
  ASSERT_TRUE(sys::make_directories(out_));
  if (::mount("tmpfs", out_.c_str(), "tmpfs", 0, "size=2m") != 0) GTEST_SKIP() << "this container may not mount";
  good("big_lib_generic", std::string(8u << 20, 'x'));
  good("small_lib_generic");
  auto report = run();
  EXPECT_TRUE(report);
  if (report) {
    EXPECT_EQ(report->artifacts[0].error->code, "D003");
    EXPECT_EQ(traits(failure_of(*report, out_).kind).exit_code, 12);
    EXPECT_EQ(report->artifacts[1].state, State::fetched) << "the room is given back at once";
  }
  EXPECT_FALSE(sys::exists(out_ + "/big_lib_generic"));
  EXPECT_THAT(staging(), IsEmpty());
  EXPECT_EQ(::umount(out_.c_str()), 0);
}

TEST_F(FetchTest, AFullDiskIsToldOnce) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small file system";
  ASSERT_TRUE(sys::make_directories(out_));
  if (::mount("tmpfs", out_.c_str(), "tmpfs", 0, "size=2m") != 0) GTEST_SKIP() << "this container may not mount";
  for (const auto* name : {"a_lib_generic", "b_lib_generic", "c_lib_generic"}) good(name, std::string(8u << 20, 'x'));
  auto report = run();
  EXPECT_EQ(::umount(out_.c_str()), 0);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->failures(), 3u);
  auto error = failure_of(*report, out_);
  EXPECT_EQ(error.code, "D003");
  EXPECT_EQ(traits(error.kind).exit_code, 12);
  EXPECT_THAT(error.message, ::testing::AllOf(HasSubstr(out_), HasSubstr("a_lib_generic"), HasSubstr("No space left")));
  ASSERT_EQ(error.details.size(), 2u);
  EXPECT_EQ(error.details[0], "not extracted: a_lib_generic.tar.zst, b_lib_generic.tar.zst, c_lib_generic.tar.zst");
}

TEST_F(FetchTest, AnOutputThatCannotBeADirectoryIsTheMachinesFault) {
  good("a_lib_generic");
  write(out_, "a file");
  auto report = run();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code.substr(0, 1), "D");
}

class FlatTest : public FetchTest {
protected:
  FetchOptions flat_{.form = FetchForm::flat};
};

TEST_F(FlatTest, MergesAllBaseDirectories) {
  archive("a_lib_generic.tar.zst", manifest("one/stage\ntwo/stage\n") + tarball::file("one/stage/lib/a") +
                                       tarball::file("two/stage/lib/b") + tarball::symlink("one/stage/lib/l", "a") +
                                       tarball::directory("two/stage/empty") + tarball::end());
  archive("b_run_generic.tar.zst", manifest("one/stage\n") + tarball::file("one/stage/lib/c") + tarball::end());
  ASSERT_EQ(run(flat_)->failures(), 0u);
  EXPECT_THAT(visible(), ElementsAre("lib/a", "lib/b", "lib/c", "lib/l -> a"));
  EXPECT_TRUE(sys::is_directory(out_ + "/empty"));
  auto again = *run(flat_);
  EXPECT_EQ(again.artifacts[0].state, State::kept);
  EXPECT_EQ(again.artifacts[1].state, State::kept);
}

TEST_F(FlatTest, TwoOwnersOfOnePathAreRefusedByName) {
  struct Case {
    std::string first, second, what;
  };
  for (const auto& [first, second, what] :
       {Case{tarball::file("math/stage/x", "1"), tarball::file("math/stage/x", "1"), "the same file"},
        {tarball::file("math/stage/x"), tarball::file("math/stage/x/y"), "file and directory"},
        {tarball::file("math/stage/x/y"), tarball::file("math/stage/x"), "directory and file"},
        {tarball::symlink("math/stage/x", "y"), tarball::file("math/stage/x/z"), "link and directory"}}) {
    archive("a_lib_generic.tar.zst", manifest() + first + tarball::end());
    archive("b_lib_generic.tar.zst", manifest() + second + tarball::end());
    auto report = run(flat_);
    ASSERT_FALSE(report) << what;
    EXPECT_EQ(report.error().code, "A015") << what;
    EXPECT_EQ(traits(report.error().kind).exit_code, 7);
    EXPECT_THAT(report.error().message,
                ::testing::AllOf(HasSubstr("a_lib_generic"), HasSubstr("b_lib_generic"), HasSubstr("x")))
        << what;
    EXPECT_THAT(visible(), IsEmpty()) << what;
    EXPECT_THAT(staging(), IsEmpty()) << what;
  }
}

TEST_F(FlatTest, TwoBasesOfOneArtifactMayNotContendEither) {
  archive("a_lib_generic.tar.zst",
          manifest("one\ntwo\n") + tarball::file("one/x") + tarball::file("two/x") + tarball::end());
  auto report = run(flat_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "A015");
}

TEST_F(FlatTest, ALinkThatLeavesTheMergedTreeIsRefused) {
  archive("a_lib_generic.tar.zst",
          manifest("one\n") + tarball::symlink("one/l", "../one/x") + tarball::file("one/x") + tarball::end());
  auto report = run(flat_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "A050"); // sound by itself
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(FlatTest, FilesOfTheUserAreNotTouched) {
  good("a_lib_generic");
  write(out_ + "/lib/a_lib_generic", "precious");
  auto report = run(flat_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "A016");
  EXPECT_EQ(*sys::read_file(out_ + "/lib/a_lib_generic"), "precious");
  ASSERT_TRUE(sys::remove_tree(out_ + "/lib"));
  link(out_ + "/lib", root_);
  report = run(flat_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "A016");
}

TEST_F(FlatTest, OneFailureMergesNothing) {
  good("a_lib_generic");
  archive("b_lib_generic.tar.zst", tarball::end());
  auto report = *run(flat_);
  EXPECT_EQ(report.failures(), 1u);
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(FlatTest, ANewVersionReplacesTheOldAndItsLeftovers) {
  archive("a_lib_generic.tar.zst",
          manifest() + tarball::file("math/stage/old") + tarball::file("math/stage/both", "1") + tarball::end());
  archive("b_lib_generic.tar.zst", manifest() + tarball::file("math/stage/other") + tarball::end());
  ASSERT_EQ(run(flat_)->failures(), 0u);
  archive("a_lib_generic.tar.zst",
          manifest() + tarball::file("math/stage/new") + tarball::file("math/stage/both", "22") + tarball::end());
  auto report = run(flat_, {.include = {"^a_"}});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(visible(), ElementsAre("both", "new", "other"));
  EXPECT_EQ(*sys::read_file(out_ + "/both"), "22");
}

TEST_F(FlatTest, AnArtifactFromALaterFetchMayNotTakeAPathOfAnEarlierOne) {
  archive("a_lib_generic.tar.zst", manifest() + tarball::file("math/stage/x") + tarball::end());
  ASSERT_EQ(run(flat_)->failures(), 0u);
  archive("b_lib_generic.tar.zst", manifest() + tarball::file("math/stage/x") + tarball::end());
  auto report = run(flat_, {.include = {"^b_"}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "A015");
}

TEST_F(FetchTest, VerifySeesTheSameAndWritesNothing) {
  good("a_lib_generic");
  explode("b_lib_generic");
  archive("c_lib_generic.tar.zst", manifest() + tarball::file("other/x") + tarball::end());
  auto before = visible(from_);
  auto verdicts = *verify(source_of_path(from_)->items, {.jobs = 2});
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_TRUE(verdicts[0].verified);
  EXPECT_TRUE(verdicts[1].exploded && !verdicts[1].error && !verdicts[1].verified);
  EXPECT_EQ(verdicts[2].error->code, "A008");
  EXPECT_EQ(exit_code_of(verdicts), 6);
  EXPECT_EQ(visible(from_), before);
}

} // namespace
} // namespace quarry::artifact
