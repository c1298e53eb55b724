#pragma once
// Private to the room.
// Tells from a file's name where it can be installed, and whether a rule covers a family. Pure.
#include "base/platform.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gate {

/// Whether one of the globs covers the family; "*" covers also the empty one (a set without families).
bool covers(const std::vector<std::string>& patterns, std::string_view family);

/// Where a file can be installed according to its name. An empty list means: everywhere.
struct Reach {
  std::vector<Platform> platforms;  ///< also "macos", or the tag itself for any other platform
  std::vector<std::string> pythons; ///< "3.12", "3.12+" (stable ABI, from there on)
};
/// invalid_argument M002, M003 for a name that is neither a wheel's nor an sdist's.
Result<Reach> reach_of(const std::string& filename);
/// Whether this Python ("3.12"; empty: at least one of them) can install the file.
bool fits_python(const Reach& reach, std::string_view python);
bool fits_platform(const Reach& reach, const Platform& platform);

} // namespace quarry::gate
