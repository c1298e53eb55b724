#pragma once
// What the fuzz targets share. A property that does not hold stops the program, as a crash does.
#include "content/rope.hpp"
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace quarry::fuzzing {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
inline content::Rope as_rope(const std::uint8_t* data, std::size_t size) {
  return content::Rope::literal(std::string(as_text(data, size)));
}
inline void require(bool holds) {
  if (!holds) std::abort();
}

} // namespace quarry::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
