#include "inspect/library_rules.hpp"

#include "inspect/wheel_for_test.hpp"
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LibraryHead, IsJudgedByTheName) {
  using namespace std::string_literals;
  const struct {
    std::string name, head, fault;
  } cases[] = {
      {"x.so", "\177ELF\2\1\1"s, ""},
      {"x.dll", "MZ\x90"s, ""},
      {"x.pyd", "MZ\x90"s, ""},
      {"libx.dylib", "\xCF\xFA\xED\xFE"s, ""},
      {"x.so", "\xCA\xFE\xBA\xBE"s, ""},
      {"x.so", "\0asm\1"s, ""},
      {"libx.so", "/* GNU ld script */\nGROUP ( /lib/libx.so.6 AS_NEEDED ( y.so ) )\n", ""},
      {"libx.so", "INPUT(-lx)", ""},
      {"libx.so", "", "is empty"},
      {"libx.so.1", "libx.so.1.2", "begins with text"},
      {"libx.so", "version 1\nINPUT", "begins with text"},
      {"libx.so", std::string(64, '\0'), "begins with zeros"},
      {"libx.so", "\1\2\3\4", "is not a library of any system"},
      {"libx.so", "MZ\x90"s, "is a Windows file"},
      {"x.dll", "\177ELF\2\1\1"s, "is an ELF file"},
      {"X.DLL", "\xCF\xFA\xED\xFE"s, "is a Mach-O file"},
      {"x.pyd", "INPUT (", ""},
  };
  for (const auto& one : cases) {
    EXPECT_TRUE(is_named_like_library("a/" + one.name)) << one.name;
    EXPECT_EQ(fault_of_library("a/" + one.name, one.head), one.fault) << one.name << " " << one.head;
  }
  for (std::string_view other : {"x.so.py", "so", "x.solar", "x.so.txt", "x.dll.config", "a.so/x"})
    EXPECT_FALSE(is_named_like_library(other)) << other;
}

std::vector<std::string> found_in(std::vector<MachineFile> files) {
  std::vector<std::string> out;
  for (const auto& one : library_findings(made::wheel("linux_x86_64", std::move(files))))
    out.push_back(one.code + " " + one.message.substr(one.message.find(": ") + 2));
  return out;
}

MachineFile with_run_path(const std::string& runpath) { return made::file("x/a.so", made::library({}, runpath)); }

TEST(LibraryRules, RunPaths) {
  using ::testing::ElementsAre;
  EXPECT_THAT(found_in({with_run_path("$ORIGIN/lib:$ORIGIN/../y")}), IsEmpty());
  EXPECT_THAT(found_in({with_run_path("")}), IsEmpty());
  EXPECT_THAT(found_in({with_run_path("$ORIGIN/lib:${ORIGIN}/./lib/:$ORIGIN/lib")}),
              ElementsAre("Q124 `${ORIGIN}/./lib/` (x/a.so)"));
  EXPECT_THAT(found_in({with_run_path("$ORIGIN/$LIB:/opt/${PLATFORM}")}),
              ElementsAre("Q125 `$ORIGIN/$LIB` (x/a.so), `/opt/${PLATFORM}` (x/a.so)"));
}

MachineFile with_build_id(const std::string& member, const std::string& id) {
  auto linking = made::library();
  linking.build_id = "x";
  auto made = made::file(member, linking);
  made.elf->build_id = id;
  return made;
}

TEST(LibraryRules, BuildIds) {
  using ::testing::ElementsAre;
  EXPECT_THAT(found_in({with_build_id("a.so", "01"), with_build_id("b.so", "02")}), IsEmpty());
  EXPECT_THAT(found_in({with_build_id("a.so", "01"), with_build_id("b.so", "01")}), ElementsAre("Q126 a.so = b.so"));
  EXPECT_THAT(found_in({with_build_id("a.so", "")}), ElementsAre("Q127 a.so"));
  auto object = with_build_id("a.o", "");
  object.elf->facts.has_dynamic = false;
  EXPECT_THAT(found_in({object}), IsEmpty());
  auto copies = made::wheel("linux_x86_64", {with_build_id("a.so", "01"), with_build_id("b.so", "01")});
  for (const char* path : {"a.so", "b.so"}) copies.report.record.push_back({path, {}, "sha256", "same", 1});
  EXPECT_THAT(library_findings(copies), IsEmpty());
}

TEST(LibraryRules, FilesThatAreOnlyNamedLikeLibraries) {
  auto wheel = made::wheel("linux_x86_64", {});
  wheel.not_libraries = {{"x/a.so", "is empty"}};
  auto found = library_findings(wheel);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, "Q123");
  EXPECT_THAT(found[0].message, HasSubstr("x/a.so is empty"));
}
} // namespace
} // namespace quarry::inspect
