#include "pe/pe.hpp"

#include "pe/layout.hpp"
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <optional>
#include <span>

namespace quarry::pe {

static_assert(std::endian::native == std::endian::little, "fields are read by memcpy");

namespace {

constexpr std::uint64_t k_dos_header = 64, k_coff_header = 20, k_section = 40, k_import = 20, k_directory = 8;
constexpr std::uint16_t k_executable_image = 0x0002, k_dll = 0x2000; // Characteristics
constexpr std::uint16_t k_pe32 = 0x10b, k_pe32_plus = 0x20b;         // Magic of the optional header
constexpr std::size_t k_import_directory = 1, k_certificate_directory = 4;
constexpr std::size_t k_checksum_at = 64; // in the optional header

template <class T> T load(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

struct Section {
  std::string name;
  std::uint32_t virtual_size = 0, address = 0, raw_size = 0, raw_at = 0;
};

class Reader {
public:
  Reader(const content::Rope& file, std::string_view name) : file_(file), name_(name) {}

  Result<Facts> run() {
    TRY_DO(read_headers());
    TRY_DO(read_sections());
    TRY_DO(read_imports());
    return std::move(facts_);
  }

  Result<Layout> run_layout() {
    TRY_DO(read_headers());
    TRY_DO(read_sections());
    for (const auto& section : sections_)
      if (section.raw_at && section.raw_size > 0)
        layout_.sections.push_back({section.name.substr(0, section.name.find('\0')), section.raw_at, section.raw_size});
    return std::move(layout_);
  }

private:
  Unexpected corrupt(const std::string& message) const {
    return fail(ErrorKind::corrupt, "J001", fmt::format("{} is not a sound Windows program or DLL: {}", name_, message),
                "fetch or build the file again");
  }

  Result<std::string> bytes(std::uint64_t offset, std::uint64_t size, std::string_view what) const {
    if (!fits(offset, size, file_.size()))
      return corrupt(fmt::format("{} at {:#x} is outside its {} bytes", what, offset, file_.size()));
    std::string out(size, '\0');
    TRY_DO(file_.read(offset, std::as_writable_bytes(std::span(out))), fmt::format("while reading {}", name_));
    return out;
  }

  Result<void> read_headers() {
    TRY(auto dos, bytes(0, k_dos_header, "the DOS header"));
    if (!dos.starts_with("MZ")) return corrupt("it does not start with MZ");
    std::uint64_t at = load<std::uint32_t>(dos, 60);
    TRY(auto head, bytes(at, 4 + k_coff_header, "the PE header"));
    if (!head.starts_with(std::string_view("PE\0\0", 4))) return corrupt("it has no PE signature");
    facts_.machine = load<std::uint16_t>(head, 4);
    section_count_ = load<std::uint16_t>(head, 6);
    std::uint16_t optional_size = load<std::uint16_t>(head, 20), characteristics = load<std::uint16_t>(head, 22);
    if (!(characteristics & k_executable_image)) return corrupt("it is not marked as linked without errors");
    facts_.is_dll = (characteristics & k_dll) != 0;
    auto optional_at = at + 4 + k_coff_header;
    sections_at_ = optional_at + optional_size;
    TRY(auto optional, bytes(optional_at, optional_size, "the optional header"));
    return read_optional(optional);
  }

  // The data directories stand at the end of the optional header; its Magic says where they begin.
  Result<void> read_optional(std::string_view header) {
    auto magic = header.size() >= 2 ? load<std::uint16_t>(header, 0) : std::uint16_t{0};
    if (magic != k_pe32 && magic != k_pe32_plus) return corrupt(fmt::format("its optional header is {:#x}", magic));
    facts_.is_64 = magic == k_pe32_plus;
    std::size_t count_at = facts_.is_64 ? 108 : 92;
    if (header.size() < count_at + 4) return corrupt("its optional header is cut short");
    layout_.headers_size = load<std::uint32_t>(header, 60);
    layout_.checksum_at = sections_at_ - header.size() + k_checksum_at;
    layout_.checksum = load<std::uint32_t>(header, k_checksum_at);
    auto count = load<std::uint32_t>(header, count_at);
    auto first = count_at + 4;
    if (count > (header.size() - first) / k_directory) return corrupt("its data directories are cut short");
    if (count > k_import_directory) imports_at_ = load<std::uint32_t>(header, first + k_import_directory * k_directory);
    if (count > k_certificate_directory)
      layout_.is_signed = load<std::uint32_t>(header, first + k_certificate_directory * k_directory) != 0;
    return {};
  }

  Result<void> read_sections() {
    if (section_count_ > k_sections_max)
      return corrupt(fmt::format("it has {} sections, more than Windows takes ({})", section_count_, k_sections_max));
    TRY(auto table, bytes(sections_at_, section_count_ * k_section, "the section table"));
    for (std::size_t i = 0; i < section_count_; ++i) {
      auto at = i * k_section;
      Section s{table.substr(at, 8), load<std::uint32_t>(table, at + 8), load<std::uint32_t>(table, at + 12),
                load<std::uint32_t>(table, at + 16), load<std::uint32_t>(table, at + 20)};
      if (s.raw_at && !fits(s.raw_at, s.raw_size, file_.size()))
        return corrupt(fmt::format("section {} reaches past the end of its {} bytes", i + 1, file_.size()));
      sections_.push_back(s);
    }
    return {};
  }

  // How many bytes can be read at `address` of the loaded image, and where in the file they are.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> place(std::uint32_t address) const {
    for (const auto& s : sections_)
      if (s.raw_at && address >= s.address && address - s.address < s.raw_size)
        return std::pair(std::uint64_t{s.raw_at} + (address - s.address),
                         std::uint64_t{s.raw_size} - (address - s.address));
    auto headers = std::min<std::uint64_t>(layout_.headers_size, file_.size());
    if (address < headers) return std::pair(std::uint64_t{address}, headers - address);
    return std::nullopt;
  }

  Result<void> read_imports() {
    if (!imports_at_) return {};
    for (std::size_t i = 0; i <= k_imports_max; ++i) {
      auto address = std::uint64_t{imports_at_} + i * k_import;
      auto at = address <= UINT32_MAX ? place(static_cast<std::uint32_t>(address)) : std::nullopt;
      if (!at || at->second < k_import) return corrupt("its import table has no end");
      TRY(auto entry, bytes(at->first, k_import, "the import table"));
      auto name = load<std::uint32_t>(entry, 12), thunk = load<std::uint32_t>(entry, 16);
      if (name == 0 || thunk == 0) return {}; // where the Windows loader stops
      TRY(auto dll, dll_name(name));
      facts_.imports.push_back(std::move(dll));
    }
    return corrupt(fmt::format("it imports more than {} DLLs", k_imports_max));
  }

  Result<std::string> dll_name(std::uint32_t address) const {
    auto at = place(address);
    if (!at) return corrupt(fmt::format("the name of an imported DLL is at {:#x}, outside its sections", address));
    TRY(auto text, bytes(at->first, std::min<std::uint64_t>(at->second, k_dll_name_max + 1), "a DLL's name"));
    auto end = text.find('\0');
    if (end == text.npos || end == 0) return corrupt("the name of an imported DLL is empty or has no end");
    return text.substr(0, end);
  }

  const content::Rope& file_;
  std::string_view name_;
  Facts facts_;
  Layout layout_;
  std::uint64_t sections_at_ = 0;
  std::uint32_t section_count_ = 0, imports_at_ = 0;
  std::vector<Section> sections_;
};

} // namespace

Result<bool> has_magic(const content::Rope& file) {
  if (file.size() < 2) return false;
  std::array<char, 2> magic{};
  TRY_DO(file.read(0, std::as_writable_bytes(std::span(magic))));
  return magic[0] == 'M' && magic[1] == 'Z';
}

Result<Facts> read_facts(const content::Rope& file, std::string_view name) { return Reader(file, name).run(); }

Result<Layout> read_layout(const content::Rope& file, std::string_view name) { return Reader(file, name).run_layout(); }

Result<std::uint32_t> checksum_of(const content::Rope& file, std::uint64_t field) {
  std::uint64_t sum = 0, at = 0;
  TRY_DO(content::pump(file, [&](std::span<const std::byte> piece) -> Result<void> {
    for (auto byte : piece) {
      if (at < field || at >= field + 4) sum += static_cast<std::uint64_t>(byte) << (at % 2 == 0 ? 0 : 8);
      ++at;
    }
    return {};
  }));
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint32_t>(sum + file.size());
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
  case k_machine_amd64: return "x86-64";
  case 0x014c: return "x86";
  case 0xaa64: return "ARM64";
  default: return fmt::format("machine {:#x}", machine);
  }
}

} // namespace quarry::pe
