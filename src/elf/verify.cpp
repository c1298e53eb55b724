#include "elf/verify.hpp"

#include "elf/elf.hpp"
#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_page = 4096; // x86-64, and the smallest of aarch64
constexpr std::uint64_t page_down(std::uint64_t value) { return value & ~(k_page - 1); }
constexpr std::uint64_t page_up(std::uint64_t value) { return page_down(value + k_page - 1); }

const Segment* load_of(const Subject& s, std::uint64_t offset, std::uint64_t size) {
  auto it = std::find_if(s.loads.begin(), s.loads.end(), [&](const Segment& l) {
    return offset >= l.offset && fits(offset - l.offset, size, l.file_size);
  });
  return it == s.loads.end() ? nullptr : &*it;
}

void verify_load(Subject& s, std::size_t i) {
  const auto& load = s.loads[i];
  if (!fits(load.offset, load.file_size, s.image.file.size()))
    s.error("E103", fmt::format("PT_LOAD {} reaches past the end of the file", i));
  if (load.file_size > load.memory_size)
    s.error("E103", fmt::format("PT_LOAD {} has more bytes in the file than in memory", i));
  if (load.align > 1 && !std::has_single_bit(load.align))
    s.error("E103", fmt::format("PT_LOAD {} has the alignment {:#x}, which is not a power of two", i, load.align));
  else if (load.align > 1 && (load.address - load.offset) % load.align != 0)
    s.error("E103", fmt::format("PT_LOAD {} is at {:#x} in memory and {:#x} in the file: not congruent modulo {:#x}", i,
                                load.address, load.offset, load.align));
  if (s.is_host() && load.file_size && (load.address - load.offset) % k_page != 0)
    s.error("E103", fmt::format("PT_LOAD {} cannot be mapped: address {:#x} and offset {:#x} differ within a page", i,
                                load.address, load.offset));
  if (i == 0) return;
  const auto& before = s.loads[i - 1];
  if (load.address < before.address)
    s.error("E103", fmt::format("PT_LOAD {} is below the one before it", i));
  else if (load.address < before.memory_end())
    s.error("E103", fmt::format("PT_LOAD {} overlaps the one before it", i));
  else if (s.is_host() && before.memory_size && page_down(load.address) < page_up(before.memory_end()) &&
           load.memory_size)
    s.error("E103",
            fmt::format("PT_LOAD {} shares a page with the one before it: mapping it would overwrite that page", i));
}
} // namespace

void Subject::add(std::string_view code, Severity severity, std::string message) {
  if (findings.size() < k_findings_max)
    findings.push_back({std::string(code), severity, image.name, std::move(message), {}});
}

void verify_loads(Subject& s) {
  if (s.loads.empty()) return s.error("E103", "there is no PT_LOAD: nothing could be mapped");
  for (std::size_t i = 0; i < s.loads.size(); ++i) verify_load(s, i);
  if (!s.is_host()) return;
  const auto& first = s.loads.front();
  if (first.offset != 0 || first.file_size < sizeof(Elf64_Ehdr))
    s.error("E104", "the first PT_LOAD does not hold the ELF header");
  if (first.flags & PF_W) s.error("E104", "the first PT_LOAD is writable: the kernel of EL8 (4.18) crashes in execve");
}

