#pragma once
// Private to the room.
// Room for one more program header: what stands behind the table, and which of it may move away (S2).
#include "elf/image.hpp"

namespace quarry::elf {

constexpr std::uint64_t k_moved_align = 64; ///< the largest alignment of sections that move; they ask for 16 at most

/// A file before it is changed.
struct OldFile {
  const Image& image;
  const std::vector<Section>& sections;
  const std::vector<std::string>& names; ///< of the sections
};

struct FileRange {
  std::uint64_t begin = 0, end = 0; ///< file offsets
  bool empty() const { return begin == end; }
};

/// Finds the bytes that must move so that the program header table can grow by one entry where it stands: an empty
/// range if the bytes behind the table are free. Only whole sections and segments move, and only those that nothing but
/// headers and .dynamic point to. `loaded_end`: the end of the loaded bytes in the file. unsupported E014 if other
/// bytes are in the way. Reads at most one program header's worth of bytes.
Result<FileRange> room_for_header(const OldFile& old, std::uint64_t loaded_end);

} // namespace quarry::elf
