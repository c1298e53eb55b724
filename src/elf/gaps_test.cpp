// E15 as a finding: bytes that no header describes.
#include "elf/elf_fixtures.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> gaps(const content::Rope& file) {
  std::vector<std::string> out;
  for (const auto& finding : verify(file, "x")) out.push_back(finding.code + " " + finding.message);
  return out;
}
content::Rope with_end(const content::Rope& file, const std::string& more) {
  auto out = file;
  out.append(content::Rope::literal(more));
  return out;
}
/// `more` before the section header table, which then stands behind it.
content::Rope with_bytes_before_table(const content::Rope& file, const std::string& more) {
  auto at = image(file).header.sections_at;
  auto out = with_end(file.slice(0, at), more);
  out.append(file.slice(at, file.size() - at));
  return out.overlay(offsetof(Elf64_Ehdr, e_shoff), encode_value(at + more.size()));
}

TEST(Gaps, WhatLinkersWriteHasNone) {
  for (const auto& path : {library(), bare_library(), tight_library(), large_bss_library(), hip_library(), program(),
                           fixed_program(), static_program(), object_file()})
    EXPECT_THAT(gaps(rope(path)), IsEmpty()) << path;
}

TEST(Gaps, AppendedBytes) {
  for (const auto& path : {library(), program(), static_program(), object_file()}) {
    auto file = rope(path);
    auto place = fmt::format("E115 {{}} bytes at {:#x} that no header describes", file.size());
    EXPECT_THAT(gaps(with_end(file, std::string(5000, 'p'))), ElementsAre(fmt::format(fmt::runtime(place), 5000)));
    EXPECT_THAT(gaps(with_end(file, "p")), ElementsAre(fmt::format(fmt::runtime(place), 1)));
    EXPECT_THAT(gaps(with_end(file, std::string(4096, '\0'))), IsEmpty()) << "padding";
    EXPECT_THAT(gaps(with_end(file, std::string(4096, '\0') + "p")),
                ElementsAre(fmt::format(fmt::runtime(place), 4097)));
  }
}

TEST(Gaps, ManyZerosAreNotPadding) {
  auto file = rope(library());
  EXPECT_THAT(gaps(with_end(file, std::string(2u << 20, '\0'))), IsEmpty());
  EXPECT_THAT(gaps(with_end(file, std::string((2u << 20) + 1, '\0'))), ElementsAre(HasSubstr("2097153 bytes at")));
}

TEST(Gaps, BetweenParts) {
  auto file = rope(library());
  auto parsed = image(file);
  std::uint64_t end = 0; // of the section before the table, which begins at a multiple of 8
  auto sections = parsed.read_sections();
  ASSERT_TRUE(sections) << render(sections.error());
  for (const auto& section : *sections)
    if (section.has_bytes()) end = std::max(end, section.offset + section.size);
  auto size = parsed.header.sections_at - end + 64;
  EXPECT_THAT(gaps(with_bytes_before_table(file, std::string(64, 'p'))),
              ElementsAre(fmt::format("E115 {} bytes at {:#x} that no header describes", size, end)));
  EXPECT_THAT(gaps(with_bytes_before_table(file, std::string(64, '\0'))), IsEmpty());
}

TEST(Gaps, WithoutSectionHeadersTheSegmentsDescribe) {
  auto file = rope(library());
  std::uint64_t end = 0;
  for (const auto& segment : image(file).segments)
    if (segment.type == PT_LOAD) end = std::max(end, segment.file_end());
  auto bare = file.slice(0, end)
                  .overlay(offsetof(Elf64_Ehdr, e_shoff), std::string(8, '\0'))
                  .overlay(offsetof(Elf64_Ehdr, e_shnum), std::string(4, '\0'));
  EXPECT_THAT(gaps(bare), IsEmpty());
  EXPECT_THAT(gaps(with_end(bare, "payload of a program")), ElementsAre(HasSubstr("E115 20 bytes at")));
}

TEST(Gaps, AFileOfGapsHasABoundedReport) {
  // A section header table of 4,000 sections of one byte each, 4096 bytes apart, with letters between them.
  constexpr std::size_t k_count = 4000, k_step = 4096;
  std::vector<Section> sections(k_count);
  for (std::size_t i = 1; i < k_count; ++i) {
    sections[i].type = SHT_PROGBITS;
    sections[i].offset = i * k_step;
    sections[i].size = 1;
  }
  auto head = bytes(rope(object_file())).substr(0, sizeof(Elf64_Ehdr));
  auto file = content::Rope::literal(head + std::string(k_count * k_step - head.size(), 'g'));
  file.append(content::Rope::literal(encode(sections)));
  file = file.overlay(offsetof(Elf64_Ehdr, e_shoff), encode_value(std::uint64_t{k_count * k_step}))
             .overlay(offsetof(Elf64_Ehdr, e_shnum), encode_value(static_cast<std::uint16_t>(k_count)));
  EXPECT_EQ(verify(file, "x").size(), 64u);
}

TEST(Gaps, AnEditKeepsThemSilent) {
  auto file = rope(library());
  Edit change;
  change.rpath = "$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib";
  for (bool new_segment : {false, true}) {
    change.new_segment = new_segment;
    auto edited = edit(file, change, "x");
    ASSERT_TRUE(edited) << render(edited.error());
    EXPECT_THAT(gaps(edited->file), IsEmpty()) << edited->strategy;
  }
}

} // namespace
} // namespace quarry::elf
