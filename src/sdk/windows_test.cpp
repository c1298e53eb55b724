#include "sdk/windows.hpp"

#include "pe/pe_forge_for_test.hpp"
#include "sdk/devel.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

SourceEntry file(std::string bytes) {
  auto size = bytes.size();
  return {sys::EntryType::file, size, false, "", content::Rope::literal(std::move(bytes)), "place", "a_lib_generic"};
}
SourceEntry windows_link(std::string to) {
  return {sys::EntryType::symlink, 0, false, std::move(to), {}, "", "a_lib_generic"};
}
SourceEntry windows_directory() { return {sys::EntryType::directory, 0, false, "", {}, "", "a_lib_generic"}; }
SourceEntry dll(const std::vector<std::string>& imports = {}) { return file(pe::testing::forged_dll(imports)); }

SourceEntry windows_program(const std::vector<std::string>& imports) {
  auto bytes = pe::testing::forged_dll(imports);
  pe::testing::put<std::uint16_t>(bytes, pe::testing::k_pe_at + 22, 0x22);
  return file(bytes);
}

std::vector<std::string> windows_codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const auto& f : findings) out.push_back(f.code);
  return out;
}

struct Planned {
  Population population;
  Findings findings;
};

Planned plan(std::map<std::string, SourceEntry> entries) {
  View view;
  view.entries = std::move(entries);
  Planned out;
  auto population = populate_windows(view, {{}, {}, "pkg", "_pkg"}, out.findings);
  EXPECT_TRUE(population);
  if (population) out.population = std::move(*population);
  return out;
}

TEST(Windows, LinksBecomeCopiesAndNothingIsEdited) {
  auto made = plan({{"bin", windows_directory()},
                    {"bin/clang.exe", windows_program({})},
                    {"bin/clang++.exe", windows_link("clang.exe")},
                    {"bin/a.dll", dll()},
                    {"bin/gone.dll", windows_link("missing.dll")},
                    {"dir", windows_link("bin")}});
  EXPECT_THAT(made.findings, IsEmpty());
  EXPECT_EQ(made.population.files.size(), 3u);
  EXPECT_EQ(made.population.files.at("bin/clang++.exe").data.size(),
            made.population.files.at("bin/clang.exe").data.size());
  EXPECT_TRUE(made.population.files.at("bin/clang.exe").executable);
  EXPECT_FALSE(made.population.files.at("bin/a.dll").executable);
  EXPECT_THAT(made.population.libraries, ElementsAre("bin/a.dll"));
  EXPECT_EQ(made.population.dropped_links, 2u);
  EXPECT_EQ(made.population.launchers + made.population.elf_edits + made.population.aliases.size(), 0u);
}

TEST(Windows, DllsMustBeWhereWindowsLooks) {
  auto made = plan({{"bin/core.dll", dll()},
                    {"lib/llvm/bin/llvm.dll", dll({"CORE.DLL", "KERNEL32.dll"})}, // bin is searched, without case
                    {"bin/uses.dll", dll({"llvm.dll"})},
                    {"lib/llvm/bin/tool.exe", windows_program({"core.dll"})}, // a program's own directory only
                    {"lib/llvm/bin/good.exe", windows_program({"llvm.dll"})}});
  EXPECT_THAT(made.findings,
              UnorderedElementsAre(
                  AllOf(Field(&Finding::code, "S029"), Field(&Finding::place, "pkg!bin/uses.dll"),
                        Field(&Finding::severity, Severity::warning)),
                  AllOf(Field(&Finding::code, "S029"), Field(&Finding::message, HasSubstr("needs core.dll")))));
}

struct Refused {
  const char *path, *bytes, *code;
};

class WindowsRefusal : public testing::TestWithParam<Refused> {};

TEST_P(WindowsRefusal, NamesTheFile) {
  auto made = plan({{GetParam().path, file(GetParam().bytes)}});
  EXPECT_THAT(windows_codes(made.findings), ElementsAre(GetParam().code));
  EXPECT_THAT(made.findings[0].place, HasSubstr(GetParam().path));
}

