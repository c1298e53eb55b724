#include "elf/elf_fixtures.hpp"

#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Facts, OfALibrary) {
  auto f = facts(rope(library()));
  EXPECT_TRUE(f.is_64);
  EXPECT_EQ(f.type, ET_DYN);
  EXPECT_TRUE(f.is_shared_object());
  EXPECT_FALSE(f.is_program());
  EXPECT_EQ(f.soname, "libplain.so.1");
  EXPECT_EQ(f.runpath, "$ORIGIN/../lib");
  EXPECT_EQ(f.rpath, std::nullopt);
  EXPECT_EQ(f.interpreter, "");
  EXPECT_THAT(f.needed, ElementsAre("libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"));
}

TEST(Facts, OfPrograms) {
  auto pie = facts(rope(program()));
  EXPECT_TRUE(pie.is_program());
  EXPECT_TRUE(pie.pie_flag);
  EXPECT_FALSE(pie.is_shared_object());
  EXPECT_THAT(pie.interpreter, HasSubstr("ld-linux"));
  auto fixed = facts(rope(fixed_program()));
  EXPECT_EQ(fixed.type, ET_EXEC);
  EXPECT_TRUE(fixed.is_program());
}

TEST(Facts, OfFilesWithoutDynamicSection) {
  auto program = facts(rope(static_program()));
  EXPECT_FALSE(program.has_dynamic);
  EXPECT_TRUE(program.is_program());
  auto object = facts(rope(object_file()));
  EXPECT_EQ(object.type, ET_REL);
  EXPECT_FALSE(object.is_shared_object());
}

TEST(Facts, OfALibraryThatNeedsNothing) {
  auto f = facts(rope(bare_library()));
  EXPECT_TRUE(f.is_shared_object());
  EXPECT_TRUE(f.needed.empty());
  EXPECT_EQ(f.soname, std::nullopt);
}

// Its program headers describe another file's bytes: nothing of it may be believed, and it is no error either.
TEST(Facts, OfSeparateDebugInformation) {
  auto path = directory() + "/libplain.debug";
  ASSERT_EQ(run({"objcopy", "--only-keep-debug", library(), path}).exit_code, 0);
  auto f = facts(rope(path));
  EXPECT_FALSE(f.has_dynamic);
  EXPECT_FALSE(f.is_shared_object());
  EXPECT_THAT(error_codes(rope(path)), ElementsAre());
}

TEST(Facts, ProgramOrLibrary) {
  Facts f;
  f.type = ET_DYN;
  f.has_dynamic = true;
  EXPECT_TRUE(f.is_shared_object());
  f.interpreter = "/lib64/ld-linux-x86-64.so.2";
  EXPECT_TRUE(f.is_program());
  f.soname = "libc.so.6"; // libc can be run, but is a library
  EXPECT_TRUE(f.is_shared_object());
  f.pie_flag = true;
  EXPECT_TRUE(f.is_program());
}

TEST(HasMagic, ReadsFourBytes) {
  EXPECT_TRUE(has_magic(content::Rope::literal("\177ELF")).value());
  EXPECT_FALSE(has_magic(content::Rope::literal("\177EL")).value());
  EXPECT_FALSE(has_magic(content::Rope()).value());
  EXPECT_FALSE(has_magic(content::Rope::literal("#!/bin/sh\n")).value());
}

struct FactsRefusal {
  const char* name;
  std::function<content::Rope(content::Rope)> change;
  const char* code;
  const char* says;
};

class FactsRefuse : public ::testing::TestWithParam<FactsRefusal> {};
TEST_P(FactsRefuse, Damage) {
  auto changed = GetParam().change(rope(library()));
  auto result = read_facts(changed, "x.so");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, GetParam().code);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
  EXPECT_FALSE(verify(changed, "x.so").empty());
}

content::Rope patched(const content::Rope& file, std::uint64_t at, std::string text) {
  return file.overlay(at, std::move(text));
}
Segment dynamic_of(const content::Rope& file) { return *image(file).dynamic_segment; }

INSTANTIATE_TEST_SUITE_P(
    , FactsRefuse,
    ::testing::Values(
        FactsRefusal{"NoElf", [](auto) { return content::Rope::literal("MZ this is no ELF file, but long enough"); },
                     "E001", "not an ELF"},
        FactsRefusal{"Empty", [](auto) { return content::Rope(); }, "E001", "ends inside the header"},
        FactsRefusal{"HeaderOnly", [](auto f) { return f.slice(0, 40); }, "E001", "outside"},
        FactsRefusal{"TablesCutOff", [](auto f) { return f.slice(0, 200); }, "E001", "outside"},
        FactsRefusal{"DynamicCutOff", [](auto f) { return f.slice(0, dynamic_of(f).offset + 32); }, "E001", "outside"},
        FactsRefusal{"BigEndian", [](auto f) { return patched(f, EI_DATA, "\2"); }, "E011", "big-endian"},
        FactsRefusal{"UnknownClass", [](auto f) { return patched(f, EI_CLASS, "\7"); }, "E001", "class"},
        FactsRefusal{
            "OddSegmentSize",
            [](auto f) { return patched(f, offsetof(Elf64_Ehdr, e_phentsize), encode_value(std::uint16_t{57})); },
            "E001", "57 bytes each"},
        FactsRefusal{
            "ManySegments",
            [](auto f) { return patched(f, offsetof(Elf64_Ehdr, e_phnum), encode_value(std::uint16_t{65000})); },
            "E001", "65000 program headers"},
        FactsRefusal{"SegmentsFarAway",
                     [](auto f) { return patched(f, offsetof(Elf64_Ehdr, e_phoff), encode_value(UINT64_MAX - 8)); },
                     "E001", "outside"},
        FactsRefusal{"SegmentWraps",
                     [](auto f) {
                       auto s = dynamic_of(f);
                       s.offset = UINT64_MAX - 4;
                       return with_segment(f, segment_index(f, PT_DYNAMIC), s);
                     },
                     "E001", "past the end of the address space"},
        FactsRefusal{"NoEndMark",
                     [](auto f) {
                       auto s = dynamic_of(f);
                       s.file_size = s.memory_size = 32;
                       return with_segment(f, segment_index(f, PT_DYNAMIC), s);
                     },
                     "E001", "no end mark"},
        FactsRefusal{"StringTableNowhere", [](auto f) { return with_entry(f, DT_STRTAB, UINT64_MAX - 10); }, "E001",
                     "string table"},
        FactsRefusal{"StringTableTooLong", [](auto f) { return with_entry(f, DT_STRSZ, UINT64_MAX); }, "E001",
                     "string table"},
        FactsRefusal{"StringOutside", [](auto f) { return with_entry(f, DT_SONAME, 1u << 30); }, "E001",
                     "outside the table"}),
    [](const auto& made) { return std::string(made.param.name); });

} // namespace
} // namespace quarry::elf
