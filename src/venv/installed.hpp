#pragma once
// The distributions of an environment, by their dist-info directories.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "dist/metadata.hpp"
#include "dist/unpacking.hpp"
#include "venv/environment.hpp"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::venv {

struct Distribution {
  std::string project, version;                  ///< project normalised
  std::string dist_info;                         ///< "rocm-7.2.0.dist-info"
  std::map<std::string, dist::RecordRow> record; ///< by path, as RECORD writes it (relative to site-packages)
  std::optional<dist::Unpacking> unpacking = {}; ///< nullopt: it unpacks nothing
};

/// Sorted by project. corrupt V030: a dist-info whose METADATA, RECORD or unpacking.json cannot be read, or two of one
/// project.
Result<std::vector<Distribution>> list_distributions(const Environment& environment);

/// Rows that unpacking the development files adds and removes (python/rocm's _devel.py), which no wheel lists: those of
/// the devel package, and of each package of device code the links to its files. Which they are says the distribution
/// (dist/unpacking.hpp); its word is part of what is proven.
bool is_devel_expansion(const Distribution& distribution, const std::string& path);
bool is_devel_payload(const Distribution& distribution, const std::string& path);

/// Whether unpacked development files are among the rows of the distribution.
bool is_expanded(const Distribution& distribution);

/// sha256 over "path,digest,size" of all rows with a sha256, sorted, without those of the devel expansion and its
/// payload.
Sha256 content_digest(const Distribution& distribution);

} // namespace quarry::venv
