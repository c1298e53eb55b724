// Each class of damage that editors of ELF files have done in the field, as a fixture that verify() must catch; and no
// finding on what linkers write.
#include "elf/elf_fixtures.hpp"
#include "elf/tables.hpp"
#include "elf/verify.hpp"

#include "sys/tree.hpp"
#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::Contains;
using ::testing::IsEmpty;

std::vector<Section> sections_of(const content::Rope& file) { return image(file).read_sections().value(); }
std::size_t section_index(const content::Rope& file, std::string_view name) {
  auto parsed = image(file);
  auto names = section_names(parsed, sections_of(file)).value();
  auto it = std::find(names.begin(), names.end(), name);
  EXPECT_NE(it, names.end()) << name;
  return static_cast<std::size_t>(it - names.begin());
}
content::Rope with_section(const content::Rope& file, std::string_view name,
                           const std::function<void(Section&)>& change) {
  auto sections = sections_of(file);
  change(sections.at(section_index(file, name)));
  return file.overlay(image(file).header.sections_at, encode(sections));
}
content::Rope with_changed(const content::Rope& file, std::uint32_t type, const std::function<void(Segment&)>& change) {
  auto index = segment_index(file, type);
  auto segment = image(file).segments.at(index);
  change(segment);
  return with_segment(file, index, segment);
}
content::Rope edited(const std::string& path, const std::string& rpath, bool new_segment) {
  Edit e;
  e.rpath = rpath;
  e.new_segment = new_segment;
  return edit(rope(path), e, "fixture").value().file;
}

// The program header table inside the new segment of an S2 edit, where address and offset differ more than in the
// first.
content::Rope with_table_elsewhere() {
  auto file = edited(program(), std::string(2000, 'r'), true);
  auto parsed = image(file);
  auto text = bytes(file);
  auto at = (text.find(std::string(1000, 'r')) + 7) / 8 * 8;
  const auto& last = parsed.segments.back();
  auto segments = parsed.segments;
  for (auto& s : segments)
    if (s.type == PT_PHDR) s.offset = at, s.address = s.physical = last.address + (at - last.offset);
  return file.overlay(at, encode(segments)).overlay(offsetof(Elf64_Ehdr, e_phoff), encode_value(at));
}

content::Rope with_moved_code() {
  auto file = rope(hip_library());
  auto section = sections_of(file).at(section_index(file, ".hip_fatbin"));
  return file.overlay(section.offset, std::string(8, 'x'));
}

struct Damage {
  const char* name;
  std::function<content::Rope()> make;
  const char* code;
};

class VerifyCatches : public ::testing::TestWithParam<Damage> {};
TEST_P(VerifyCatches, Damage) { EXPECT_THAT(error_codes(GetParam().make()), Contains(GetParam().code)); }

