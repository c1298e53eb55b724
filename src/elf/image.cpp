#include "elf/image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>

namespace quarry::elf {

static_assert(std::endian::native == std::endian::little, "structures are read by memcpy");

namespace {
template <class T> T load(std::string_view bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class Ehdr> Header to_header(const Ehdr& e, bool is_64) {
  Header h;
  h.is_64 = is_64;
  h.os_abi = e.e_ident[EI_OSABI];
  h.type = e.e_type;
  h.machine = e.e_machine;
  h.entry = e.e_entry;
  h.segments_at = e.e_phoff;
  h.sections_at = e.e_shoff;
  h.segment_count = e.e_phnum;
  h.segment_size = e.e_phentsize;
  h.section_size = e.e_shentsize;
  h.section_count = e.e_shnum;
  h.names_index = e.e_shstrndx;
  return h;
}

template <class Phdr> Segment to_segment(const Phdr& p) {
  return {p.p_type, p.p_flags, p.p_offset, p.p_vaddr, p.p_paddr, p.p_filesz, p.p_memsz, p.p_align};
}
template <class Shdr> Section to_section(const Shdr& s) {
  return {s.sh_name, s.sh_type, s.sh_flags, s.sh_addr,      s.sh_offset,
          s.sh_size, s.sh_link, s.sh_info,  s.sh_addralign, s.sh_entsize};
}
template <class Dyn> Dynamic to_dynamic(const Dyn& d) { return {d.d_tag, d.d_un.d_val}; }

std::size_t header_bytes(bool is_64) { return is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr); }
std::size_t segment_bytes(bool is_64) { return is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr); }
std::size_t section_bytes(bool is_64) { return is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr); }
std::size_t dynamic_bytes(bool is_64) { return is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn); }
} // namespace

Unexpected Image::corrupt(std::string message) const {
  return fail(ErrorKind::corrupt, "E001", fmt::format("{} is a damaged ELF file: {}", name, message),
              "fetch or build the file again");
}

Result<std::string> Image::read_bytes(std::uint64_t offset, std::uint64_t size) const {
  if (!fits(offset, size, file.size()))
    return corrupt(fmt::format("{} bytes at {:#x} lie outside its {} bytes", size, offset, file.size()));
  std::string bytes(size, '\0');
  TRY_DO(file.read(offset, std::as_writable_bytes(std::span(bytes))), "while reading " + name);
  return bytes;
}

Result<Image> Image::read(const content::Rope& file, std::string_view name) {
  Image image;
  image.file = file;
  image.name = name;
  TRY_DO(image.read_header());
  TRY_DO(image.read_segments());
  TRY_DO(image.read_dynamic());
  return image;
}

Result<void> Image::read_header() {
  if (file.size() < EI_NIDENT) return corrupt("it ends inside the header");
  TRY(auto ident, read_bytes(0, EI_NIDENT));
  // NOLINTNEXTLINE(modernize-use-starts-ends-with): g++ 12 takes starts_with for a read of uninitialised bytes
  if (ident.compare(0, SELFMAG, ELFMAG) != 0)
    return fail(ErrorKind::corrupt, "E001", fmt::format("{} is not an ELF file", name));
  if (ident[EI_DATA] == ELFDATA2MSB)
    return fail(ErrorKind::unsupported, "E011", fmt::format("{} is a big-endian ELF file", name));
  if (ident[EI_DATA] != ELFDATA2LSB || (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32) ||
      ident[EI_VERSION] != EV_CURRENT)
    return corrupt("its identification names no known class, byte order or version");
  bool is_64 = ident[EI_CLASS] == ELFCLASS64;
  TRY(auto bytes, read_bytes(0, header_bytes(is_64)));
  header = is_64 ? to_header(load<Elf64_Ehdr>(bytes, 0), true) : to_header(load<Elf32_Ehdr>(bytes, 0), false);
  if (header.section_size != section_bytes(is_64) || header.sections_at == 0) {
    if (header.section_count) return corrupt("its section header table has entries but no valid place or entry size");
    header.sections_at = 0;
  }
  if (header.sections_at == 0 || (header.section_count && header.names_index != SHN_XINDEX)) return {};
  // Extended numbering: more than 65,279 sections are counted in section 0 (gABI, "ELF Header").
  TRY(auto zero, read_bytes(header.sections_at, section_bytes(is_64)));
  auto section = is_64 ? to_section(load<Elf64_Shdr>(zero, 0)) : to_section(load<Elf32_Shdr>(zero, 0));
  if (!header.section_count)
    header.section_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(section.size, UINT32_MAX));
  if (header.names_index == SHN_XINDEX) header.names_index = section.link;
  return {};
}