INSTANTIATE_TEST_SUITE_P(Table, WindowsRefusal,
                         testing::Values(Refused{"bin/a.dll", "this is text", "S037"}, Refused{"bin/A.DLL", "", "S037"},
                                         Refused{"bin/a.exe", "#!/bin/sh", "S037"}, Refused{"lib/a.pyd", "x", "S037"},
                                         Refused{"bin/a.dll", "MZ", "J001"}, Refused{"lib/a.lib", "!<thin>\n", "S034"},
                                         Refused{"lib/a.lib", "", "S034"}, Refused{"bin/nul.txt", "", "S035"},
                                         Refused{"bin/COM1", "", "S035"}, Refused{"bin/a:b", "", "S035"},
                                         Refused{"x/end.", "", "S035"}));

TEST(Windows, NamesThatOnlyLookReserved) {
  EXPECT_THAT(plan({{"bin/console", file("")}, {"com0.txt", file("")}, {"lpt", file("")}, {"nula", file("")}}).findings,
              IsEmpty());
}

TEST(Windows, AnotherProcessor) {
  auto bytes = pe::testing::forged_dll();
  pe::testing::put<std::uint16_t>(bytes, pe::testing::k_pe_at + 4, 0xaa64);
  auto made = plan({{"bin/a.dll", file(bytes)}});
  EXPECT_THAT(windows_codes(made.findings), ElementsAre("S028"));
  EXPECT_THAT(made.findings[0].message, HasSubstr("ARM64"));
}

TEST(Windows, CaseClashesNameBothArtifacts) {
  auto other = file("");
  other.artifact = "b_lib_generic";
  auto made = plan({{"Include/a.h", file("")}, {"include/b.h", other}});
  EXPECT_THAT(windows_codes(made.findings), ElementsAre("S033"));
  EXPECT_THAT(made.findings[0].message, AllOf(HasSubstr("a_lib_generic"), HasSubstr("b_lib_generic")));
  EXPECT_THAT(windows_codes(plan({{"x/A.h", file("")}, {"x/a.h", file("")}}).findings), ElementsAre("S033"));
}

TEST(Windows, LengthsAreWhatWindowsCounts) {
  EXPECT_EQ(utf16_length("abc"), 3u);
  EXPECT_EQ(utf16_length("a\u00e9\u4e2d"), 3u);
  EXPECT_EQ(utf16_length("\U0001F600"), 2u);
}

struct Length {
  std::size_t directory, file; ///< characters of each
  const char* found;           ///< "", "warning", "error"
};

class WindowsLength : public testing::TestWithParam<Length> {};

TEST_P(WindowsLength, IsJudgedByWhatIsLeft) {
  auto [directory, name, found] = GetParam();
  Findings findings;
  check_windows_lengths({std::string(directory, 'd') + "/" + std::string(name, 'f')}, "pkg", findings);
  if (std::string_view(found).empty()) {
    EXPECT_THAT(findings, IsEmpty());
  } else {
    ASSERT_THAT(windows_codes(findings), ElementsAre("S032"));
    EXPECT_EQ(to_string(findings[0].severity), found);
  }
}

// 259 characters in all: 171 below a usual site-packages, 256 below C:\. A directory leaves 12 for a name.
INSTANTIATE_TEST_SUITE_P(Table, WindowsLength,
                         testing::Values(Length{100, 70, ""}, Length{100, 71, "warning"}, Length{159, 1, ""},
                                         Length{160, 1, "warning"}, Length{100, 155, "warning"},
                                         Length{100, 156, "error"}, Length{245, 1, "error"}));

TEST(Windows, OneFindingForManyLongPaths) {
  Findings findings;
  check_windows_lengths({std::string(300, 'a'), std::string(320, 'b'), std::string(200, 'c')}, "pkg", findings);
  ASSERT_THAT(windows_codes(findings), ElementsAre("S032", "S032"));
  EXPECT_EQ(findings[0].place, "pkg!" + std::string(320, 'b'));
  EXPECT_THAT(findings[0].message, HasSubstr("320 characters, and 256 are left; 1 more"));
}

TEST(Windows, DevelIsCheckedAndKeepsItsLinks) {
  View view;
  view.entries = {{"bin/test.exe", file("no program")},
                  {"include/a.h", file("")},
                  {"inc", windows_link("include")},
                  {"include", windows_directory()}};
  Findings findings;
  PopulateOptions options{{}, {}, "devel", "_devel", true};
  auto tree = plan_devel(view, {}, options, findings);
  ASSERT_TRUE(tree);
  EXPECT_THAT(windows_codes(findings), ElementsAre("S037"));
  EXPECT_EQ(tree->links.at("inc"), "include");
}

} // namespace
} // namespace quarry::sdk