INSTANTIATE_TEST_SUITE_P(
    , VerifyCatches,
    ::testing::Values(
        // The nine classes of docs/formats/elf-edit.md.
        Damage{"StrayPhdr",
               [] { return with_changed(rope(program()), PT_PHDR, [](Segment& s) { s.address += 0x7ffff000; }); },
               "E102"},
        Damage{"WritableFirstLoad",
               [] { return with_changed(rope(library()), PT_LOAD, [](Segment& s) { s.flags |= PF_W; }); }, "E104"},
        Damage{"TableWhereOldKernelsMissIt", [] { return with_table_elsewhere(); }, "E105"},
        Damage{"NameOutsideStrings", [] { return with_entry(rope(library()), DT_SONAME, 0x7fffffff); }, "E108"},
        Damage{"SectionOutsideSegment",
               [] { return with_section(rope(library()), ".dynsym", [](Section& s) { s.offset += 0x100; }); }, "E112"},
        Damage{"VersionsOfARenamedLibrary",
               [] {
                 auto file = rope(library());
                 return with_entry(file, DT_NEEDED, *image(file).value(DT_SONAME));
               },
               "E109"},
        Damage{"DeviceCodeMoved", [] { return with_moved_code(); }, "E113"},
        Damage{"InitNotExecutable", [] { return with_entry(rope(library()), DT_INIT, 0x40); }, "E107"},
        Damage{"TableOverSections",
               [] {
                 auto file = rope(library());
                 auto count = static_cast<std::uint16_t>(image(file).header.segment_count + 1);
                 return file.overlay(offsetof(Elf64_Ehdr, e_phnum), encode_value(count));
               },
               "E112"},
        // The rest of the rules.
        Damage{"TableOutsideLoads",
               [] {
                 auto file = rope(library());
                 auto parsed = image(file);
                 auto moved = file;
                 moved.append(content::Rope::literal(encode(parsed.segments)));
                 return moved.overlay(offsetof(Elf64_Ehdr, e_phoff), encode_value(file.size()));
               },
               "E101"},
        Damage{"NoteOutsideLoads",
               [] { return with_changed(rope(library()), PT_NOTE, [](Segment& s) { s.address += 0x1000; }); }, "E101"},
        Damage{"LoadBehindTheEnd",
               [] {
                 auto file = rope(library())
                                 .overlay(offsetof(Elf64_Ehdr, e_shoff), std::string(8, '\0'))
                                 .overlay(offsetof(Elf64_Ehdr, e_shnum), std::string(4, '\0'));
                 return file.slice(0, image(file).dynamic_segment->file_end() + 8);
               },
               "E103"},
        Damage{"LoadsNotCongruent",
               [] {
                 return with_changed(rope(library()), PT_LOAD, [](Segment& s) {
                   s.align = 0x1000;
                   s.address += 8;
                 });
               },
               "E103"},
        Damage{"OddAlignment",
               [] { return with_changed(rope(library()), PT_LOAD, [](Segment& s) { s.align = 0x1234; }); }, "E103"},
        Damage{"LoadsOverlap",
               [] { return with_changed(rope(library()), PT_LOAD, [](Segment& s) { s.memory_size += 1u << 20; }); },
               "E103"},
        Damage{"MoreInFileThanInMemory",
               [] { return with_changed(rope(library()), PT_LOAD, [](Segment& s) { s.memory_size = 64; }); }, "E103"},
        Damage{"NothingToLoad",
               [] {
                 auto file = rope(library());
                 auto segments = image(file).segments;
                 for (auto& s : segments)
                   if (s.type == PT_LOAD) s.type = PT_NULL;
                 return file.overlay(image(file).header.segments_at, encode(segments));
               },
               "E103"},
        Damage{"DynamicReadOnly",
               [] {
                 auto file = rope(library());
                 auto parsed = image(file);
                 auto segments = parsed.segments;
                 for (auto& s : segments)
                   if (s.type == PT_LOAD) s.flags &= ~static_cast<std::uint32_t>(PF_W);
                 return file.overlay(parsed.header.segments_at, encode(segments));
               },
               "E106"},
        Damage{"DynamicSectionElsewhere",
               [] {
                 return with_section(rope(library()), ".dynamic", [](Section& s) { s.offset += 16, s.address += 16; });
               },
               "E106"},
        Damage{"SymbolsOutside", [] { return with_entry(rope(library()), DT_SYMTAB, 0x7fffffff); }, "E107"},
        Damage{"RelocationsOutside", [] { return with_entry(rope(library()), DT_RELASZ, 1u << 30); }, "E107"},
        Damage{"RelocationSize", [] { return with_entry(rope(library()), DT_RELAENT, 0x7fffffffffffffff); }, "E107"},
        Damage{"SymbolSize", [] { return with_entry(rope(library()), DT_SYMENT, 16); }, "E107"},
        Damage{"RelocationsOfThePlt", [] { return with_entry(rope(library()), DT_PLTREL, 0x7fffffffffffffff); },
               "E107"},
        Damage{"HashOutside", [] { return with_entry(rope(library()), DT_GNU_HASH, 1u << 30); }, "E107"},
        Damage{"StringsWithoutEnd",
               [] {
                 auto file = rope(library());
                 return with_entry(file, DT_STRSZ, *image(file).value(DT_STRSZ) - 1);
               },
               "E108"},
        Damage{"SymbolNameOutside",
               [] {
                 auto file = rope(library());
                 auto parsed = image(file);
                 return file.overlay(*parsed.offset_of(*parsed.value(DT_SYMTAB) + 24, 4),
                                     encode_value(std::uint32_t{0x7ffffff0}));
               },
               "E108"},
        Damage{"VersionTableLoops",
               [] {
                 auto file = rope(library());
                 auto parsed = image(file);
                 auto needs = read_version_needs(parsed).value();
                 return file.overlay(needs.at(0).field_at - offsetof(Elf64_Verneed, vn_file) +
                                         offsetof(Elf64_Verneed, vn_next),
                                     encode_value(std::uint32_t{0}));
               },
               "E108"},
        Damage{"RelroElsewhere",
               [] { return with_changed(rope(library()), PT_GNU_RELRO, [](Segment& s) { s.address += 1u << 24; }); },
               "E111"},
        Damage{
            "RelroTooLong",
            [] { return with_changed(rope(library()), PT_GNU_RELRO, [](Segment& s) { s.memory_size += 1u << 20; }); },
            "E111"},
        Damage{"SectionBehindTheEnd",
               [] { return with_section(rope(library()), ".comment", [](Section& s) { s.size = 1u << 30; }); }, "E112"},
        Damage{"SectionsOverlap",
               [] { return with_section(rope(library()), ".rela.dyn", [](Section& s) { s.size += 64; }); }, "E112"},
        Damage{"StringsSectionStale",
               [] { return with_section(rope(library()), ".dynstr", [](Section& s) { s.size -= 8; }); }, "E112"},
        Damage{
            "NoSectionNames",
            [] { return rope(library()).overlay(offsetof(Elf64_Ehdr, e_shstrndx), encode_value(std::uint16_t{999})); },
            "E112"}),
    [](const auto& made) { return std::string(made.param.name); });

