#pragma once
// Checks that each package of a set can be installed with everything that it requires: alone and with each of its
// extras, for each target. Codes Q401 to Q407.
#include "base/finding.hpp"
#include "closure/package.hpp"
#include "closure/surroundings.hpp"
#include "mirror/resolve.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::closure {

struct ClosureQuestion {
  std::vector<mirror::Target> targets;
  mirror::Candidates* base = nullptr; ///< the index of dependencies; null: no index is searched
  std::string base_name;              ///< for messages
  std::vector<std::string> assumed;   ///< globs of projects that count as available without a search
  /// The packages of the channel that the set moves to; null: only the set itself. If this is set and `base` is null,
  /// projects that `beside` does not own count as available.
  const Surroundings* beside = nullptr;
  std::string set_name = "the set"; ///< how messages call the owner of the projects in the set and in `beside`
};

/// Returns one finding for each requirement that cannot be met, with the targets concerned; its place is the file that
/// has the requirement. A package is searched only on targets for which it has a file. Fails as the base index does.
/// Costs one search for each package, extra and target; each search is bounded (closure/resolve.hpp).
Result<Findings> check_closure(const std::vector<Package>& set, const ClosureQuestion& question);

/// A package of the set that cannot be installed on at least one target.
struct Unmet {
  std::string file;   ///< of the package
  std::string extra;  ///< the extra that makes it fail; empty: it fails without extras
  std::string lacks;  ///< the project that cannot be found or chosen; empty: the package's own requirements are unknown
  std::string reason; ///< a clause without a full stop
  auto operator<=>(const Unmet&) const = default;
};

struct Installable {
  std::vector<Unmet> unmet;             ///< each once, in the order in which the searches found them
  std::set<std::string> taken_as_given; ///< projects that counted as available without a search
};

/// Runs the searches of check_closure() and returns which packages cannot be installed. A package whose requirements
/// are unknown, or whose search exceeded a bound, counts as not installable. Errors and cost are those of
/// check_closure().
Result<Installable> find_unmet(const std::vector<Package>& set, const ClosureQuestion& question);

} // namespace quarry::closure