namespace {
void verify_table_place(Subject& s) {
  const auto& h = s.image.header;
  auto size = std::uint64_t{h.segment_count} * h.segment_size;
  const auto* holder = load_of(s, h.segments_at, size);
  if (!holder) return s.error("E101", "the program header table is not inside a PT_LOAD");
  const auto& first = s.loads.front();
  // Kernels before 5.18 compute AT_PHDR from the first PT_LOAD (fs/binfmt_elf.c).
  if (s.is_program() && holder->address - holder->offset != first.address - first.offset)
    s.error("E105", "the program header table would be looked for at a wrong address by kernels before 5.18 (EL8)");
}

void verify_phdr(Subject& s) {
  const auto& h = s.image.header;
  bool load_seen = false;
  std::size_t count = 0;
  for (const auto& segment : s.image.segments) {
    load_seen |= segment.type == PT_LOAD;
    if (segment.type != PT_PHDR) continue;
    if (++count > 1) s.error("E102", "there is more than one PT_PHDR");
    if (load_seen) s.error("E102", "PT_PHDR comes after a PT_LOAD");
    if (segment.offset != h.segments_at || segment.file_size != std::uint64_t{h.segment_count} * h.segment_size)
      s.error("E102", fmt::format("PT_PHDR describes {} bytes at {:#x}, the table has {} at {:#x}", segment.file_size,
                                  segment.offset, std::uint64_t{h.segment_count} * h.segment_size, h.segments_at));
    const auto* holder = load_of(s, segment.offset, segment.file_size);
    if (!holder)
      s.error("E102", "PT_PHDR is not covered by a PT_LOAD");
    else if (segment.address - segment.offset != holder->address - holder->offset)
      s.error("E102",
              fmt::format("PT_PHDR has the address {:#x}, but its bytes are mapped elsewhere", segment.address));
  }
}

void verify_relro(Subject& s) {
  const auto* relro = s.image.first(PT_GNU_RELRO);
  if (!relro || relro->memory_size == 0) return;
  auto holder = std::find_if(s.loads.begin(), s.loads.end(), [&](const Segment& l) {
    return relro->address >= l.address && relro->address < l.memory_end();
  });
  if (holder == s.loads.end() || page_up(relro->memory_end()) > page_up(holder->memory_end()))
    return s.error("E111", "PT_GNU_RELRO is not inside one PT_LOAD");
  if (!(holder->flags & PF_W))
    s.error("E111", "PT_GNU_RELRO is in a segment that is not writable: relocation would fail");
  if (relro->address % k_page != 0 && page_down(relro->address) > page_down(holder->address))
    s.error("E111", "PT_GNU_RELRO begins within a page that holds other writable data: it would become read-only");
}

void verify_permissions(Subject& s) {
  for (const auto& segment : s.image.segments)
    if (segment.type == PT_LOAD && (segment.flags & (PF_W | PF_X)) == (PF_W | PF_X))
      s.warn("E110", "a segment is writable and executable");
  const auto* stack = s.image.first(PT_GNU_STACK);
  if (!stack)
    s.warn("E110", "there is no PT_GNU_STACK: the loader makes the stack executable");
  else if (stack->flags & PF_X)
    s.warn("E110", "PT_GNU_STACK asks for an executable stack");
}

void verify_other_segments(Subject& s) {
  for (const auto& segment : s.image.segments) {
    bool covered = segment.type == PT_INTERP || segment.type == PT_DYNAMIC || segment.type == PT_NOTE ||
                   segment.type == PT_GNU_EH_FRAME || segment.type == PT_GNU_PROPERTY;
    if (!covered || segment.file_size == 0) continue;
    const auto* holder = load_of(s, segment.offset, segment.file_size);
    if (!holder)
      s.error("E101",
              fmt::format("the segment of type {:#x} at {:#x} is not inside a PT_LOAD", segment.type, segment.offset));
    else if (segment.address - segment.offset != holder->address - holder->offset ||
             !fits(segment.address - holder->address, segment.memory_size, holder->memory_size))
      s.error(
          "E101",
          fmt::format("the segment of type {:#x} at {:#x} names the address {:#x}, but its bytes are mapped elsewhere",
                      segment.type, segment.offset, segment.address));
  }
}
} // namespace

void verify_headers(Subject& s) {
  if (s.loads.empty()) return;
  verify_table_place(s);
  verify_phdr(s);
  verify_other_segments(s);
  verify_permissions(s);
  verify_relro(s);
}

namespace {
Result<Subject> make_subject(const content::Rope& file, std::string_view name) {
  Subject s;
  TRY(s.image, Image::read(file, name));
  TRY(s.sections, s.image.read_sections());
  TRY(s.names, section_names(s.image, s.sections));
  for (const auto& segment : s.image.segments)
    if (segment.type == PT_LOAD) s.loads.push_back(segment);
  if (s.loads.size() > k_loads_max && s.image.header.type != ET_CORE)
    return s.image.corrupt(fmt::format("it has {} PT_LOADs, more than the {} we verify", s.loads.size(), k_loads_max));
  return s;
}

Finding as_finding(const Error& error, std::string_view name) {
  return {error.code, error.kind == ErrorKind::unsupported ? Severity::note : Severity::error, std::string(name),
          error.message, error.hint};
}
} // namespace

Findings verify(const content::Rope& file, std::string_view name) {
  auto subject = make_subject(file, name);
  if (!subject) return {as_finding(subject.error(), name)};
  auto& s = *subject;
  const auto& h = s.image.header;
  bool debug_companion = s.image.first(PT_DYNAMIC) && !s.image.dynamic_segment;
  bool mapped = (h.type == ET_EXEC || h.type == ET_DYN) && !debug_companion;
  if (!h.is_64) {
    s.add("E011", Severity::note, "a 32-bit file: only its headers were read");
    return s.findings;
  }
  if (mapped) verify_loads(s);
  if (mapped && s.is_host()) {
    verify_headers(s);
    if (s.image.dynamic_segment) verify_dynamic(s);
  }
  if (h.type != ET_CORE && !debug_companion) verify_sections(s);
  if (mapped && s.is_host()) verify_fat_binary(s);
  if (h.type != ET_CORE) verify_gaps(s, mapped);
  return s.findings;
}

} // namespace quarry::elf
