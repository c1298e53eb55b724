#pragma once
// Private to the room.
// S1 and S2: bytes are inserted behind the last mapped byte of the file; sections that are not loaded, and the section
// header table, move up behind them.
#include "elf/place.hpp"

namespace quarry::elf {

struct Need {
  std::vector<Dynamic> entries; ///< all of them, DT_STRTAB and DT_STRSZ still as they were
  std::string appended;         ///< new strings for the end of the dynamic string table; empty: it stays
  bool new_segment = false;     ///< S2 only
  bool move_dynamic = false;    ///< the entries no longer fit into the old section
  std::vector<StringPlaces::Overwrite> overwrites = {}; ///< when the table stays
};

Result<Layout> grow(const Image& image, const std::vector<Section>& sections, const std::vector<std::string>& names,
                    const Need& need);

} // namespace quarry::elf
