#pragma once
// Private to the room.
// The unpacked development files: each is a member of the payload in the sealed wheel, or the file of a sibling
// package.
#include "base/result.hpp"
#include "venv/file_checks.hpp"
#include "venv/installed.hpp"
#include "venv/packed.hpp"
#include <map>
#include <string>

namespace quarry::venv {

/// Whether unpacked development files are among the rows of the distribution.
bool is_expanded(const Distribution& distribution);

/// Compares the unpacked files of `distribution` with the payload. `proven`: files of the other distributions, by path
/// in site-packages. Reads the links in `site_packages`; whole files are left to the checks that are returned.
Comparison compare_with_payload(const Distribution& distribution, const DevelPayload& payload,
                                const std::map<std::string, Sha256>& proven, const std::string& site_packages);

} // namespace quarry::venv
