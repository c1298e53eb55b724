#include "elf/growth.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_bss_max =
    1u << 20;                               // zeros that S1 may add to the file; libLLVM has 511 kB, libcublasLt 57 MB
constexpr std::uint64_t k_align_max = 4096; // of sections behind the insertion; they ask for 16 at most
constexpr std::size_t k_spare_entries = 5;  // in a new .dynamic, as GNU ld leaves
constexpr std::uint64_t k_block_align = 64; // the largest alignment that sections taken along ask for is 16

constexpr std::uint64_t up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

// Collects what is inserted; positions are relative to the insertion.
struct Block {
  content::Rope bytes;
  std::uint64_t size() const { return bytes.size(); }
  std::uint64_t align(std::uint64_t step, std::uint64_t base) {
    auto at = up(base + size(), step) - base;
    bytes.append(content::Rope::zeros(at - size()));
    return at;
  }
};

struct Grower {
  const Image& image;
  std::vector<Section> sections;
  const std::vector<std::string>& names;
  Need need;

  std::vector<Segment> segments = image.segments;
  std::uint64_t table_at = image.header.segments_at;
  Layout layout = {};
  Block block = {};
  std::uint64_t insert_at = 0, address = 0;                   // of the first inserted byte
  std::uint64_t moved_begin = 0, moved_end = 0, moved_by = 0; // S2: leading sections taken along, in file offsets

  Unexpected refuse(std::string why) const { return fail(ErrorKind::unsupported, "E014", std::move(why)); }

  // What S1 and S2 both ask of the file.
  Result<void> find_insertion() {
    for (const auto& s : segments) {
      if (s.type != PT_LOAD) continue;
      if (s.file_end() > image.file.size() || s.file_size > s.memory_size) return refuse("a segment is cut off");
      insert_at = std::max(insert_at, s.file_end());
    }
    for (const auto& s : segments)
      if (s.file_size && s.file_end() > insert_at) return refuse("a segment is behind the loaded bytes");
    for (std::size_t i = 1; i < sections.size(); ++i) {
      const auto& s = sections[i];
      if (!s.has_bytes() || s.size == 0) continue;
      if (s.offset < insert_at && insert_at - s.offset < s.size)
        return refuse(fmt::format("section {} is across the end of the loaded bytes", names[i]));
      if (s.allocated() && s.offset >= insert_at)
        return refuse(fmt::format("section {} is loaded, but is behind the loaded bytes", names[i]));
    }
    const auto& h = image.header;
    auto table_size = std::uint64_t{h.section_count} * h.section_size;
    if (!sections.empty() && h.sections_at < insert_at && insert_at - h.sections_at < table_size)
      return refuse("the section header table is across the end of the loaded bytes");
    return {};
  }

  std::uint64_t memory_end() const {
    std::uint64_t end = 0;
    for (const auto& s : segments)
      if (s.type == PT_LOAD) end = std::max(end, s.memory_end());
    return end;
  }

  std::uint64_t strings_address() const { return *image.value(DT_STRTAB); }
  std::uint64_t strings_size() const { return *image.value(DT_STRSZ); }
  std::uint64_t strings_at() const { return *image.offset_of(strings_address(), strings_size()); }

  void set_entry(std::int64_t tag, std::uint64_t value) {
    for (auto& e : need.entries)
      if (e.tag == tag) e.value = value;
  }

  Section* strings_section() {
    for (const auto& s : sections)
      if (s.type == SHT_DYNAMIC && s.link < sections.size() && sections[s.link].address == strings_address())
        return &sections[s.link];
    for (auto& s : sections)
      if (s.type == SHT_STRTAB && s.allocated() && s.address == strings_address()) return &s;
    return nullptr;
  }

  void put_strings(std::uint64_t at) {
    auto* section = strings_section();
    auto size = strings_size() + need.appended.size();
    layout.copies.push_back({strings_at(), insert_at + at, strings_size()});
    block.bytes.append(image.file.slice(strings_at(), strings_size()));
    block.bytes.append(content::Rope::literal(need.appended));
    set_strings(section, insert_at + at, address + at, size);
  }

  void set_strings(Section* section, std::uint64_t offset, std::uint64_t at_address, std::uint64_t size) {
    set_entry(DT_STRTAB, at_address);
    set_entry(DT_STRSZ, size);
    if (!section) return;
    section->offset = offset;
    section->address = at_address;
    section->size = size;
  }

  void place_strings_and_dynamic() {
    std::uint64_t dynamic_at = 0;
    std::size_t capacity = need.entries.size() + 1 + k_spare_entries;
    if (need.move_dynamic) {
      dynamic_at = block.align(8, address);
      block.bytes.append(content::Rope::zeros(capacity * sizeof(Elf64_Dyn)));
    }
    if (!need.appended.empty()) put_strings(block.size());
    for (const auto& o : need.overwrites) layout.overlays.push_back({strings_at() + o.offset, o.bytes});
    if (need.move_dynamic)
      move_dynamic(dynamic_at, capacity);
    else
      layout.overlays.push_back({image.dynamic_segment->offset, padded_entries(image.dynamic_capacity)});
  }

