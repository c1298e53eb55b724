#include "elf/header_room.hpp"

#include "base/zeros.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
Unexpected no_room(std::string why) { return fail(ErrorKind::unsupported, "E014", std::move(why)); }

// The first byte behind the table that something uses.
std::uint64_t first_used(const OldFile& old, std::uint64_t from, std::uint64_t loaded_end) {
  auto used = loaded_end;
  for (std::size_t i = 1; i < old.sections.size(); ++i) {
    const auto& s = old.sections[i];
    if (s.has_bytes() && s.size && s.offset >= from) used = std::min(used, s.offset);
  }
  for (const auto& s : old.image.segments)
    if (s.type != PT_PHDR && s.file_size && s.offset >= from) used = std::min(used, s.offset);
  return used;
}

bool can_move(const Section& section, const std::string& name) {
  bool kind = section.type == SHT_NOTE || section.type == SHT_GNU_HASH || section.type == SHT_HASH ||
              section.type == SHT_DYNSYM || name == ".interp";
  return kind && section.allocated() && section.align <= k_moved_align;
}

// The end of the sections that begin in the range; its own end if none reaches further.
Result<std::uint64_t> end_of_sections(const OldFile& old, const FileRange& range) {
  auto end = range.end;
  for (std::size_t i = 1; i < old.sections.size(); ++i) {
    const auto& s = old.sections[i];
    if (!s.has_bytes() || s.size == 0 || s.offset < range.begin || s.offset >= end) continue;
    if (!can_move(s, old.names[i]))
      return no_room(fmt::format("section {} follows the program header table and cannot move", old.names[i]));
    end = std::max(end, s.offset + s.size);
  }
  return end;
}

// The same of segments: a PT_NOTE of three notes moves with all of them.
Result<std::uint64_t> end_of_segments(const OldFile& old, const FileRange& range) {
  auto end = range.end;
  for (const auto& s : old.image.segments) {
    if (s.type == PT_LOAD || s.type == PT_PHDR || !s.file_size || s.offset >= end || s.file_end() <= range.begin)
      continue;
    if (s.type != PT_NOTE && s.type != PT_INTERP && s.type != PT_GNU_PROPERTY)
      return no_room(fmt::format("a segment of type {:#x} follows the program header table", s.type));
    if (s.offset < range.begin) return no_room("a segment reaches into the program header table");
    end = std::max(end, s.file_end());
  }
  return end;
}

// Grows the range until it cuts nothing in two.
Result<FileRange> whole_parts(const OldFile& old, FileRange range) {
  for (;;) {
    TRY(auto sections_end, end_of_sections(old, range));
    TRY(auto end, end_of_segments(old, {range.begin, sections_end}));
    if (end == range.end) break;
    range.end = end;
  }
  const auto& first = *old.image.first(PT_LOAD);
  if (first.offset != 0 || first.file_size < range.end)
    return no_room("the first segment does not hold the program header table and what follows it");
  return range;
}
} // namespace

Result<FileRange> room_for_header(const OldFile& old, std::uint64_t loaded_end) {
  const auto& image = old.image;
  const auto table_end = image.header.segments_at + image.segments.size() * sizeof(Elf64_Phdr);
  const auto wanted = table_end + sizeof(Elf64_Phdr);
  if (image.segments.size() + 1 > k_segments_max) return no_room("there are too many segments");
  if (old.sections.empty()) return no_room("without sections it is not known what follows the program header table");
  auto used = first_used(old, table_end, loaded_end);
  TRY(auto bytes, image.read_bytes(table_end, std::min(used, wanted) - table_end));
  if (!zeros::all_zero(bytes)) return no_room("bytes that no section describes stand behind the program header table");
  if (used >= wanted) return FileRange{};
  return whole_parts(old, {used, wanted});
}

} // namespace quarry::elf
