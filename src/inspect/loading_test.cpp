#include "inspect/loading.hpp"

#include "inspect/wheel_for_test.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {
using made::file;
using made::library;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "wheel file library held_at" for each.
std::vector<std::string> unmet(const std::vector<WheelContents>& wheels) {
  std::vector<const WheelContents*> all;
  for (const auto& wheel : wheels) all.push_back(&wheel);
  std::vector<std::string> out;
  auto search = unmet_needs(all);
  EXPECT_TRUE(search.complete);
  for (const auto& one : search.unmet)
    out.push_back(fmt::format("{} {} {} {}", one.wheel, one.file->member, one.library, one.held_at));
  return out;
}
WheelContents linux_wheel(std::vector<MachineFile> files) { return made::wheel("linux_x86_64", std::move(files)); }

TEST(Loading, RunPathThatCounts) {
  elf::Facts facts;
  EXPECT_THAT(run_path(facts), IsEmpty());
  facts.rpath = "/a:/b";
  EXPECT_THAT(run_path(facts), ElementsAre("/a", "/b"));
  facts.runpath = "$ORIGIN::lib"; // an empty entry is the working directory
  EXPECT_THAT(run_path(facts), ElementsAre("$ORIGIN", "", "lib"));
  facts.runpath = ""; // glibc ignores DT_RPATH beside a DT_RUNPATH
  EXPECT_THAT(run_path(facts), IsEmpty());
}

TEST(Loading, Origin) {
  EXPECT_EQ(from_origin("$ORIGIN", "a/lib"), "a/lib");
  EXPECT_EQ(from_origin("${ORIGIN}/../b", "a/lib"), "a/lib/../b");
  EXPECT_EQ(from_origin("$ORIGINAL/b", "a/lib"), "$ORIGINAL/b");
  EXPECT_EQ(from_origin("/opt/$ORIGIN", "a/lib"), "/opt/$ORIGIN");
  EXPECT_EQ(from_origin("", "a"), "");
}

TEST(Loading, TheLoaderItself) {
  for (const auto* name : {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld64.so.2"}) EXPECT_TRUE(is_loader(name));
  for (const auto* name : {"libc.so.6", "libld-linux.so", "ld-musl-x86_64.so.1"}) EXPECT_FALSE(is_loader(name)) << name;
}

struct Case {
  const char* what;
  std::vector<MachineFile> files;
  std::vector<std::string> expected;
};

TEST(Loading, OneWheel) {
  auto arm = library();
  arm.facts.machine = EM_AARCH64;
  auto plain = library();
  plain.facts.has_dynamic = false;
  auto by_rpath = library({"libb.so"});
  by_rpath.facts.rpath = "$ORIGIN/lib";
  const Case cases[] = {
      {"nothing needed", {file("p/a.so")}, {}},
      {"nowhere", {file("p/a.so", library({"libz.so.1"}))}, {"0 p/a.so libz.so.1 "}},
      {"the loader", {file("p/a.so", library({"ld-linux-x86-64.so.2"}))}, {}},
      {"beside it", {file("p/a.so", library({"libb.so"}, "$ORIGIN")), file("p/libb.so")}, {}},
      {"by DT_RPATH", {file("p/a.so", by_rpath), file("p/lib/libb.so")}, {}},
      {"above, in another directory",
       {file("p/q/a.so", library({"libb.so"}, "$ORIGIN/../../l")), file("l/libb.so")},
       {}},
      {"beside it, without a run path",
       {file("p/a.so", library({"libb.so"})), file("p/libb.so")},
       {"0 p/a.so libb.so p/libb.so"}},
      {"at the top of site-packages", {file("p/a.so", library({"libb.so"}, "$ORIGIN/..")), file("libb.so")}, {}},
      {"for another machine",
       {file("p/a.so", library({"libb.so"}, "$ORIGIN")), file("p/libb.so", arm)},
       {"0 p/a.so libb.so p/libb.so"}},
      {"a file that is not a library",
       {file("p/a.so", library({"libb.so"}, "$ORIGIN")), file("p/libb.so", plain)},
       {"0 p/a.so libb.so "}},
      {"each pair once", {file("p/a.so", library({"libz.so.1", "libz.so.1"}))}, {"0 p/a.so libz.so.1 "}},
      {"of a library of a library, by the first run path",
       {file("p/a.so", library({"libb.so"}, "$ORIGIN/l:$ORIGIN/m")), file("p/l/libb.so", library({"libc.so"})),
        file("p/m/libc.so")},
       {}},
      {"of a library of a library, by its own run path",
       {file("p/a.so", library({"libb.so"}, "$ORIGIN/l")), file("p/l/libb.so", library({"libc.so"}, "$ORIGIN/../m")),
        file("p/m/libc.so")},
       {}},
      {"a circle of libraries",
       {file("p/a.so", library({"b.so", "gone.so"}, "$ORIGIN")), file("p/b.so", library({"a.so"}, "$ORIGIN"))},
       {"0 p/a.so gone.so "}},
  };
  for (const auto& one : cases) EXPECT_EQ(unmet({linux_wheel(one.files)}), one.expected) << one.what;
}

TEST(Loading, WheelsSideBySide) {
  auto base = linux_wheel({file("base/lib/libb.so", library({"libnuma.so.1"}))});
  auto top = linux_wheel({file("top/a.so", library({"libb.so"}, "$ORIGIN/../base/lib"))});
  EXPECT_THAT(unmet({top}), ElementsAre("0 top/a.so libb.so "));
  EXPECT_THAT(unmet({top, base}), ElementsAre("1 base/lib/libb.so libnuma.so.1 "))
      << "named by the wheel that needs it";
  EXPECT_THAT(unmet({}), IsEmpty());
}

TEST(Loading, AManyTimesLinkedTreeEnds) {
  // Each of 60 roots reaches the same 60 libraries, which all need each other: a walk of all paths would never end.
  std::vector<MachineFile> files;
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) names.push_back(fmt::format("lib{}.so", i));
  for (int i = 0; i < 60; ++i) {
    files.push_back(file(fmt::format("p/root{}.so", i), library(names, "$ORIGIN")));
    files.push_back(file("p/" + names[static_cast<std::size_t>(i)], library(names, "$ORIGIN")));
  }
  EXPECT_THAT(unmet({linux_wheel(files)}), IsEmpty());
}

TEST(Loading, TheBoundIsSaid) {
  auto wheel = linux_wheel({file("p/a.so", library({"x.so", "y.so"})), file("p/b.so", library({"z.so"}))});
  const WheelContents* all[] = {&wheel};
  EXPECT_TRUE(unmet_needs(all, 4).complete);
  EXPECT_EQ(unmet_needs(all, 4).unmet.size(), 3u);
  EXPECT_FALSE(unmet_needs(all, 2).complete);
  EXPECT_EQ(unmet_needs(all, 2).unmet.size(), 2u);
}

} // namespace
} // namespace quarry::inspect