  std::string padded_entries(std::size_t capacity) const {
    auto entries = need.entries;
    entries.resize(capacity);
    return encode(entries);
  }

  void move_dynamic(std::uint64_t at, std::size_t capacity) {
    auto size = capacity * sizeof(Elf64_Dyn);
    layout.overlays.push_back({insert_at + at, padded_entries(capacity)});
    for (auto& s : segments)
      if (s.type == PT_DYNAMIC)
        s.offset = insert_at + at, s.address = s.physical = address + at, s.file_size = s.memory_size = size;
    for (auto& s : sections)
      if (s.type == SHT_DYNAMIC) s.offset = insert_at + at, s.address = address + at, s.size = size;
  }

  Result<std::uint64_t> tail_align() const {
    std::uint64_t align = 8; // of the section header table
    for (const auto& s : sections)
      if (s.has_bytes() && !s.allocated() && s.offset >= insert_at) align = std::max(align, s.align);
    if (align > k_align_max || (align & (align - 1)))
      return refuse("a section behind the loaded bytes asks for an unusual alignment");
    return align;
  }

  // Header fields, tables, and the move of everything that is not loaded.
  Result<Layout> finish(std::string_view strategy) {
    TRY(auto align, tail_align());
    block.align(align, 0);
    auto grown = block.size();
    const auto& h = image.header;
    auto sections_at = h.sections_at;
    if (!sections.empty() && sections_at >= insert_at) sections_at += grown;
    for (auto& s : sections)
      if (!s.allocated() && s.type != SHT_NULL && s.offset >= insert_at) s.offset += grown;
    layout.strategy = strategy;
    layout.insert_at = insert_at;
    layout.inserted = block.bytes;
    layout.overlays.push_back({offsetof(Elf64_Ehdr, e_phoff), encode_value(table_at)});
    layout.overlays.push_back({offsetof(Elf64_Ehdr, e_shoff), encode_value(sections_at)});
    layout.overlays.push_back(
        {offsetof(Elf64_Ehdr, e_phnum), encode_value(static_cast<std::uint16_t>(segments.size()))});
    layout.overlays.push_back({table_at, encode(segments)});
    if (!sections.empty()) layout.overlays.push_back({sections_at, encode(sections)});
    return std::move(layout);
  }

  // ---- S1: the last segment grows over its .bss, which becomes zeros in the file.
  Result<Layout> grow_last_segment() {
    if (need.new_segment) return refuse("a new segment was asked for");
    TRY_DO(find_insertion());
    Segment* last = nullptr;
    for (auto& s : segments)
      if (s.type == PT_LOAD) last = &s;
    if (last->file_end() != insert_at || last->memory_end() != memory_end())
      return refuse("the last segment is not the last in the file and in memory");
    if (last->flags & PF_X) return refuse("the last segment is executable");
    if (need.move_dynamic && !(last->flags & PF_W))
      return refuse("the last segment is not writable, and .dynamic must move");
    auto bss = last->memory_size - last->file_size;
    if (bss > k_bss_max) return refuse(fmt::format("the last segment has {} bytes of .bss", bss));
    address = last->address + last->file_size;
    block.bytes.append(content::Rope::zeros(bss));
    for (auto& s : sections) {
      bool bss_section = s.type == SHT_NOBITS && s.allocated() && !(s.flags & SHF_TLS) && s.address >= last->address &&
                         s.address - last->address <= last->memory_size;
      if (!bss_section) continue;
      s.type = SHT_PROGBITS;
      s.offset = last->offset + (s.address - last->address);
    }
    auto* strings = strings_section();
    bool strings_are_last = strings_at() + strings_size() == insert_at && bss == 0 && last->offset <= strings_at();
    if (!need.move_dynamic && strings_are_last) { // a file edited before: its string table grows where it stands
      block.bytes.append(content::Rope::literal(need.appended));
      set_strings(strings, strings_at(), strings_address(), strings_size() + need.appended.size());
      layout.overlays.push_back({image.dynamic_segment->offset, padded_entries(image.dynamic_capacity)});
    } else {
      place_strings_and_dynamic();
    }
    last->file_size += block.size();
    last->memory_size = last->file_size;
    return finish("S1");
  }

  // ---- S2: a new segment behind all others.
  Result<Layout> add_segment() {
    TRY_DO(find_insertion());
    std::uint64_t page = image.header.machine == EM_AARCH64 ? 65536 : 4096; // the largest the kernel may use
    if (!fits(memory_end(), std::uint64_t{1} << 32, std::uint64_t{1} << 46))
      return refuse("its addresses leave no room");
    address = up(memory_end(), page) + insert_at % page;
    if (auto room = room_for_header(); !room) return fail(std::move(room).error());
    place_strings_and_dynamic();
    std::uint32_t flags = need.move_dynamic ? PF_R | PF_W : PF_R;
    segments.push_back({PT_LOAD, flags, insert_at, address, address, block.size(), block.size(), page});
    for (auto& s : segments)
      if (s.type == PT_PHDR) s.file_size = s.memory_size = segments.size() * sizeof(Elf64_Phdr);
    return finish("S2");
  }

