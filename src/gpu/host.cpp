// Libraries and programs with device code: ELF and PE.
#include "gpu/offload.hpp"
#include "gpu/reading.hpp"

#include "elf/fat_binary.hpp"
#include "elf/image.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_code_sections_max = 64; // of a file; linkers make one, relocatable files have one each
constexpr std::uint32_t k_record_magic = 0x48495046,
                        k_moved_magic = 0x4B504948; // "HIPF"; after kpack's conversion "HIPK"
constexpr std::uint64_t k_record_bytes = 24;
constexpr std::uint64_t k_records_bytes_max = 1u << 20; // 43,690 records; librocsparse has 111

struct Range {
  std::string name;
  std::uint64_t begin = 0, size = 0;
};

bool has_code(const Range& section) { return section.name == ".hip_fatbin" || section.name == ".hip_fat"; }
bool has_offload_binaries(const Range& section) { return section.name == ".llvm.offloading"; }
bool has_fatbins(const Range& section) { return section.name == ".nv_fatbin" || section.name == "__nv_relfatbin"; }
bool has_records(const Range& section) { return section.name == ".hipFatBinSegment" || section.name == ".hipFatB"; }

/// What a conversion to kpack leaves of the section is not defined: zeros, or bytes of its neighbours.
Result<bool> is_emptied(const Reading& reading, const Range& section) {
  if (!reading.contents.split || reading.contents.embedded) return false;
  TRY(auto front, bytes_at(reading.file, section.begin, std::min<std::uint64_t>(section.size, k_bundle_magic.size())));
  return !front.starts_with(k_compressed_magic) && front != k_bundle_magic;
}

Result<void> read_section(Reading& reading, const Range& section) {
  if (!elf::fits(section.begin, section.size, reading.file.size()))
    return keep(reading, damaged("it reaches past the end of the file").value(), section.name);
  if (has_records(section)) return read_records(reading, section.begin, section.size);
  SectionPlace place{section.begin, section.begin + section.size};
  if (has_offload_binaries(section)) return read_offload_binaries(reading, place);
  if (has_fatbins(section)) return read_fatbins(reading, place);
  TRY(auto emptied, is_emptied(reading, section));
  if (emptied) return {};
  return read_bundles(reading, section.begin, section.begin + section.size, section.name);
}

Result<void> read_sections(Reading& reading, const std::vector<Range>& sections) {
  std::vector<const Range*> wanted; // the records first: they say whether code is expected
  for (const auto& section : sections) {
    if (section.name == ".rocm_kpack_ref") reading.contents.split = true;
    if (has_code(section) || has_offload_binaries(section) || has_fatbins(section)) wanted.push_back(&section);
    if (has_records(section)) wanted.insert(wanted.begin(), &section);
    if (wanted.size() > k_code_sections_max)
      return damaged(fmt::format("it has more than {} sections of device code; none is read", k_code_sections_max));
  }
  for (const auto* section : wanted) TRY_DO(read_section(reading, *section));
  return {};
}

// PE: the DOS header names the place of the signature, behind it stand the COFF header and the section table.
constexpr std::uint64_t k_pe_place_at = 0x3C;
constexpr std::size_t k_coff_bytes = 24, k_pe_section_bytes = 40, k_pe_sections_max = 96; // what Windows loads

Result<std::vector<Range>> pe_sections(const content::Rope& file) {
  std::vector<Range> out;
  TRY(auto place, bytes_at(file, k_pe_place_at, 4));
  if (place.size() < 4) return out;
  auto at = value_in<std::uint32_t>(place, 0);
  TRY(auto coff, bytes_at(file, at, k_coff_bytes));
  if (coff.size() < k_coff_bytes || !coff.starts_with(std::string_view("PE\0\0", 4))) return out;
  auto count = std::min<std::size_t>(value_in<std::uint16_t>(coff, 6), k_pe_sections_max);
  auto table_at = std::uint64_t{at} + k_coff_bytes + value_in<std::uint16_t>(coff, 20);
  TRY(auto table, bytes_at(file, table_at, count * k_pe_section_bytes));
  for (std::size_t i = 0; i + k_pe_section_bytes <= table.size(); i += k_pe_section_bytes) {
    auto name = table.substr(i, 8);
    auto memory = value_in<std::uint32_t>(table, i + 8), stored = value_in<std::uint32_t>(table, i + 16);
    out.push_back({name.substr(0, name.find('\0')), value_in<std::uint32_t>(table, i + 20), std::min(memory, stored)});
  }
  return out;
}
} // namespace

Result<void> read_records(Reading& reading, std::uint64_t begin, std::uint64_t size) {
  TRY(auto bytes, bytes_at(reading.file, begin, std::min(size, k_records_bytes_max)));
  for (std::size_t at = 0; at + k_record_bytes <= bytes.size(); at += k_record_bytes) {
    auto magic = value_in<std::uint32_t>(bytes, at);
    reading.contents.embedded = reading.contents.embedded || magic == k_record_magic;
    reading.contents.split = reading.contents.split || magic == k_moved_magic;
  }
  return {};
}

Result<void> read_elf(Reading& reading) {
  TRY(auto head, bytes_at(reading.file, 0, k_elf_head_bytes));
  if (auto elf = parse_elf_head(head); elf && elf->is_amdgpu()) {
    auto target = target_of(*elf);
    if (!target)
      return unknown_form(
          fmt::format("it is device code, and its e_flags {:#x} name no processor that is known", elf->flags));
    ++reading.contents.containers;
    reading.contents.stored_bytes += reading.file.size();
    add_object(reading, {Container::elf, *target, 0, reading.file.size(), {}, true}, head);
    return {};
  }
  TRY(auto image, elf::Image::read(reading.file, reading.name));
  TRY(auto headers, image.read_sections());
  TRY(auto names, elf::section_names(image, headers));
  elf::prefetch_fat_binaries(image, headers, names);
  std::vector<Range> sections;
  for (std::size_t i = 0; i < headers.size(); ++i)
    if (headers[i].has_bytes() && names[i].starts_with('.'))
      sections.push_back({names[i], headers[i].offset, headers[i].size});
  return read_sections(reading, sections);
}

Result<void> read_pe(Reading& reading) {
  TRY(auto sections, pe_sections(reading.file));
  return read_sections(reading, sections);
}

} // namespace quarry::gpu
