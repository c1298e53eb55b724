#include "elf/header_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::elf {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t k_table_end = 64 + 2 * sizeof(Elf64_Phdr), k_wanted = k_table_end + sizeof(Elf64_Phdr),
                        k_loaded = 4096;

Section section(std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
  Section made;
  made.type = type, made.flags = SHF_ALLOC, made.offset = made.address = offset, made.size = size, made.align = 4;
  return made;
}

Segment segment(std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
  return {type, PF_R, offset, offset, offset, size, size, 4};
}

// A file whose table of two program headers ends at k_table_end; the bytes behind it are zeros.
struct Sample {
  Image image;
  std::vector<Section> sections{Section{}};
  std::vector<std::string> names{""};
  Sample() {
    image.file = content::Rope::zeros(k_loaded);
    image.header.segments_at = 64;
    image.segments = {segment(PT_LOAD, 0, k_loaded), segment(PT_DYNAMIC, 2048, 64)};
  }
  void add(std::string name, Section one) { names.push_back(std::move(name)), sections.push_back(one); }
  Result<FileRange> room() const { return room_for_header({image, sections, names}, k_loaded); }
};

TEST(HeaderRoom, NothingMovesIfTheTableHasSpaceBehindIt) {
  Sample sample;
  sample.add(".text", section(SHT_PROGBITS, k_wanted, 100));
  auto room = sample.room();
  ASSERT_TRUE(room) << render(room.error());
  EXPECT_TRUE(room->empty());
}

TEST(HeaderRoom, NotesAndHashTablesMoveAsAWhole) {
  Sample sample;
  sample.add(".note", section(SHT_NOTE, k_table_end, 100));
  sample.add(".text", section(SHT_PROGBITS, k_table_end + 100, 100));
  auto room = sample.room();
  ASSERT_TRUE(room) << render(room.error());
  EXPECT_EQ(room->begin, k_table_end);
  EXPECT_EQ(room->end, k_table_end + 100);
}

TEST(HeaderRoom, ASegmentOfSeveralNotesMovesWithAllOfThem) {
  Sample sample;
  sample.image.segments[1] = segment(PT_NOTE, k_table_end, 150);
  sample.add(".note.a", section(SHT_NOTE, k_table_end, 60));
  sample.add(".note.b", section(SHT_NOTE, k_table_end + 60, 90));
  auto room = sample.room();
  ASSERT_TRUE(room) << render(room.error());
  EXPECT_EQ(room->end, k_table_end + 150);
}

TEST(HeaderRoom, WhatOthersPointToStays) {
  Sample sample;
  sample.add(".text", section(SHT_PROGBITS, k_table_end + 8, 100));
  auto room = sample.room();
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code, "E014");
  EXPECT_THAT(room.error().message, HasSubstr("section .text follows the program header table and cannot move"));
  // A note of its own could move, but its segment reaches over code.
  Sample reaching;
  reaching.image.segments[1] = segment(PT_NOTE, k_table_end, 150);
  reaching.add(".note", section(SHT_NOTE, k_table_end, 60));
  reaching.add(".text", section(SHT_PROGBITS, k_table_end + 60, 90));
  EXPECT_FALSE(reaching.room());
  Sample aligned;
  aligned.add(".note", section(SHT_NOTE, k_table_end, 60));
  aligned.sections.back().align = 2 * k_moved_align;
  EXPECT_FALSE(aligned.room());
  Sample tls;
  tls.image.segments[1] = segment(PT_TLS, k_table_end, 60);
  tls.add(".note", section(SHT_NOTE, k_table_end, 60));
  room = tls.room();
  ASSERT_FALSE(room);
  EXPECT_THAT(room.error().message, HasSubstr("a segment of type 0x7 follows"));
}

TEST(HeaderRoom, BytesThatNoSectionDescribesAreNotOverwritten) {
  Sample sample;
  sample.add(".text", section(SHT_PROGBITS, k_wanted, 100));
  sample.image.file = content::Rope::zeros(k_loaded).overlay(k_wanted - 1, "x");
  auto room = sample.room();
  ASSERT_FALSE(room);
  EXPECT_THAT(room.error().message, HasSubstr("bytes that no section describes"));
}

TEST(HeaderRoom, TheFirstSegmentMustHoldWhatMoves) {
  Sample sample;
  sample.image.segments[0] = segment(PT_LOAD, 0, k_table_end + 50);
  sample.add(".note", section(SHT_NOTE, k_table_end, 100));
  auto room = sample.room();
  ASSERT_FALSE(room);
  EXPECT_THAT(room.error().message, HasSubstr("the first segment does not hold"));
  Sample stripped;
  stripped.sections.clear();
  EXPECT_FALSE(stripped.room());
}

} // namespace
} // namespace quarry::elf
