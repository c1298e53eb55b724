#pragma once
// What a workflow said that it makes, against what it made (docs/formats/set-check.md, "Claims"). Codes Q431 to Q433.
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
  std::vector<std::string> files;    ///< globs of file names; each must match at least one
  std::vector<std::string> projects; ///< whose wheels are built once for each Python; empty: those that name one
  std::vector<std::string> pythons;  ///< "3.12": each of these projects has a wheel for it
  std::vector<std::string> targets;  ///< processors that the device code of the set is for: "gfx942"
  std::string file;                  ///< that says so, for messages
};

/// Fails with invalid_argument Q434, with file, line and key.
Result<Claims> parse_claims(const DataText& data);

/// Files and Pythons. A target is checked by check_claimed_targets(), because the wheels must be looked into.
Findings check_claims(const std::vector<Package>& set, const Claims& claims);
/// `made`: the targets of all device code in the set, such as "gfx90a:xnack+". A generic target counts as each
/// processor that it covers.
Findings check_claimed_targets(const Claims& claims, const std::set<std::string>& made);

} // namespace quarry::closure
