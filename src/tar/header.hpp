#pragma once
// Private to the room.
// One 512-byte header block of a tar archive, and the records of a pax header. Pure. Sources: POSIX.1-2017 pax "ustar
// Interchange Format" and "pax Extended Header", GNU tar manual "Basic Tar Format".
#include "base/result.hpp"
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace quarry::tar {

constexpr std::size_t k_block = 512;
constexpr std::uint64_t k_octal_size_end = 1ull << 33; ///< the size field has 11 octal digits

struct Header {
  std::string name; ///< with the ustar prefix joined, as stored
  std::string link;
  char type = '0';
  std::uint64_t size = 0;
  unsigned mode = 0;
};

/// T004: checksum; T005: a field that readers would understand differently (number, magic, bytes after a NUL, hidden
/// bytes).
Result<Header> parse_header(std::span<const std::byte, k_block> block);
bool is_zero(std::span<const std::byte> bytes);

struct PaxRecords {
  std::optional<std::string> path, link;
  std::optional<std::uint64_t> size;
};
/// T006: malformed records, a keyword twice, one whose meaning we do not know. `global`: none that changes names or
/// sizes.
Result<PaxRecords> parse_pax(std::string_view text, bool global);

struct HeaderFields {
  std::string name, link, prefix;
  char type = '0';
  std::uint64_t size = 0;
  unsigned mode = 0644;
};
/// A ustar header with uid, gid and mtime 0 and its checksum. The strings must fit (100, 100, 155 bytes), size be below
/// 8 GiB.
std::array<std::byte, k_block> make_header(const HeaderFields& fields);
std::string pax_record(std::string_view keyword, std::string_view value);

} // namespace quarry::tar
