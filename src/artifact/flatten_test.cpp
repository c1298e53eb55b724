#include "artifact/testing.hpp"
#include "base/text.hpp"
#include "sys/killed_at.hpp"
#include <fcntl.h>
#include <sys/stat.h>

namespace quarry::artifact {
namespace {
using namespace testing; // NOLINT: the fixture of this room
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using State = Fetched::State;

constexpr int k_files = 6;

class FlattenTest : public Directory {
protected:
  /// An artifact of one base directory with these members.
  void pack(const std::string& name, const std::string& members) {
    archive(name + "_lib_generic.tar.zst", manifest() + members + tarball::end());
  }
  static std::string file(const std::string& path, const std::string& text = "text") {
    return tarball::file("math/stage/" + path, text);
  }
  static std::string program(const std::string& path) {
    return tarball::member({.name = "math/stage/" + path, .data = "sound", .before_sum = [](std::string& header) {
                              header.replace(100, 7, "0000755");
                            }});
  }
  /// As if it had been changed a second later: clocks of file systems tick slowly.
  static void touch(const std::string& path) {
    const timespec times[] = {{1'700'000'000, 0}, {1'700'000'000, 1}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  static std::string symlink(const std::string& path, const std::string& target) {
    return tarball::symlink("math/stage/" + path, target);
  }
  static std::string several(const std::string& directory, const std::string& text) {
    std::string members;
    for (int i = 0; i < k_files; ++i) members += file(fmt::format("{}/{}", directory, i), text);
    return members;
  }
  Result<FetchReport> flat(const std::string& name) {
    return run({.form = FetchForm::flat}, {.include = {"^" + name + "_"}});
  }
  /// "" when it succeeded.
  std::string code(const std::string& name) {
    auto report = flat(name);
    if (!report) return report.error().code;
    return report->failures() > 0 ? report->artifacts[0].error->code : "";
  }
  std::string text_of(const std::string& path) { return sys::read_file(out_ + "/" + path).value_or("(nothing)"); }
  void write_state(const std::string& text) { write(out_ + "/.quarry-fetch/flat.json", text); }
};

TEST_F(FlattenTest, WhatLiesBehindALinkOfTheUserIsNotRemoved) {
  pack("b", several("b", "old"));
  ASSERT_EQ(code("b"), "");
  ASSERT_TRUE(sys::remove_tree(out_ + "/b"));
  write(root_ + "/elsewhere/0", "precious");
  link(out_ + "/b", "../elsewhere");
  pack("b", file("other"));
  auto report = flat("b");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(*sys::read_file(root_ + "/elsewhere/0"), "precious");
  ASSERT_THAT(report->findings, Not(IsEmpty()));
  EXPECT_EQ(report->findings[0].code, "A052");
  EXPECT_EQ(text_of("other"), "text");
}

TEST_F(FlattenTest, NothingIsWrittenThroughALinkOfTheUser) {
  pack("b", several("b", "old"));
  ASSERT_EQ(code("b"), "");
  ASSERT_TRUE(sys::remove_tree(out_ + "/b"));
  write(root_ + "/elsewhere/0", "precious");
  link(out_ + "/b", "../elsewhere");
  EXPECT_EQ(code("b"), "A016");
  pack("b", several("b", "new"));
  EXPECT_EQ(code("b"), "A016");
  EXPECT_THAT(visible(root_ + "/elsewhere"), ElementsAre("0"));
  EXPECT_EQ(*sys::read_file(root_ + "/elsewhere/0"), "precious");
}

TEST_F(FlattenTest, AStateThatNoFetchWroteIsNotBelieved) {
  pack("b", file("new"));
  write(root_ + "/elsewhere/victim", "precious");
  for (const std::string path : {"../elsewhere/victim", "x/../../elsewhere/victim", "/VICTIM", "./../elsewhere/victim",
                                 "..", "", ".quarry-fetch/precious", "x//../../elsewhere/victim", "l/victim"})
    for (
        const std::string form :
        {R"({"artifacts":{"a_lib_generic":{"bytes":1,"complete":true,"entries":["PATH\t1 1 -"],"files":1,"sha256":"","verified":true}},"passing":[],"schema":"quarry.fetch-flat/2"})",
         R"({"artifacts":{},"passing":["PATH"],"schema":"quarry.fetch-flat/2"})",
         R"({"artifacts":{"b_lib_generic":{"bytes":1,"complete":true,"entries":["PATH\t1 1 -"],"files":1,"sha256":"","verified":true}},"passing":[],"schema":"quarry.fetch-flat/2"})",
         R"({"artifacts":{"b_lib_generic":{"bytes":1,"files":1,"paths":["PATH"],"sha256":"","verified":true}},"complete":true,"schema":"quarry.fetch-flat/1"})"}) {
      ASSERT_TRUE(sys::remove_tree(out_));
      write(out_ + "/.quarry-fetch/precious", "precious");
      link(out_ + "/l", root_ + "/elsewhere");
      auto text = text::replace_all(form, "PATH", path == "/VICTIM" ? root_ + "/elsewhere/victim" : path);
      write_state(text);
      EXPECT_EQ(code("b"), "") << text;
      EXPECT_EQ(*sys::read_file(root_ + "/elsewhere/victim"), "precious") << text;
      EXPECT_TRUE(sys::exists(out_ + "/.quarry-fetch/precious")) << text;
      EXPECT_EQ(*sys::read_link(out_ + "/l"), root_ + "/elsewhere") << text;
    }
}

TEST_F(FlattenTest, AHiddenDirectoryThatIsALinkIsRefused) {
  pack("b", file("new"));
  write(root_ + "/elsewhere/staging/precious", "precious");
  link(out_ + "/.quarry-fetch", "../elsewhere");
  for (auto form : {FetchForm::flat, FetchForm::exploded, FetchForm::archives}) {
    auto report = run({.form = form});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, "A051");
  }
  EXPECT_TRUE(sys::exists(root_ + "/elsewhere/staging/precious"));
}

TEST_F(FlattenTest, AKilledMergeIsNeverCalledComplete) {
  pack("c", file("c"));
  for (unsigned nth = 1;; ++nth) {
    ASSERT_TRUE(sys::remove_tree(out_));
    pack("b", several("b", "old") + file("leftover") + file("kind/below") + symlink("link", "b"));
    ASSERT_EQ(code("b"), "");
    pack("b", several("b", "new") + file("kind") + file("link/below"));
    auto killed = sys::testing::killed_at(nth, [&] { (void)flat("b").has_value(); });
    if (!killed) GTEST_SKIP() << "this machine does not let a process be traced";
    ASSERT_EQ(code("c"), "") << nth; // another artifact in between changes nothing
    auto report = flat("b");
    ASSERT_TRUE(report) << nth << report.error().message;
    EXPECT_THAT(report->findings, IsEmpty()) << nth;
    for (int i = 0; i < k_files; ++i) EXPECT_EQ(text_of(fmt::format("b/{}", i)), "new") << nth;
    EXPECT_THAT(visible(), ElementsAre("b/0", "b/1", "b/2", "b/3", "b/4", "b/5", "c", "kind", "link/below")) << nth;
    EXPECT_EQ(flat("b")->artifacts[0].state, State::kept) << nth;
    if (!*killed) {
      EXPECT_GT(nth, 2u * k_files);
      break;
    }
  }
}

TEST_F(FlattenTest, AKilledMergeKeepsItsPathsFromOthers) {
  pack("b", several("b", "old"));
  pack("e", file("b/5", "of e"));
  pack("f", file("b", "of f"));
  for (unsigned nth = 1;; ++nth) {
    ASSERT_TRUE(sys::remove_tree(out_));
    pack("b", several("b", "old"));
    ASSERT_EQ(code("b"), "");
    pack("b", several("b", "new"));
    auto killed = sys::testing::killed_at(nth, [&] { (void)flat("b").has_value(); });
    if (!killed) GTEST_SKIP() << "this machine does not let a process be traced";
    EXPECT_EQ(code("e"), "A015") << nth;
    EXPECT_EQ(code("f"), "A015") << nth;
    EXPECT_NE(text_of("b/5"), "of e");
    if (!*killed) break;
  }
}

TEST_F(FlattenTest, AfterAKilledMergeNoArtifactOwnsThePathsOfAnother) {
  pack("a", file("bin/tool"));
  for (unsigned nth = 1;; ++nth) {
    ASSERT_TRUE(sys::remove_tree(out_));
    pack("b", several("b", "old"));
    ASSERT_EQ(code("a"), "");
    ASSERT_EQ(code("b"), "");
    pack("b", several("b", "new") + file("more"));
    auto killed = sys::testing::killed_at(nth, [&] { (void)flat("b").has_value(); });
    if (!killed) GTEST_SKIP() << "this machine does not let a process be traced";
    ASSERT_EQ(code("b"), "") << nth;
    pack("b", several("b", "newer"));
    EXPECT_EQ(code("b"), "") << nth;
    EXPECT_THAT(visible(), Not(Contains("more"))) << nth;
    EXPECT_EQ(flat("a")->artifacts[0].state, State::kept) << nth;
    if (!*killed) break;
  }
}

TEST_F(FlattenTest, AFileOfOneWhereAnotherNeedsADirectoryIsRefusedBeforeAnyChange) {
  struct Case {
    std::string first, second, what;
  };
  for (const auto& [first, second, what] :
       {Case{file("x"), file("x/y"), "a file, then a directory"},
        {file("x/y"), file("x"), "a directory, then a file"},
        {symlink("x", "lib"), file("x/y"), "a link, then a directory"},
        {file("x/y"), symlink("x", "lib"), "a directory, then a link"},
        {file("x/y/z/file"), file("x"), "a deep directory, then a file"},
        {file("x"), file("x/y/z/file"), "a file, then a deep directory"},
        {tarball::directory("math/stage/x"), file("x"), "an empty directory, then a file"},
        {file("x"), tarball::directory("math/stage/x"), "a file, then an empty directory"}}) {
    ASSERT_TRUE(sys::remove_tree(out_));
    pack("a", file("bin/tool", "of a") + first);
    pack("d", file("d/1") + second);
    pack("e", file("bin/tool", "of e"));
    ASSERT_EQ(code("a"), "") << what;
    auto before = visible();
    auto report = flat("d");
    ASSERT_FALSE(report) << what;
    EXPECT_EQ(report.error().code, "A015") << what;
    EXPECT_THAT(report.error().message, ::testing::AllOf(HasSubstr("a_lib_generic"), HasSubstr("d_lib_generic"),
                                                         HasSubstr("own x"), Not(HasSubstr("hostile"))))
        << what;
    EXPECT_EQ(visible(), before) << what;
    EXPECT_EQ(code("e"), "A015") << what;
    EXPECT_EQ(flat("a")->artifacts[0].state, State::kept) << what;
    EXPECT_EQ(text_of("bin/tool"), "of a") << what;
  }
}

TEST_F(FlattenTest, ANewVersionMayMakeAFileOfADirectoryAndTheReverse) {
  for (const auto& [before, after, seen] :
       {std::tuple{file("x/y/z"), file("x"), "x"},
        {file("x"), file("x/y/z"), "x/y/z"},
        {symlink("x", "lib"), file("x/y"), "x/y"},
        {file("x/y") + tarball::directory("math/stage/x/empty"), symlink("x", "lib"), "x -> lib"}}) {
    ASSERT_TRUE(sys::remove_tree(out_));
    pack("a", before);
    ASSERT_EQ(code("a"), "") << seen;
    pack("a", after);
    ASSERT_EQ(code("a"), "") << seen;
    EXPECT_THAT(visible(), ElementsAre(seen));
    EXPECT_EQ(flat("a")->artifacts[0].state, State::kept) << seen;
  }
}

TEST_F(FlattenTest, ADirectoryWithAFileOfTheUserIsNotReplaced) {
  pack("a", file("x/y", "old"));
  ASSERT_EQ(code("a"), "");
  write(out_ + "/x/mine", "precious");
  pack("a", file("x", "new"));
  EXPECT_EQ(code("a"), "A016");
  EXPECT_EQ(text_of("x/mine"), "precious");
  EXPECT_EQ(text_of("x/y"), "old");
}

TEST_F(FlattenTest, LinksOfSeveralFetchesAreFollowedTogether) {
  pack("a", symlink("d", ".") + symlink("e", "f/../secret"));
  pack("b", symlink("x", "d/../secret"));
  pack("c", symlink("f", "."));
  pack("d", file("D"));
  ASSERT_EQ(code("a"), "");
  for (const auto* name : {"b", "c"}) {
    auto report = flat(name);
    ASSERT_FALSE(report) << name;
    EXPECT_EQ(report.error().code, "A050") << name;
    EXPECT_THAT(report.error().hint, HasSubstr("--flatten"));
    EXPECT_EQ(traits(report.error().kind).exit_code, 7);
  }
  EXPECT_THAT(visible(), ElementsAre("d -> .", "e -> f/../secret"));
  EXPECT_EQ(code("d"), ""); // names that differ by case are two names on Linux
  EXPECT_THAT(visible(), ElementsAre("D", "d -> .", "e -> f/../secret"));
}

TEST_F(FlattenTest, AStateOfAnOlderVersionIsDoneAgainOnce) {
  pack("a", file("x"));
  ASSERT_EQ(code("a"), "");
  auto digest = flat("a")->artifacts[0].digest->hex();
  write_state(fmt::format(R"({{"artifacts":{{"a_lib_generic":{{"bytes":4,"files":1,"paths":["x","gone"],"sha256":"{}",)"
                          R"("verified":true}}}},"complete":true,"schema":"quarry.fetch-flat/1"}})",
                          digest));
  pack("b", file("x"));
  EXPECT_EQ(code("b"), "A015");
  EXPECT_EQ(flat("a")->artifacts[0].state, State::fetched);
  EXPECT_EQ(flat("a")->artifacts[0].state, State::kept);
}

/// Changes of a fetched tree that a later fetch must notice, in both forms.
class ChangedTest : public FlattenTest, public ::testing::WithParamInterface<FetchForm> {
protected:
  Result<FetchReport> again() { return run({.form = GetParam()}); }
  std::string below() const { return GetParam() == FetchForm::flat ? out_ : out_ + "/a_lib_generic/math/stage"; }
};

TEST_P(ChangedTest, IsDoneAgain) {
  pack("a",
       file("bin/tool", "sound") + program("bin/run") + symlink("l", "bin") + tarball::directory("math/stage/empty"));
  ASSERT_EQ(again()->failures(), 0u);
  auto report = *again();
  ASSERT_EQ(report.artifacts[0].state, State::kept);
  EXPECT_FALSE(report.artifacts[0].rehashed);
  using Change = std::function<void(const std::string&)>;
  auto tool = below() + "/bin/tool";
  for (const auto& [what, change] :
       {std::pair<const char*, Change>{"emptied", [&](auto&) { write(tool, ""); }},
        {"other bytes of the same size",
         [&](auto&) {
           write(tool, "wrong");
           touch(tool);
         }},
        {"grown by what another lost",
         [&](auto& at) {
           write(tool, "sound+");
           write(at + "/bin/run", "soun", 0755);
         }},
        {"removed", [&](auto&) { ASSERT_TRUE(sys::remove_file(tool)); }},
        {"not executable any more", [&](auto& at) { ASSERT_EQ(::chmod((at + "/bin/run").c_str(), 0644), 0); }},
        {"a link that leads elsewhere",
         [&](auto& at) {
           ASSERT_TRUE(sys::remove_file(at + "/l"));
           link(at + "/l", "nib");
         }},
        {"a file in place of a link",
         [&](auto& at) {
           ASSERT_TRUE(sys::remove_file(at + "/l"));
           write(at + "/l", "bin");
         }},
        {"an empty directory removed", [&](auto& at) { ASSERT_TRUE(sys::remove_empty_directory(at + "/empty")); }}}) {
    change(below());
    report = *again();
    EXPECT_EQ(report.failures(), 0u) << what;
    EXPECT_EQ(report.artifacts[0].state, State::fetched) << what;
    EXPECT_EQ(*sys::read_file(tool), "sound") << what;
    EXPECT_EQ(*sys::read_link(below() + "/l"), "bin") << what;
    EXPECT_EQ(::access((below() + "/bin/run").c_str(), X_OK), 0) << what;
    EXPECT_EQ(again()->artifacts[0].state, State::kept) << what;
  }
}
INSTANTIATE_TEST_SUITE_P(Forms, ChangedTest, ::testing::Values(FetchForm::flat, FetchForm::exploded));

} // namespace
} // namespace quarry::artifact
