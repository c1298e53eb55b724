#pragma once
// Private to the room.
// The end of a zip file: end of central directory, its ZIP64 form and locator (APPNOTE 4.3.14-4.3.16). Internal to the
// reader.
#include "content/rope.hpp"
#include "zip/findings.hpp"
#include <cstdint>
#include <optional>

namespace quarry::zip {

/// Larger central directories are refused (Z016) as attacks on memory. An entry takes 46 bytes and a name: a million
/// members take about 100 MB, those of the largest wheel seen 1.3 MB.
constexpr std::uint64_t k_central_bytes_max = 128ull << 20;

struct CentralPlace {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

/// Where the central directory is, if every end record that some reader might believe says the same.
std::optional<CentralPlace> find_central_directory(const content::Rope& archive, Defects& findings);

} // namespace quarry::zip
