#pragma once
// Private to the room.
// Where the changed parts of a file go. Strategies, the first that fits: S0 everything in place; S1 the last segment
// grows; S2 a new segment. Nothing that the program can see at an old address moves, but for the few leading sections
// that S2 may have to remove to make room for one more program header.
#include "elf/intent.hpp"

namespace quarry::elf {

/// A new file as the old one with bytes inserted at one place and small ranges overwritten.
struct Layout {
  std::string strategy;
  std::uint64_t insert_at = 0;
  content::Rope inserted; ///< empty for S0
  struct Overlay {
    std::uint64_t offset = 0; ///< in the new file
    std::string bytes;
  };
  std::vector<Overlay> overlays;
  struct Copy { ///< old bytes that now stand inside `inserted` as well
    std::uint64_t old_offset = 0, new_offset = 0, size = 0;
  };
  std::vector<Copy> copies;
};

/// unsupported E014 when no strategy fits, with what stood in the way of each.
Result<Layout> place(const Image& image, const std::vector<Section>& sections, const std::vector<std::string>& names,
                     const Intent& intent);

} // namespace quarry::elf
