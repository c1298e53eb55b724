#include "sdk/view.hpp"

#include "pe/pe_forge_for_test.hpp"
#include "sdk/devel.hpp"
#include "sdk/dist_info.hpp"
#include "sdk/populate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

using testing::ElementsAre;
using testing::Pair;

SourceEntry view_directory() { return {sys::EntryType::directory, 0, false, "", {}, "", "a_lib_generic"}; }
SourceEntry file() { return {sys::EntryType::file, 0, false, "", {}, "", "a_lib_generic"}; }
SourceEntry view_link(std::string to) {
  return {sys::EntryType::symlink, 0, false, std::move(to), {}, "", "a_lib_generic"};
}

std::vector<std::string> view_codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const auto& f : findings) out.push_back(f.code);
  return out;
}

View sample() {
  View v;
  v.entries = {
      {"lib", view_directory()},       {"lib/real.txt", file()},          {"lib/one", view_link("real.txt")},
      {"lib/two", view_link("one")},   {"lib64", view_link("lib")},       {"up", view_link("lib64/two")},
      {"out", view_link("../x")},      {"abs", view_link("/etc/passwd")}, {"gone", view_link("lib/missing")},
      {"loop-a", view_link("loop-b")}, {"loop-b", view_link("loop-a")},   {"deep", view_link("lib/../lib/./one")}};
  return v;
}

TEST(View, ResolvesLinksLikeTheKernel) {
  auto v = sample();
  EXPECT_EQ(v.resolve("lib/two"), "lib/real.txt");
  EXPECT_EQ(v.resolve("lib64/one"), "lib/real.txt");
  EXPECT_EQ(v.resolve("up"), "lib/real.txt");
  EXPECT_EQ(v.resolve("deep"), "lib/real.txt");
  EXPECT_EQ(v.resolve("lib64"), "lib");
}

TEST(View, NothingOutsideTheTreeIsFollowed) {
  auto v = sample();
  for (const char* path : {"out", "abs", "gone", "loop-a", "loop-b", "lib/none"})
    EXPECT_EQ(v.resolve(path), std::nullopt) << path;
}

TEST(RunPath, GoesUpToSitePackagesAndRepeatsNothing) {
  Edges edges{"_libraries", {"_rocm_sdk_core/lib/llvm/lib"}};
  EXPECT_EQ(run_path_for("lib/libx.so", "", edges), "$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib");
  EXPECT_EQ(run_path_for("lib/llvm/bin/clang", "$ORIGIN/../lib", edges),
            "$ORIGIN/../lib:$ORIGIN/../../../../_rocm_sdk_core/lib/llvm/lib");
  EXPECT_EQ(run_path_for("top", "a::a:b", {"_core", {"p/q", "p/q"}}), "a:b:$ORIGIN/../p/q");
}

// A package's edges lead into its own tree, too, and a file's own run path often leads there already.
TEST(RunPath, DoesNotRepeatADirectoryInAnotherSpelling) {
  Edges edges{"_core", {"_core/lib/llvm/lib", "_core/lib", "_other/lib"}};
  EXPECT_EQ(run_path_for("lib/llvm/bin/clang", "$ORIGIN/../lib", edges),
            "$ORIGIN/../lib:$ORIGIN/../../../../_core/lib:$ORIGIN/../../../../_other/lib");
  EXPECT_EQ(run_path_for("lib/x.so", "$ORIGIN:$ORIGIN/.:$ORIGIN/../lib/:$ORIGIN/llvm//lib", edges),
            "$ORIGIN:$ORIGIN/llvm//lib:$ORIGIN/../../_other/lib");
  EXPECT_EQ(run_path_for("top.so", "$ORIGIN", edges),
            "$ORIGIN:$ORIGIN/../_core/lib/llvm/lib:$ORIGIN/../_core/lib:$ORIGIN/../_other/lib");
}

TEST(RunPath, LeadsToWhatThePackageHolds) {
  Holders holds{{"liba.so.1", {"lib"}}, {"libb.so", {"lib/x", "other"}}};
  auto missing = [&](const std::string& file, const std::string& run_path) {
    return missing_directories(file, {"liba.so.1", "libb.so", "libc.so.6"}, run_path, "_core", holds);
  };
  EXPECT_THAT(missing("lib/libz.so", ""), ElementsAre("$ORIGIN", "$ORIGIN/x"));
  EXPECT_THAT(missing("bin/tool", "$ORIGIN/../lib"), ElementsAre("$ORIGIN/../lib/x"));
  EXPECT_THAT(missing("bin/tool", "$ORIGIN/../../_core/lib:$ORIGIN/../other"), ElementsAre());
  EXPECT_THAT(missing("other/tool", "/abs/lib"), ElementsAre("$ORIGIN/../lib", "$ORIGIN"));
}

