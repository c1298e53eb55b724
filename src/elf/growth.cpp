#include "elf/growth.hpp"

#include "elf/header_room.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_bss_max =
    1u << 20;                               // zeros that S1 may add to the file; libLLVM has 511 kB, libcublasLt 57 MB
constexpr std::uint64_t k_align_max = 4096; // of sections behind the insertion; they ask for 16 at most
constexpr std::size_t k_spare_entries = 5;  // in a new .dynamic, as GNU ld leaves

constexpr std::uint64_t up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

Unexpected cannot_grow(std::string why) { return fail(ErrorKind::unsupported, "E014", std::move(why)); }

// The file as it will be. Each step below adds its bytes and changes the tables that name them.
struct NewFile {
  std::vector<Segment> segments;
  std::vector<Section> sections;
  std::vector<Dynamic> entries;
  std::uint64_t insert_at = 0, address = 0; // of the first inserted byte, in the file and in memory
  content::Rope inserted;
  std::vector<Layout::Overlay> overlays;
  std::vector<Layout::Copy> copies;
};

NewFile unchanged(const OldFile& old, const Need& need, std::uint64_t insert_at, std::uint64_t address) {
  return {old.image.segments, old.sections, need.entries, insert_at, address, {}, {}, {}};
}

// The dynamic string table of the old file; `place` and `edit` have checked that it is inside the loaded bytes.
struct OldStrings {
  std::uint64_t address = 0, size = 0, offset = 0;
};

OldStrings strings_of(const Image& image) {
  auto address = *image.value(DT_STRTAB), size = *image.value(DT_STRSZ);
  return {address, size, *image.offset_of(address, size)};
}

std::uint64_t memory_end(const std::vector<Segment>& segments) {
  std::uint64_t end = 0;
  for (const auto& s : segments)
    if (s.type == PT_LOAD) end = std::max(end, s.memory_end());
  return end;
}

// The end of the loaded bytes, where S1 and S2 both insert.
Result<std::uint64_t> find_insertion(const OldFile& old) {
  std::uint64_t insert_at = 0;
  const auto& image = old.image;
  for (const auto& s : image.segments) {
    if (s.type != PT_LOAD) continue;
    if (s.file_end() > image.file.size() || s.file_size > s.memory_size) return cannot_grow("a segment is cut off");
    insert_at = std::max(insert_at, s.file_end());
  }
  for (const auto& s : image.segments)
    if (s.file_size && s.file_end() > insert_at) return cannot_grow("a segment is behind the loaded bytes");
  for (std::size_t i = 1; i < old.sections.size(); ++i) {
    const auto& s = old.sections[i];
    if (!s.has_bytes() || s.size == 0) continue;
    if (s.offset < insert_at && insert_at - s.offset < s.size)
      return cannot_grow(fmt::format("section {} is across the end of the loaded bytes", old.names[i]));
    if (s.allocated() && s.offset >= insert_at)
      return cannot_grow(fmt::format("section {} is loaded, but is behind the loaded bytes", old.names[i]));
  }
  const auto& h = image.header;
  auto table_size = std::uint64_t{h.section_count} * h.section_size;
  if (!old.sections.empty() && h.sections_at < insert_at && insert_at - h.sections_at < table_size)
    return cannot_grow("the section header table is across the end of the loaded bytes");
  return insert_at;
}

// ---- steps that S1 and S2 share

std::uint64_t align_inserted(NewFile& file, std::uint64_t step, std::uint64_t base) {
  auto at = up(base + file.inserted.size(), step) - base;
  file.inserted.append(content::Rope::zeros(at - file.inserted.size()));
  return at;
}

void set_entry(std::vector<Dynamic>& entries, std::int64_t tag, std::uint64_t value) {
  for (auto& e : entries)
    if (e.tag == tag) e.value = value;
}

Section* strings_section(std::vector<Section>& sections, std::uint64_t address) {
  for (const auto& s : sections)
    if (s.type == SHT_DYNAMIC && s.link < sections.size() && sections[s.link].address == address)
      return &sections[s.link];
  for (auto& s : sections)
    if (s.type == SHT_STRTAB && s.allocated() && s.address == address) return &s;
  return nullptr;
}

// Dynamic entries and section header say where the string table is now.
void set_strings(NewFile& file, const OldStrings& old, const OldStrings& now) {
  auto* section = strings_section(file.sections, old.address);
  set_entry(file.entries, DT_STRTAB, now.address);
  set_entry(file.entries, DT_STRSZ, now.size);
  if (!section) return;
  section->offset = now.offset;
  section->address = now.address;
  section->size = now.size;
}

