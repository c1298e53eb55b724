#pragma once
// Compares what a workflow says it makes with what it made (docs/formats/set-check.md, "Claims"). Codes Q431 to Q433.
// Pure.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "closure/package.hpp"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::closure {

struct Claims {
  std::vector<std::string> files;    ///< globs of file names; each must match at least one file
  std::vector<std::string> projects; ///< projects with one wheel for each Python; empty: those whose tags name one
  std::vector<std::string> pythons;  ///< "3.12": each of `projects` must have a wheel for it
  std::vector<std::string> targets;  ///< processors for which the set must have device code: "gfx942"
  std::string file;                  ///< where the claims were read from, for messages
};

/// Fails with invalid_argument Q434, with file, line and key.
Result<Claims> parse_claims(const DataText& data);

/// Checks the claimed files and Pythons. check_claimed_targets() checks the targets, for which wheels must be opened.
Findings check_claims(const std::vector<Package>& set, const Claims& claims);
/// `made`: the targets of all device code in the set, such as "gfx90a:xnack+". A generic target counts as each
/// processor that it covers.
Findings check_claimed_targets(const Claims& claims, const std::set<std::string>& made);

} // namespace quarry::closure
