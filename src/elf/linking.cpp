#include "elf/linking.hpp"

#include "base/text.hpp"
#include "elf/tables.hpp"
#include "elf/window.hpp"
#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_notes_max = 1u << 20;          // bytes of one note segment; real ones have less than 1 kB
constexpr std::uint64_t k_symbol_names_max = 256u << 20; // bytes of one string table; libLLVM has 4 MB
constexpr std::size_t k_symbol_name_max = 256; // names that are asked for, and those of Python, have at most 60 bytes
constexpr std::uint32_t k_isa_needed = 0xC0008002; // GNU_PROPERTY_X86_ISA_1_NEEDED
constexpr std::size_t k_property_head = 8;         // pr_type, pr_datasz

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::size_t aligned(std::uint64_t size, std::size_t align) {
  return static_cast<std::size_t>((size + align - 1) / align * align);
}

/// The highest bit says the level: 1 baseline, 2 v2, 4 v3, 8 v4. More than one may be set.
unsigned isa_level(std::string_view properties) {
  constexpr std::size_t k_align = 8; // of ELFCLASS64
  unsigned level = 1;
  for (std::size_t at = 0; at + k_property_head <= properties.size();) {
    auto type = word_at(properties, at), size = word_at(properties, at + 4);
    if (size > properties.size() - at - k_property_head) break;
    if (type == k_isa_needed && size == 4)
      level = std::max(level, static_cast<unsigned>(std::bit_width(word_at(properties, at + k_property_head) & 15u)));
    at += k_property_head + aligned(size, k_align);
  }
  return level;
}

void read_note(std::uint32_t type, std::string_view body, Linking& linking) {
  if (type == NT_GNU_PROPERTY_TYPE_0) linking.isa_level = std::max(linking.isa_level, isa_level(body));
  if (type == NT_GNU_BUILD_ID && linking.build_id.empty())
    linking.build_id = text::hex({reinterpret_cast<const std::uint8_t*>(body.data()), body.size()});
}

void read_notes(std::string_view notes, std::size_t align, Linking& linking) {
  constexpr std::string_view k_gnu("GNU\0", 4);
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    std::uint64_t name_size = word_at(notes, at), body_size = word_at(notes, at + 4);
    auto type = word_at(notes, at + 8);
    auto name_at = at + sizeof(Elf64_Nhdr);
    auto body_at = name_at + aligned(name_size, align == 8 ? 4 : align);
    if (align == 8) body_at = aligned(body_at, align); // the body is aligned, the name's field is not
    if (body_at > notes.size() || body_size > notes.size() - body_at) return;
    if (notes.substr(name_at, static_cast<std::size_t>(name_size)) == k_gnu)
      read_note(type, notes.substr(body_at, static_cast<std::size_t>(body_size)), linking);
    at = body_at + aligned(body_size, align);
  }
}

Result<void> read_segments_of(const Image& image, Linking& linking) {
  for (const auto& segment : image.segments) {
    linking.has_relro = linking.has_relro || segment.type == PT_GNU_RELRO;
    if (segment.type != PT_NOTE || segment.file_size > k_notes_max) continue;
    TRY(auto notes, image.read_bytes(segment.offset, segment.file_size));
    read_notes(notes, segment.align == 8 ? 8 : 4, linking);
  }
  return {};
}

Result<void> read_versions(const Image& image, Linking& linking) {
  TRY(auto needs, read_version_needs(image));
  for (const auto& need : needs) {
    TRY(auto library, image.string_at(need.name));
    for (auto offset : need.versions) {
      TRY(auto version, image.string_at(offset));
      linking.versions.push_back({library, std::move(version)});
    }
  }
  std::ranges::sort(linking.versions);
  auto repeated = std::ranges::unique(linking.versions);
  linking.versions.erase(repeated.begin(), repeated.end());
  return {};
}

/// `rest` is the string table from the symbol's name on.
void take_symbol(const Elf64_Sym& symbol, std::string_view rest, const AskedSymbols& asked, Linking& linking) {
  bool imported = symbol.st_shndx == SHN_UNDEF, weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
  if (imported ? weak : !asked.of_python) return;
  bool of_python = asked.of_python && (rest.starts_with("Py") || rest.starts_with("_Py"));
  auto end = imported || of_python ? rest.substr(0, k_symbol_name_max + 1).find('\0') : rest.npos;
  if (end == rest.npos) return;
  std::string name(rest.substr(0, end));
  if (imported && asked.names.contains(name)) linking.imports.insert(name);
  auto& names = imported ? linking.python_imports : linking.python_exports;
  if (of_python && names.size() < k_python_symbols_max) names.insert(std::move(name));
}

Result<void> read_imports(const Image& image, const std::vector<Section>& sections, const AskedSymbols& asked,
                          Linking& linking) {
  TRY(auto symbols, count_dynamic_symbols(image, sections));
  if (symbols.count == 0 || (asked.names.empty() && !asked.of_python)) return {};
  auto names_size = image.value(DT_STRSZ).value_or(0);
  auto names_at = image.offset_of(image.value(DT_STRTAB).value_or(0), names_size);
  auto table_at = image.offset_of(*image.value(DT_SYMTAB), symbols.count * sizeof(Elf64_Sym));
  if (!names_at || !table_at || names_size > k_symbol_names_max)
    return image.corrupt("its dynamic symbols are outside the loaded bytes");
  TRY(auto names, image.read_bytes(*names_at, names_size));
  Window window(image.file);
  for (std::uint64_t i = 0; i < symbols.count; ++i) {
    TRY(auto symbol, window.at<Elf64_Sym>(*table_at + i * sizeof(Elf64_Sym)));
    if (symbol.st_name < names.size())
      take_symbol(symbol, std::string_view(names).substr(symbol.st_name), asked, linking);
  }
  return {};
}

Result<std::uint64_t> debug_bytes(const Image& image, const std::vector<Section>& sections) {
  TRY(auto names, section_names(image, sections));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].has_bytes() && (names[i].starts_with(".debug_") || names[i].starts_with(".zdebug_")))
      bytes += std::min(sections[i].size, image.file.size());
  return bytes;
}
} // namespace

Result<Linking> read_linking(const content::Rope& file, std::string_view name, const AskedSymbols& asked) {
  Linking linking;
  TRY(linking.facts, read_facts(file, name));
  TRY(auto image, Image::read(file, name));
  TRY(auto sections, image.read_sections());
  TRY(linking.debug_bytes, debug_bytes(image, sections));
  TRY_DO(read_segments_of(image, linking));
  if (!linking.facts.has_dynamic) return linking;
  linking.text_relocations = image.value(DT_TEXTREL) || (image.value(DT_FLAGS).value_or(0) & DF_TEXTREL) != 0;
  if (!linking.facts.is_64) return linking; // the tables below have other records there
  TRY_DO(read_versions(image, linking));
  TRY_DO(read_imports(image, sections, asked, linking));
  return linking;
}

} // namespace quarry::elf