Result<void> Image::read_segments() {
  if (header.segment_count == 0) return {};
  if (header.segment_size != segment_bytes(header.is_64))
    return corrupt(fmt::format("its program headers have {} bytes each", header.segment_size));
  if (header.segment_count > k_segments_max)
    return corrupt(
        fmt::format("it has {} program headers, more than the {} we read", header.segment_count, k_segments_max));
  TRY(auto bytes, read_bytes(header.segments_at, std::uint64_t{header.segment_count} * header.segment_size));
  for (std::size_t i = 0; i < header.segment_count; ++i) {
    auto s = header.is_64 ? to_segment(load<Elf64_Phdr>(bytes, i)) : to_segment(load<Elf32_Phdr>(bytes, i));
    bool wraps = !fits(s.offset, s.file_size, UINT64_MAX) || !fits(s.address, s.memory_size, UINT64_MAX);
    if (wraps) return corrupt(fmt::format("program header {} reaches past the end of the address space", i));
    segments.push_back(s);
  }
  return {};
}

// A file made by `strip --only-keep-debug` keeps the program headers of its original, but none of the bytes.
Result<bool> Image::is_debug_companion() const {
  auto sections = read_sections();
  if (!sections) return false;
  return std::any_of(sections->begin(), sections->end(), [&](const Section& s) {
    return s.type == SHT_NOBITS && s.address == dynamic_segment->address && s.size == dynamic_segment->memory_size &&
           s.size > 0;
  });
}

Result<void> Image::read_dynamic() {
  const auto* segment = first(PT_DYNAMIC);
  if (!segment || segment->file_size == 0) return {};
  dynamic_segment = *segment;
  TRY(auto companion, is_debug_companion());
  if (companion) {
    dynamic_segment.reset();
    return {};
  }
  auto entry = dynamic_bytes(header.is_64);
  dynamic_capacity = static_cast<std::size_t>(segment->file_size / entry);
  if (dynamic_capacity > k_dynamic_max)
    return corrupt(fmt::format("its dynamic section has room for {} entries, more than the {} we read",
                               dynamic_capacity, k_dynamic_max));
  TRY(auto bytes, read_bytes(segment->offset, dynamic_capacity * entry));
  for (std::size_t i = 0; i < dynamic_capacity; ++i) {
    auto d = header.is_64 ? to_dynamic(load<Elf64_Dyn>(bytes, i)) : to_dynamic(load<Elf32_Dyn>(bytes, i));
    if (d.tag == DT_NULL) {
      find_strings();
      return {};
    }
    dynamic.push_back(d);
  }
  return corrupt("its dynamic section has no end mark");
}

// Once, not for each of the strings: a file may have 16,384 dynamic entries and as many strings to look up.
void Image::find_strings() {
  auto table = value(DT_STRTAB), size = value(DT_STRSZ);
  if (!table || !size) return;
  strings_at_ = offset_of(*table, *size);
  strings_size_ = *size;
  if (strings_at_ && !fits(*strings_at_, strings_size_, file.size())) strings_at_.reset();
}

std::optional<std::uint64_t> Image::value(std::int64_t tag) const {
  for (const auto& d : dynamic)
    if (d.tag == tag) return d.value;
  return std::nullopt;
}

