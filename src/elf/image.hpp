#pragma once
// The structure of one ELF file as plain values (System V gABI chapters 4 and 5): headers, segments, sections, dynamic
// entries. Reading is bounded and never trusts a number of the file; nothing here judges (verify.hpp does).
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::elf {

constexpr std::size_t k_segments_max = 4096; // the gABI's 65,534 would let a header cost 4 MB; real files have < 20
constexpr std::size_t k_loads_max =
    256; // PT_LOADs of a file that is verified: each table and section is looked for in all
constexpr std::size_t k_sections_max = 1u << 18;   // 16 MB of headers; -ffunction-sections objects reach 100,000
constexpr std::size_t k_section_name_max = 64;     // as much of a name as is kept; ".hipFatBinSegment" has 17
constexpr std::size_t k_dynamic_max = 16384;       // entries; the largest seen has 200
constexpr std::size_t k_string_max = 64u << 10;    // one dynamic string: an RPATH of 16 PATH_MAX
constexpr std::uint64_t k_strings_max = 16u << 20; // all dynamic strings of a file together

struct Header {
  bool is_64 = true;
  std::uint8_t os_abi = 0;
  std::uint16_t type = 0, machine = 0;
  std::uint64_t entry = 0, segments_at = 0, sections_at = 0; ///< e_phoff, e_shoff
  std::uint16_t segment_count = 0, segment_size = 0, section_size = 0;
  std::uint32_t section_count = 0, names_index = 0; ///< with the extended numbering of section 0 applied
};

struct Segment {
  std::uint32_t type = 0, flags = 0;
  std::uint64_t offset = 0, address = 0, physical = 0, file_size = 0, memory_size = 0, align = 0;
  std::uint64_t file_end() const { return offset + file_size; } ///< does not wrap: checked when read
  std::uint64_t memory_end() const { return address + memory_size; }
  bool operator==(const Segment&) const = default;
};

struct Section {
  std::uint32_t name = 0, type = 0;
  std::uint64_t flags = 0, address = 0, offset = 0, size = 0;
  std::uint32_t link = 0, info = 0;
  std::uint64_t align = 0, entry_size = 0;
  bool allocated() const { return (flags & SHF_ALLOC) != 0; }
  bool has_bytes() const { return type != SHT_NOBITS && type != SHT_NULL; }
  bool operator==(const Section&) const = default;
};

struct Dynamic {
  std::int64_t tag = 0;
  std::uint64_t value = 0;
  bool operator==(const Dynamic&) const = default;
};

/// True when [offset, offset + size) lies inside [0, limit); no arithmetic wraps.
constexpr bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

class Image {
public:
  /// Headers, segments and the dynamic section. corrupt E001; unsupported E011 for big-endian files. `name` is for
  /// messages.
  static Result<Image> read(const content::Rope& file, std::string_view name);

  content::Rope file; ///< shares the bytes
  std::string name;
  Header header;
  std::vector<Segment> segments;
  std::optional<Segment> dynamic_segment; ///< nothing when the file has no dynamic section that holds bytes
  std::vector<Dynamic> dynamic;           ///< up to, not including, the first DT_NULL
  std::size_t dynamic_capacity = 0;       ///< entries that PT_DYNAMIC has room for

  std::optional<std::uint64_t> value(std::int64_t tag) const; ///< of the first entry with this tag
  std::vector<std::uint64_t> values(std::int64_t tag) const;
  const Segment* first(std::uint32_t type) const;
  /// The place in the file of [address, address + size), which must lie in the file bytes of one PT_LOAD.
  std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t size) const;
  /// The string at `offset` of the dynamic string table; E001 when it does not end inside the table.
  Result<std::string> string_at(std::uint64_t offset) const;
  Result<std::vector<Section>> read_sections() const;                             ///< empty when there are none
  Result<std::string> read_bytes(std::uint64_t offset, std::uint64_t size) const; ///< E001 when outside the file

  Unexpected corrupt(std::string message) const;

private:
  Result<void> read_header();
  Result<void> read_segments();
  Result<void> read_dynamic();
  void find_strings();
  Result<bool> is_debug_companion() const;
  mutable std::uint64_t strings_read_ = 0;
  std::optional<std::uint64_t>
      strings_at_; ///< place of the dynamic string table, of strings_size_ bytes, if it has one
  std::uint64_t strings_size_ = 0;
};

/// The names of `sections` from the section name table; "" where a name cannot be read.
Result<std::vector<std::string>> section_names(const Image& image, const std::vector<Section>& sections);

// 64-bit little-endian encodings, for the editor.
std::string encode(const std::vector<Segment>& segments);
std::string encode(const std::vector<Section>& sections);
std::string encode(const std::vector<Dynamic>& entries);
template <class T> std::string encode_value(T value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

} // namespace quarry::elf