TEST(Populate, LinksToTextBecomeCopiesAndDirectoryLinksAreDropped) {
  auto v = sample();
  Findings findings;
  auto population = populate(v, {{}, {}, "pkg", "_pkg"}, findings);
  ASSERT_TRUE(population);
  EXPECT_TRUE(population->files.contains("lib/one"));
  EXPECT_TRUE(population->files.contains("up"));
  EXPECT_FALSE(population->files.contains("lib64"));
  EXPECT_EQ(population->dropped_links, 6u); // lib64, out, abs, gone, and the two of the loop
  EXPECT_THAT(view_codes(findings), ElementsAre("S045", "S045"));
}

TEST(Devel, LinksIntoSiblingsAndKeepsWhatLeadsSomewhere) {
  auto v = sample();
  Population core;
  core.files["lib/real.txt"] = {};
  core.aliases["lib/one"] = "lib/real.txt";
  Findings findings;
  auto tree = plan_devel(v, {{"_core", &core}}, {{}, {}, "devel", "_devel"}, findings);
  ASSERT_TRUE(tree);
  EXPECT_THAT(tree->links, ElementsAre(Pair("deep", "lib/real.txt"), Pair("lib/one", "real.txt"),
                                       Pair("lib/real.txt", "../../_core/lib/real.txt"), Pair("lib/two", "one"),
                                       Pair("lib64", "lib"), Pair("up", "lib64/two")));
  EXPECT_TRUE(tree->files.empty());
  EXPECT_EQ(tree->dropped_links, 3u);
  EXPECT_THAT(view_codes(findings), ElementsAre("S023", "S023", "S045", "S045", "S023"));
}

TEST(Devel, LinksAreWrittenAsTheRuntimeTakesThem) {
  struct Case {
    const char *link, *target, *end, *plain;
  };
  for (const auto& [link, target, end, plain] : {Case{"include/x", "hip", "include/hip", "hip"},
                                                 {"include/x", "./hip", "include/hip", "hip"},
                                                 {"include/x", "hip//a/", "include/hip/a", "hip/a"},
                                                 {"include/x", "hip/.", "include/hip", "hip"},
                                                 {"include/x", ".//../lib", "lib", "../lib"},
                                                 {"include/x", ".", "include", "../include"},
                                                 {"include/hip/x", "..", "include", "../../include"},
                                                 {"a/b/c/x", "../..", "a", "../../../a"},
                                                 {"include/x", "hip/../hip", "include/hip", "hip"},
                                                 {"include/x", "../lib/../bin/y", "bin/y", "../bin/y"},
                                                 {"x", "./lib", "lib", "lib"}})
    EXPECT_EQ(plain_target(link, target, end), plain) << link << " -> " << target;
}

TEST(Names, ThatAreOneElsewhereAreFindings) {
  View v;
  v.entries = {{"Include", view_directory()},
               {"include", view_directory()},
               {"include/a.h", file()},
               {"Include/A.h", file()},
               {"a\nb", file()}};
  Findings findings;
  check_names(v, "devel", findings);
  ASSERT_THAT(view_codes(findings), ElementsAre("S047", "S047"));
  EXPECT_EQ(findings[0].place, "devel!a\\x0ab");
  EXPECT_EQ(findings[1].message,
            "and Include/A.h are one name on Windows and macOS (from a_lib_generic and a_lib_generic)");
}

SourceEntry holding(std::string bytes) {
  auto size = bytes.size();
  return {sys::EntryType::file, size, false, "", content::Rope::literal(std::move(bytes)), "", "a_lib_generic"};
}

TEST(Populate, FilesThatCannotBeMeant) {
  auto dll = holding(pe::testing::forged_dll({}));
  struct Case {
    std::map<std::string, SourceEntry> entries;
    std::vector<std::string> codes;
  };
  for (const auto& [entries, expected] :
       {Case{{{"bin/a.dll", dll}, {"bin/b.dll", dll}}, {"S036"}}, // the artifacts of Windows
        {{{"lib/libempty.so", file()}}, {"S020"}},
        {{{"lib/empty.txt", file()}, {"lib/empty.a", file()}}, {}}}) {
    View v;
    v.entries = entries;
    Findings findings;
    ASSERT_TRUE(populate(v, {{}, {}, "pkg", "_pkg"}, findings));
    EXPECT_EQ(view_codes(findings), expected);
  }
}

TEST(DistInfo, NothingEndsTheQuotes) {
  EXPECT_EQ(python_quote("plain"), "\"plain\"");
  EXPECT_EQ(python_quote("a\"; import os #\\"), "\"a\\\"; import os #\\\\\"");
  EXPECT_EQ(python_quote("line\nbreak"), "\"line\\x0abreak\"");
  EXPECT_EQ(python_quote("\xff"), "\"\\xff\"");
  EXPECT_EQ(python_texts({"a", "b"}), "[\"a\", \"b\"]");
  EXPECT_EQ(python_dict({{"k", python_bool(true)}}), "{\"k\": True}");
}

} // namespace
} // namespace quarry::sdk
