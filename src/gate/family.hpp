#pragma once
// Where files install, and which families a rule covers. Pure.
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

/// What a file's name says about where it installs. Empty lists: anywhere.
struct Reach {
  std::vector<Platform> platforms;  ///< also "macos", or the tag itself for any other platform
  std::vector<std::string> pythons; ///< "3.12", "3.12+" (stable ABI, from there on)
};
/// invalid_argument M002, M003 for a name that is neither a wheel's nor an sdist's.
Result<Reach> reach_of(const std::string& filename);
/// Whether Python `python` ("3.12"; empty: whichever) may install a file of this reach.
bool fits_python(const Reach& reach, std::string_view python);
bool fits_platform(const Reach& reach, const Platform& platform);

} // namespace quarry::gate
