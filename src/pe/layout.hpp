#pragma once
// Where the parts of a Windows program or DLL stand in its file, and the checksum of the file: what an editor must
// know.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pe {

struct SectionPlace {
  std::string name;                  ///< at most 8 bytes
  std::uint64_t begin = 0, size = 0; ///< in the file
};

struct Layout {
  std::uint64_t headers_size = 0;
  std::vector<SectionPlace> sections; ///< those with bytes in the file
  std::uint64_t checksum_at = 0;      ///< 4 bytes
  std::uint32_t checksum = 0;         ///< 0: the linker wrote none
  bool is_signed = false;             ///< it has a table of certificates (Authenticode)
};

/// Fails with corrupt (J001) if the file is not a PE image or is inconsistent. `name` is for messages. Thread-safe.
Result<Layout> read_layout(const content::Rope& file, std::string_view name);

/// The checksum that Windows compares when it loads drivers: the sum of the 16-bit words, without the field itself, and
/// the size. `field` is the place of the field. Reads the file once.
Result<std::uint32_t> checksum_of(const content::Rope& file, std::uint64_t field);

} // namespace quarry::pe
