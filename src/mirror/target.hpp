#pragma once
// What a base index is made for: one Python on one platform, as markers and wheel tags see it (PEP 508, PEP 425, PEP
// 600). Pure values.
#include "base/platform.hpp"
#include "base/result.hpp"
#include "dist/name.hpp"
#include "dist/requirement.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::mirror {

struct Target {
  std::string python; ///< "3.12", or "3.12.4" when the patch was said
  Platform platform;  ///< Linux on x86_64 with glibc, or Windows on AMD64
  unsigned minor = 0;
  dist::Version full; ///< what Requires-Python is compared with: the patch that was said, or a late one
  /// A minor version alone stands for its first and for a late patch: a dependency that either needs is mirrored.
  std::vector<dist::MarkerEnvironment> environments;
  std::string name() const { return fmt::format("{} {}", python, platform); }
  bool holds(const dist::Marker& marker, std::string_view extra) const; ///< in any of the environments
};

/// CPython 3.7 and later. invalid_argument U002.
Result<Target> parse_target(std::string_view python, const Platform& platform);
/// Every Python on every platform; each list with commas, in the order given, each once. U002.
Result<std::vector<Target>> parse_targets(std::string_view pythons, std::string_view platforms);

/// How well a wheel fits: 0 built for this Python, 1 for the stable ABI, 2 for any; nullopt: not at all. Every
/// manylinux fits linux: which glibc the machine has is not known here.
std::optional<int> fit(const dist::WheelTags& tags, const Target& target);

} // namespace quarry::mirror
