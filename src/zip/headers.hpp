#pragma once
// Private to the room.
// One central or local header as a value, with its extra fields understood (APPNOTE 4.3.7, 4.3.12, 4.5). Internal to
// the reader.
#include "zip/findings.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::zip {

struct Header {
  std::string name;
  std::uint16_t version = 0, flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t size = 0, stored_size = 0;
  std::uint64_t header_offset = 0;  ///< central only
  unsigned mode = 0;                ///< central only; the upper half of the attributes, whoever made the entry
  std::uint8_t maker = 0;           ///< central only; the system (APPNOTE 4.4.2)
  std::uint16_t dos_attributes = 0; ///< central only; the lower half
  std::size_t bytes = 0;            ///< of the whole header with name and extra fields
};

/// `bytes` starts at the header and holds at least its fixed part. nullopt if it is not such a header or reaches beyond
/// `bytes`; other defects become findings.
std::optional<Header> parse_central_header(std::string_view bytes, Defects& findings);
std::optional<Header> parse_local_header(std::string_view bytes, Defects& findings);

} // namespace quarry::zip
