#pragma once
// How hard the writer of zip files compresses.
#include <cstdint>

namespace quarry::codec {

enum class Profile : std::uint8_t {
  release, ///< smallest in reasonable time: libdeflate 5 or 6, adaptive
  ci,      ///< fast: ISA-L 2, libdeflate 2 where it pays
  stored,  ///< no compression
};

} // namespace quarry::codec
