// E12: section headers against segments. The loader ignores them, strip and debuggers do not: a section that lies
// outside its segment is what makes `strip` destroy an edited file.
#include "elf/verify.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
struct Range {
  std::uint64_t begin, end;
  std::string_view name; ///< of the subject
};

bool inside_load(const Subject& s, const Section& section) {
  return std::any_of(s.loads.begin(), s.loads.end(), [&](const Segment& l) {
    if (section.address < l.address) return false;
    if (!section.has_bytes()) return fits(section.address - l.address, section.size, l.memory_size);
    return fits(section.address - l.address, section.size, l.file_size) &&
           section.offset - l.offset == section.address - l.address;
  });
}

void verify_overlaps(Subject& s, std::vector<Range> ranges, std::string_view where) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end)
      s.error("E112", fmt::format("{} and {} overlap in {}: what changes one changes the other", ranges[i - 1].name,
                                  ranges[i].name, where));
}

void verify_section(Subject& s, std::size_t i) {
  const auto& section = s.sections[i];
  if (section.has_bytes() && !fits(section.offset, section.size, s.image.file.size()))
    return s.error("E112", fmt::format("section {} ({}) reaches past the end of the file", i, s.names[i]));
  if (!fits(section.address, section.size, UINT64_MAX))
    return s.error("E112", fmt::format("section {} ({}) reaches past the end of the address space", i, s.names[i]));
  bool thread_local_bss = section.type == SHT_NOBITS && (section.flags & SHF_TLS);
  if (!s.loads.empty() && section.allocated() && section.size && !thread_local_bss && !inside_load(s, section))
    s.error("E112", fmt::format("section {} ({}) is in memory by its header and lies in no segment that is loaded: "
                                "`strip` would destroy the file",
                                i, s.names[i]));
}

void verify_against_dynamic(Subject& s) {
  auto strings = s.image.value(DT_STRTAB), symbols = s.image.value(DT_SYMTAB);
  auto strings_size = s.image.value(DT_STRSZ).value_or(0);
  for (std::size_t i = 0; i < s.sections.size(); ++i) {
    const auto& section = s.sections[i];
    if (section.type == SHT_DYNSYM && symbols && section.address != *symbols)
      s.error("E112", fmt::format("section {} ({}) and DT_SYMTAB name different places of the symbols: the loader "
                                  "takes one, debuggers the other",
                                  i, s.names[i]));
    if (section.type != SHT_DYNAMIC || !strings || section.link >= s.sections.size()) continue;
    const auto& table = s.sections[section.link];
    if (table.address != *strings || table.size != strings_size || !table.allocated() || table.type != SHT_STRTAB ||
        !section.allocated())
      s.error("E112", "the section .dynstr and DT_STRTAB name different places of the strings: the loader takes one, "
                      "debuggers the other");
  }
}
} // namespace

void verify_sections(Subject& s) {
  if (s.sections.empty()) return;
  const auto& h = s.image.header;
  if (h.names_index >= s.sections.size()) s.error("E112", "the section name table does not exist");
  std::vector<Range> in_file, in_memory;
  auto header_size = h.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  in_file.push_back({0, header_size, "the ELF header"});
  if (h.segment_count)
    in_file.push_back(
        {h.segments_at, h.segments_at + std::uint64_t{h.segment_count} * h.segment_size, "the program header table"});
  in_file.push_back(
      {h.sections_at, h.sections_at + std::uint64_t{h.section_count} * h.section_size, "the section header table"});
  for (std::size_t i = 1; i < s.sections.size(); ++i) {
    const auto& section = s.sections[i];
    verify_section(s, i);
    if (section.type == SHT_NULL || section.size == 0) continue;
    if (section.has_bytes() && fits(section.offset, section.size, s.image.file.size()))
      in_file.push_back({section.offset, section.offset + section.size, s.names[i]});
    bool thread_local_bss = section.type == SHT_NOBITS && (section.flags & SHF_TLS);
    if (!s.loads.empty() && section.allocated() && !thread_local_bss && fits(section.address, section.size, UINT64_MAX))
      in_memory.push_back({section.address, section.address + section.size, s.names[i]});
  }
  verify_overlaps(s, std::move(in_file), "the file");
  verify_overlaps(s, std::move(in_memory), "memory");
  if (s.image.dynamic_segment) verify_against_dynamic(s);
}

} // namespace quarry::elf
