#pragma once
// Packages that work together only if one build made all of them; data/coherence.toml lists them. Codes Q411, Q412 and
// Q413. Pure.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "closure/package.hpp"
#include <string>
#include <vector>

namespace quarry::closure {

/// What the packages of a group must have in common.
enum class Common : std::uint8_t {
  version,        ///< the whole version
  public_version, ///< without the local segment
  local,          ///< the local segment: "rocm7.1.0" of 2.10.0+rocm7.1.0
};

struct CoherentGroup {
  std::string name, why;
  std::vector<std::string> projects; ///< globs of normalised names
  Common common = Common::version;
  bool complete = false; ///< if one glob matches a package of the set, every glob must match one
};

/// Fails with corrupt Q410, with file, line and key.
Result<std::vector<CoherentGroup>> parse_coherence(const DataText& data);

/// One finding for each group whose packages disagree, and one for each partner that is missing.
Findings check_coherence(const std::vector<Package>& set, const std::vector<CoherentGroup>& groups);

/// One warning (Q413) for each package of device code whose GPU target no package `rocm` of the set knows: no extra
/// installs it. A `rocm` whose metadata does not list extras for device code says nothing about it.
Findings check_device_code(const std::vector<Package>& set);

/// The projects that the packages of a set require and that other builds make, sorted: all but those that the `rocm` of
/// a split release pins to its own version. A set with such a `rocm` must hold the libraries and the device code that
/// it names: no other set has them. Pure.
std::vector<std::string> projects_of_others(const std::vector<Package>& set);

} // namespace quarry::closure