std::vector<std::uint64_t> Image::values(std::int64_t tag) const {
  std::vector<std::uint64_t> out;
  for (const auto& d : dynamic)
    if (d.tag == tag) out.push_back(d.value);
  return out;
}

const Segment* Image::first(std::uint32_t type) const {
  auto it = std::find_if(segments.begin(), segments.end(), [&](const Segment& s) { return s.type == type; });
  return it == segments.end() ? nullptr : &*it;
}

std::optional<std::uint64_t> Image::offset_of(std::uint64_t address, std::uint64_t size) const {
  for (const auto& s : segments)
    if (s.type == PT_LOAD && address >= s.address && fits(address - s.address, size, s.file_size))
      return s.offset + (address - s.address);
  return std::nullopt;
}

Result<std::string> Image::string_at(std::uint64_t offset) const {
  if (!strings_at_) return corrupt("its dynamic string table is missing or lies outside the loaded bytes");
  if (offset >= strings_size_)
    return corrupt(fmt::format("a dynamic string at {} lies outside the table of {} bytes", offset, strings_size_));
  std::string text;
  for (std::uint64_t at = offset; at < strings_size_ && text.size() < k_string_max;) {
    TRY(auto part, read_bytes(*strings_at_ + at, std::min<std::uint64_t>(256, strings_size_ - at)));
    strings_read_ += 256; // what a read costs, however short it is
    if (strings_read_ > k_strings_max)
      return corrupt(fmt::format("its dynamic strings have more than {} bytes", k_strings_max));
    auto end = part.find('\0');
    text.append(part, 0, end);
    if (end != part.npos) return text;
    at += part.size();
  }
  return corrupt(fmt::format("the dynamic string at {} has no end", offset));
}

Result<std::vector<Section>> Image::read_sections() const {
  std::vector<Section> out;
  if (header.sections_at == 0 || header.section_count == 0) return out;
  if (header.section_count > k_sections_max)
    return corrupt(fmt::format("it has {} sections, more than the {} we read", header.section_count, k_sections_max));
  TRY(auto bytes, read_bytes(header.sections_at, std::uint64_t{header.section_count} * header.section_size));
  out.reserve(header.section_count);
  for (std::size_t i = 0; i < header.section_count; ++i)
    out.push_back(header.is_64 ? to_section(load<Elf64_Shdr>(bytes, i)) : to_section(load<Elf32_Shdr>(bytes, i)));
  return out;
}

Result<std::vector<std::string>> section_names(const Image& image, const std::vector<Section>& sections) {
  std::vector<std::string> names(sections.size());
  if (image.header.names_index >= sections.size()) return names;
  const auto& table = sections[image.header.names_index];
  if (!fits(table.offset, table.size, image.file.size()) || table.type == SHT_NOBITS) return names;
  TRY(auto text, image.read_bytes(table.offset, std::min<std::uint64_t>(table.size, k_strings_max)));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].name >= text.size()) continue;
    auto rest = std::string_view(text).substr(sections[i].name, k_section_name_max);
    names[i] = rest.substr(0, rest.find('\0'));
  }
  return names;
}

std::string encode(const std::vector<Segment>& segments) {
  std::string out;
  for (const auto& s : segments) {
    Elf64_Phdr p{s.type, s.flags, s.offset, s.address, s.physical, s.file_size, s.memory_size, s.align};
    out += encode_value(p);
  }
  return out;
}

std::string encode(const std::vector<Section>& sections) {
  std::string out;
  for (const auto& s : sections) {
    Elf64_Shdr h{s.name, s.type, s.flags, s.address, s.offset, s.size, s.link, s.info, s.align, s.entry_size};
    out += encode_value(h);
  }
  return out;
}

std::string encode(const std::vector<Dynamic>& entries) {
  std::string out;
  for (const auto& e : entries) {
    Elf64_Dyn d;
    d.d_tag = e.tag;
    d.d_un.d_val = e.value;
    out += encode_value(d);
  }
  return out;
}

} // namespace quarry::elf