TEST(Verify, FixturesAreSound) {
  for (const auto& path : {library(), bare_library(), tight_library(), large_bss_library(), hip_library(), program(),
                           fixed_program(), static_program(), object_file(), loader()})
    EXPECT_THAT(error_codes(rope(path)), IsEmpty()) << path;
}

TEST(Verify, AnExecutableStackIsAWarning) {
  auto findings = verify(with_changed(rope(library()), PT_GNU_STACK, [](Segment& s) { s.flags |= PF_X; }), "x.so");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "E110");
  EXPECT_EQ(findings[0].severity, Severity::warning);
}

TEST(Verify, CollectsABoundedNumberOfFindings) {
  auto file = rope(library());
  auto sections = sections_of(file);
  std::vector<Section> many(2000, sections.at(5));
  auto at = file.size();
  file.append(content::Rope::literal(encode(many)));
  file = file.overlay(offsetof(Elf64_Ehdr, e_shoff), encode_value(at))
             .overlay(offsetof(Elf64_Ehdr, e_shnum), encode_value(std::uint16_t{2000}));
  EXPECT_EQ(verify(file, "x").size(), k_findings_max);
}

// Counts the reads of a file that is in memory.
class Counted final : public content::Source {
public:
  explicit Counted(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads;
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return {};
  }
  mutable std::size_t reads = 0;

private:
  std::string bytes_;
};

std::size_t reads_with_sections(std::uint16_t count) {
  auto file = rope(hip_library());
  auto sections = sections_of(file);
  std::vector<Section> many(count, sections.at(section_index(file, ".hipFatBinSegment")));
  many.at(0) = sections.at(image(file).header.names_index);
  auto at = file.size();
  file.append(content::Rope::literal(encode(many)));
  file = file.overlay(offsetof(Elf64_Ehdr, e_shoff), encode_value(at))
             .overlay(offsetof(Elf64_Ehdr, e_shnum), encode_value(count))
             .overlay(offsetof(Elf64_Ehdr, e_shstrndx), encode_value(std::uint16_t{0}));
  auto source = std::make_shared<Counted>(bytes(file));
  (void)verify(content::Rope::of(source), "x");
  return source->reads;
}

// All relocations were read once for each section called .hipFatBinSegment: 20,000 of them took seven seconds.
TEST(Verify, ReadsRelocationsOnceHoweverManySectionsOfDeviceCodeThereAre) {
  EXPECT_LE(reads_with_sections(20'000), reads_with_sections(2) + 10);
}

TEST(Verify, BoundsTheNumberOfLoadedSegments) {
  auto file = rope(library());
  auto parsed = image(file);
  std::vector<Segment> many(300, *parsed.first(PT_LOAD));
  many.push_back(*parsed.dynamic_segment);
  auto at = file.size();
  file.append(content::Rope::literal(encode(many)));
  file = file.overlay(offsetof(Elf64_Ehdr, e_phoff), encode_value(at))
             .overlay(offsetof(Elf64_Ehdr, e_phnum), encode_value(static_cast<std::uint16_t>(many.size())));
  auto findings = verify(file, "x");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "E001");
  EXPECT_NE(findings[0].message.find("300 PT_LOADs"), std::string::npos) << findings[0].message;
}

// What the distribution's linkers wrote in years must not be called wrong.
TEST(Verify, SystemLibrariesAreSound) {
  auto entries = sys::list_directory("/usr/lib/x86_64-linux-gnu");
  if (!entries) GTEST_SKIP() << "no multiarch directory";
  int count = 0;
  for (const auto& e : *entries) {
    auto file =
        e.type == sys::EntryType::file ? content::Rope::file("/usr/lib/x86_64-linux-gnu/" + e.path) : content::Rope();
    if (!file || !has_magic(*file).value_or(false)) continue;
    EXPECT_THAT(error_codes(*file), IsEmpty()) << e.path;
    ++count;
  }
  RecordProperty("files", count);
  EXPECT_GT(count, 50);
}

} // namespace
} // namespace quarry::elf
