#include "inspect/elf_sections.hpp"

#include "elf/image.hpp"
#include <cstring>
#include <fmt/core.h>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr std::uint64_t k_symbols_bytes_max = 256u << 20; // ten times LLVM's; beyond it symbols are compared as bytes
constexpr std::uint64_t k_constants_bytes_max = 64u << 10;

struct NamedSections {
  const elf::Image& image;
  std::vector<elf::Section> sections;
  std::vector<std::string> names;
};

/// What an edit of run path, SONAME and needed libraries must leave alone: all but the dynamic section, its strings and
/// the interpreter, which are compared by what they say.
bool is_kept(const elf::Section& section, const std::string& name) {
  bool edited = section.type == SHT_NULL || section.type == SHT_DYNAMIC || section.type == SHT_STRTAB;
  return section.allocated() && !edited && name != ".interp";
}

/// What the loader does with the file and no section says.
std::string entry_and_flags(const elf::Image& image) {
  const auto* stack = image.first(PT_GNU_STACK);
  return fmt::format("{:x} {:x} {:x} {}", image.header.entry, image.value(DT_FLAGS).value_or(0),
                     image.value(DT_FLAGS_1).value_or(0), stack ? std::to_string(stack->flags) : "none");
}

/// The symbols by number: what each says, with the name of its section, whose number an edit changes.
Result<Sha256> digest_of_symbols(const NamedSections& file, const elf::Section& symbols, const elf::Section& strings) {
  TRY(auto table, file.image.read_bytes(symbols.offset, symbols.size));
  TRY(auto texts, file.image.read_bytes(strings.offset, strings.size));
  std::string said;
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + at, sizeof symbol);
    auto begin = std::min<std::size_t>(symbol.st_name, texts.size());
    said.append(texts, begin, std::min(texts.find('\0', begin), texts.size()) - begin);
    bool has_name = symbol.st_shndx < SHN_LORESERVE && symbol.st_shndx < file.names.size();
    said += fmt::format(" {} {} {:x} {:x} {}\n", symbol.st_info, symbol.st_other, symbol.st_value, symbol.st_size,
                        has_name ? file.names[symbol.st_shndx] : std::to_string(symbol.st_shndx));
  }
  return sha256(said);
}

Result<Sha256> digest_of_section(const NamedSections& file, const elf::Section& section) {
  bool table = section.type == SHT_DYNSYM && file.image.header.is_64 && section.link < file.sections.size();
  if (table) {
    const auto& strings = file.sections[section.link];
    if (section.size <= k_symbols_bytes_max && strings.has_bytes() && strings.size <= k_symbols_bytes_max)
      return digest_of_symbols(file, section, strings);
  }
  return content::sha256_of(file.image.file.slice(section.offset, section.size));
}

Result<NamedSections> sections_of(const elf::Image& image) {
  TRY(auto sections, image.read_sections());
  TRY(auto names, elf::section_names(image, sections));
  return NamedSections{image, std::move(sections), std::move(names)};
}
} // namespace

Result<Sections> kept_sections(const content::Rope& file, std::string_view name) {
  TRY(auto image, elf::Image::read(file, name));
  TRY(auto named, sections_of(image));
  Sections found;
  for (std::size_t i = 0; i < named.sections.size(); ++i) {
    const auto& section = named.sections[i];
    if (!is_kept(section, named.names[i])) continue;
    SectionContent content{section.size, {}};
    if (section.has_bytes()) {
      if (!elf::fits(section.offset, section.size, file.size())) continue;
      TRY(content.digest, digest_of_section(named, section));
    }
    auto key = named.names[i];
    while (found.contains(key)) key += "'"; // names need not be unique
    found[key] = content;
  }
  if (!found.empty()) found["entry and flags"] = {0, sha256(entry_and_flags(image))};
  return found;
}

Result<bool> same_content(const SectionContent& left, const SectionContent& right) {
  if (left.size != right.size) return false;
  if (left.digest.has_value() == right.digest.has_value()) return left.digest == right.digest;
  TRY(auto zeros, content::sha256_of(content::Rope::zeros(left.size))); // no more than the file of one side holds
  return zeros == (left.digest ? *left.digest : *right.digest);
}

Result<bool> holds_string(const content::Rope& file, const std::string& text) {
  TRY(auto image, elf::Image::read(file, "program"));
  TRY(auto named, sections_of(image));
  for (std::size_t i = 0; i < named.sections.size(); ++i) {
    const auto& section = named.sections[i];
    if (named.names[i] != ".rodata" || section.size > k_constants_bytes_max) continue;
    TRY(auto bytes, image.read_bytes(section.offset, section.size));
    if (bytes.find('\0' + text + '\0') != bytes.npos) return true;
  }
  return false;
}

} // namespace quarry::inspect
