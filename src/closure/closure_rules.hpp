#pragma once
// Whether everything that the packages of a set require can be installed with them: for each package and each of its
// extras, for each target. Codes Q401 to Q407.
#include "base/finding.hpp"
#include "closure/package.hpp"
#include "mirror/resolve.hpp"
#include <string>
#include <vector>

namespace quarry::closure {

struct ClosureQuestion {
  std::vector<mirror::Target> targets;
  mirror::Candidates* base = nullptr; ///< an index of dependencies; null: none is asked
  std::string base_name;              ///< for messages
  std::vector<std::string> assumed;   ///< globs of projects that people get from elsewhere
};

/// One finding for each gap, with the targets on which it opens; its place is the file that asks. A package that has no
/// file for a target is not asked about there. Fails as the base index does. Time: one search for each package, extra
/// and target, each bounded (closure/resolve.hpp).
Result<Findings> check_closure(const std::vector<Package>& set, const ClosureQuestion& question);

} // namespace quarry::closure