  // The first byte behind the table that something uses.
  std::uint64_t first_used(std::uint64_t from) const {
    auto used = insert_at;
    for (std::size_t i = 1; i < sections.size(); ++i)
      if (sections[i].has_bytes() && sections[i].size && sections[i].offset >= from)
        used = std::min(used, sections[i].offset);
    for (const auto& s : segments)
      if (s.type != PT_PHDR && s.file_size && s.offset >= from) used = std::min(used, s.offset);
    return used;
  }

  Result<void> room_for_header() {
    const auto table_end = table_at + segments.size() * sizeof(Elf64_Phdr);
    const auto wanted = table_end + sizeof(Elf64_Phdr);
    if (segments.size() + 1 > k_segments_max) return refuse("there are too many segments");
    if (sections.empty()) return refuse("without sections it is not known what follows the program header table");
    auto used = first_used(table_end);
    auto free = std::min(used, wanted);
    TRY(auto bytes, image.read_bytes(table_end, free - table_end));
    if (bytes.find_first_not_of('\0') != bytes.npos)
      return refuse("bytes that no section describes stand behind the program header table");
    if (used >= wanted) return {};
    return take_along(used, wanted);
  }

  bool can_move(std::size_t i) const {
    const auto& s = sections[i];
    bool kind = s.type == SHT_NOTE || s.type == SHT_GNU_HASH || s.type == SHT_HASH || s.type == SHT_DYNSYM ||
                names[i] == ".interp";
    return kind && s.allocated() && s.align <= k_block_align;
  }

  // Takes the sections from `begin` on along into the new segment until the table has room up to `wanted`. Whole
  // segments only: a PT_NOTE of three notes moves with all of them.
  Result<void> take_along(std::uint64_t begin, std::uint64_t wanted) {
    auto end = wanted;
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t i = 1; i < sections.size(); ++i) {
        const auto& s = sections[i];
        if (!s.has_bytes() || s.size == 0 || s.offset < begin || s.offset >= end) continue;
        if (!can_move(i))
          return refuse(fmt::format("section {} follows the program header table and cannot move", names[i]));
        if (s.offset + s.size > end) end = s.offset + s.size, grew = true;
      }
      for (const auto& s : segments)
        if (s.type != PT_LOAD && s.type != PT_PHDR && s.file_size && s.offset < end && s.file_end() > begin) {
          if (s.type != PT_NOTE && s.type != PT_INTERP && s.type != PT_GNU_PROPERTY)
            return refuse(fmt::format("a segment of type {:#x} follows the program header table", s.type));
          if (s.offset < begin) return refuse("a segment reaches into the program header table");
          if (s.file_end() > end) end = s.file_end(), grew = true;
        }
    }
    const auto& first = *image.first(PT_LOAD);
    if (first.offset != 0 || first.file_size < end)
      return refuse("the first segment does not hold the program header table and what follows it");
    move_block(begin, end);
    return {};
  }

  void move_block(std::uint64_t begin, std::uint64_t end) {
    // Same remainder as before, so that every alignment inside holds (unsigned wrap is harmless: 64 divides 2^64).
    auto at = block.size() + (begin - (insert_at + block.size())) % k_block_align;
    block.bytes.append(content::Rope::zeros(at - block.size()));
    block.bytes.append(image.file.slice(begin, end - begin));
    layout.copies.push_back({begin, insert_at + at, end - begin});
    auto offset_by = insert_at + at - begin;
    auto old_address = image.first(PT_LOAD)->address + begin;
    auto address_by = address + at - old_address;
    for (auto& s : segments)
      if (s.type != PT_LOAD && s.type != PT_PHDR && s.file_size && s.offset >= begin && s.offset < end)
        s.offset += offset_by, s.address += address_by, s.physical += address_by;
    for (auto& s : sections)
      if (s.has_bytes() && s.size && s.offset >= begin && s.offset < end)
        s.offset += offset_by, s.address += address_by;
    for (auto tag : {DT_HASH, DT_GNU_HASH, DT_SYMTAB})
      if (auto value = image.value(tag); value && *value >= old_address && *value - old_address < end - begin)
        set_entry(tag, *value + address_by);
  }
};
} // namespace

Result<Layout> grow(const Image& image, const std::vector<Section>& sections, const std::vector<std::string>& names,
                    Need need) {
  auto first = Grower{image, sections, names, need}.grow_last_segment();
  if (first) return first;
  auto second = Grower{image, sections, names, std::move(need)}.add_segment();
  if (second) return second;
  return fail(
      Error::of(ErrorKind::unsupported, "E014", fmt::format("{} has a shape that cannot be edited safely", image.name))
          .with_detail("last segment  " + first.error().message)
          .with_detail("new segment   " + second.error().message)
          .with_hint("link it again with a longer run path, or without one"));
}

} // namespace quarry::elf
