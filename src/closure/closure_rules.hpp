#pragma once
// Whether everything that the packages of a set require can be installed with them: for each package and each of its
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
  mirror::Candidates* base = nullptr; ///< an index of dependencies; null: none is asked
  std::string base_name;              ///< for messages
  std::vector<std::string> assumed;   ///< globs of projects that people get from elsewhere
  /// The channel that the set moves to; null: the set stands alone. With it and without a base index, projects that it
  /// does not own are taken as given.
  const Surroundings* beside = nullptr;
  std::string set_name = "the set"; ///< for messages: what owns the projects of the set and of `beside`
};

/// One finding for each gap, with the targets on which it opens; its place is the file that asks. A package that has no
/// file for a target is not asked about there. Fails as the base index does. Time: one search for each package, extra
/// and target, each bounded (closure/resolve.hpp).
Result<Findings> check_closure(const std::vector<Package>& set, const ClosureQuestion& question);

/// A package of the set that somebody cannot install.
struct Unmet {
  std::string file;   ///< of the package
  std::string extra;  ///< that it cannot be installed with; empty: not even without extras
  std::string lacks;  ///< the project that stands in the way; empty: its own requirements are not known
  std::string reason; ///< a clause without a full stop
  auto operator<=>(const Unmet&) const = default;
};

struct Installable {
  std::vector<Unmet> unmet;             ///< each once, in the order in which they were met
  std::set<std::string> taken_as_given; ///< projects that nobody looked for
};

/// The same search as check_closure(), for the question which packages can be installed. A package whose requirements
/// are not known, or whose search was given up, cannot. Errors and time: check_closure().
Result<Installable> find_unmet(const std::vector<Package>& set, const ClosureQuestion& question);

} // namespace quarry::closure