void move_strings(NewFile& file, const Image& image, const std::string& appended) {
  auto old = strings_of(image);
  auto at = file.inserted.size();
  file.copies.push_back({old.offset, file.insert_at + at, old.size});
  file.inserted.append(image.file.slice(old.offset, old.size));
  file.inserted.append(content::Rope::literal(appended));
  set_strings(file, old, {file.address + at, old.size + appended.size(), file.insert_at + at});
}

std::string padded_entries(std::vector<Dynamic> entries, std::size_t capacity) {
  entries.resize(capacity);
  return encode(entries);
}

void move_dynamic(NewFile& file, std::uint64_t at, std::size_t capacity) {
  auto size = capacity * sizeof(Elf64_Dyn);
  auto offset = file.insert_at + at, address = file.address + at;
  file.overlays.push_back({offset, padded_entries(file.entries, capacity)});
  for (auto& s : file.segments)
    if (s.type == PT_DYNAMIC) s.offset = offset, s.address = s.physical = address, s.file_size = s.memory_size = size;
  for (auto& s : file.sections)
    if (s.type == SHT_DYNAMIC) s.offset = offset, s.address = address, s.size = size;
}

void place_strings_and_dynamic(NewFile& file, const Image& image, const Need& need) {
  std::uint64_t dynamic_at = 0;
  std::size_t capacity = need.entries.size() + 1 + k_spare_entries;
  if (need.move_dynamic) {
    dynamic_at = align_inserted(file, 8, file.address);
    file.inserted.append(content::Rope::zeros(capacity * sizeof(Elf64_Dyn)));
  }
  if (!need.appended.empty()) move_strings(file, image, need.appended);
  for (const auto& o : need.overwrites) file.overlays.push_back({strings_of(image).offset + o.offset, o.bytes});
  if (need.move_dynamic)
    move_dynamic(file, dynamic_at, capacity);
  else
    file.overlays.push_back({image.dynamic_segment->offset, padded_entries(file.entries, image.dynamic_capacity)});
}

Result<std::uint64_t> tail_align(const std::vector<Section>& sections, std::uint64_t insert_at) {
  std::uint64_t align = 8; // of the section header table
  for (const auto& s : sections)
    if (s.has_bytes() && !s.allocated() && s.offset >= insert_at) align = std::max(align, s.align);
  if (align > k_align_max || (align & (align - 1)))
    return cannot_grow("a section behind the loaded bytes asks for an unusual alignment");
  return align;
}

// Header fields, tables, and the move of everything that is not loaded.
Result<Layout> finish(NewFile file, const Header& header, std::string_view strategy) {
  TRY(auto align, tail_align(file.sections, file.insert_at));
  align_inserted(file, align, 0);
  auto grown = file.inserted.size();
  auto sections_at = header.sections_at;
  if (!file.sections.empty() && sections_at >= file.insert_at) sections_at += grown;
  for (auto& s : file.sections)
    if (!s.allocated() && s.type != SHT_NULL && s.offset >= file.insert_at) s.offset += grown;
  auto& overlays = file.overlays;
  overlays.push_back({offsetof(Elf64_Ehdr, e_phoff), encode_value(header.segments_at)});
  overlays.push_back({offsetof(Elf64_Ehdr, e_shoff), encode_value(sections_at)});
  overlays.push_back({offsetof(Elf64_Ehdr, e_phnum), encode_value(static_cast<std::uint16_t>(file.segments.size()))});
  overlays.push_back({header.segments_at, encode(file.segments)});
  if (!file.sections.empty()) overlays.push_back({sections_at, encode(file.sections)});
  return Layout{std::string(strategy), file.insert_at, std::move(file.inserted), std::move(overlays),
                std::move(file.copies)};
}

// ---- S1: the last segment grows over its .bss, which becomes zeros in the file.

// Returns the index of the last segment, if it can grow.
Result<std::size_t> growable_segment(const std::vector<Segment>& segments, std::uint64_t insert_at, bool dynamic_too) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (segments[i].type == PT_LOAD) index = i;
  const auto& last = segments[index];
  if (last.file_end() != insert_at || last.memory_end() != memory_end(segments))
    return cannot_grow("the last segment is not the last in the file and in memory");
  if (last.flags & PF_X) return cannot_grow("the last segment is executable");
  if (dynamic_too && !(last.flags & PF_W))
    return cannot_grow("the last segment is not writable, and .dynamic must move");
  auto bss = last.memory_size - last.file_size;
  if (bss > k_bss_max) return cannot_grow(fmt::format("the last segment has {} bytes of .bss", bss));
  return index;
}

void give_bytes_to_bss(std::vector<Section>& sections, const Segment& last) {
  for (auto& s : sections) {
    bool bss_section = s.type == SHT_NOBITS && s.allocated() && !(s.flags & SHF_TLS) && s.address >= last.address &&
                       s.address - last.address <= last.memory_size;
    if (!bss_section) continue;
    s.type = SHT_PROGBITS;
    s.offset = last.offset + (s.address - last.address);
  }
}

Result<Layout> grow_last_segment(const OldFile& old, const Need& need) {
  if (need.new_segment) return cannot_grow("a new segment was asked for");
  TRY(auto insert_at, find_insertion(old));
  TRY(auto index, growable_segment(old.image.segments, insert_at, need.move_dynamic));
  const auto last = old.image.segments[index];
  const auto bss = last.memory_size - last.file_size;
  auto file = unchanged(old, need, insert_at, last.address + last.file_size);
  file.inserted.append(content::Rope::zeros(bss));
  give_bytes_to_bss(file.sections, last);
  auto strings = strings_of(old.image);
  bool strings_are_last = strings.offset + strings.size == insert_at && bss == 0 && last.offset <= strings.offset;
  if (!need.move_dynamic && strings_are_last) { // a file edited before: its string table grows where it stands
    file.inserted.append(content::Rope::literal(need.appended));
    set_strings(file, strings, {strings.address, strings.size + need.appended.size(), strings.offset});
    file.overlays.push_back(
        {old.image.dynamic_segment->offset, padded_entries(file.entries, old.image.dynamic_capacity)});
  } else {
    place_strings_and_dynamic(file, old.image, need);
  }
  file.segments[index].file_size += file.inserted.size();
  file.segments[index].memory_size = file.segments[index].file_size;
  return finish(std::move(file), old.image.header, "S1");
}

// ---- S2: a new segment behind all others.

// Takes the range along into the new segment.
void move_range(NewFile& file, const Image& image, const FileRange& range) {
  auto at_end = file.insert_at + file.inserted.size();
  // Same remainder as before, so that every alignment inside holds (unsigned wrap is harmless: 64 divides 2^64).
  auto offset = at_end + (range.begin - at_end) % k_moved_align;
  auto size = range.end - range.begin;
  file.inserted.append(content::Rope::zeros(offset - at_end));
  file.inserted.append(image.file.slice(range.begin, size));
  file.copies.push_back({range.begin, offset, size});
  auto offset_by = offset - range.begin;
  auto old_address = image.first(PT_LOAD)->address + range.begin;
  auto address_by = file.address + (offset - file.insert_at) - old_address;
  for (auto& s : file.segments)
    if (s.type != PT_LOAD && s.type != PT_PHDR && s.file_size && s.offset >= range.begin && s.offset < range.end)
      s.offset += offset_by, s.address += address_by, s.physical += address_by;
  for (auto& s : file.sections)
    if (s.has_bytes() && s.size && s.offset >= range.begin && s.offset < range.end)
      s.offset += offset_by, s.address += address_by;
  for (auto tag : {DT_HASH, DT_GNU_HASH, DT_SYMTAB})
    if (auto value = image.value(tag); value && *value >= old_address && *value - old_address < size)
      set_entry(file.entries, tag, *value + address_by);
}

Result<Layout> add_segment(const OldFile& old, const Need& need) {
  const auto& image = old.image;
  TRY(auto insert_at, find_insertion(old));
  std::uint64_t page = image.header.machine == EM_AARCH64 ? 65536 : 4096; // the largest the kernel may use
  auto end = memory_end(image.segments);
  if (!fits(end, std::uint64_t{1} << 32, std::uint64_t{1} << 46)) return cannot_grow("its addresses leave no room");
  TRY(auto in_the_way, room_for_header(old, insert_at));
  auto file = unchanged(old, need, insert_at, up(end, page) + insert_at % page);
  if (!in_the_way.empty()) move_range(file, image, in_the_way);
  place_strings_and_dynamic(file, image, need);
  std::uint32_t flags = need.move_dynamic ? PF_R | PF_W : PF_R;
  auto size = file.inserted.size();
  file.segments.push_back({PT_LOAD, flags, insert_at, file.address, file.address, size, size, page});
  for (auto& s : file.segments)
    if (s.type == PT_PHDR) s.file_size = s.memory_size = file.segments.size() * sizeof(Elf64_Phdr);
  return finish(std::move(file), image.header, "S2");
}
} // namespace

Result<Layout> grow(const Image& image, const std::vector<Section>& sections, const std::vector<std::string>& names,
                    const Need& need) {
  OldFile old{image, sections, names};
  auto first = grow_last_segment(old, need);
  if (first) return first;
  auto second = add_segment(old, need);
  if (second) return second;
  return fail(
      Error::of(ErrorKind::unsupported, "E014", fmt::format("{} has a shape that cannot be edited safely", image.name))
          .with_detail("last segment  " + first.error().message)
          .with_detail("new segment   " + second.error().message)
          .with_hint("link it again with a longer run path, or without one"));
}

} // namespace quarry::elf
