#pragma once
// What stays must still be installable: a set that another one needs is spared. Pure; no installer is run.
#include "base/result.hpp"
#include "closure/package.hpp"
#include "retain/plan.hpp"
#include <map>
#include <vector>

namespace quarry::retain {

using Packages = std::map<registry::SetDigest, std::vector<closure::Package>>; ///< of sealed sets, with requirements

/// The sets of plan.tombstone without which a package of a set that stays could not be installed any more, although it
/// can now; in the order in which this was found. A set is resolved among the sealed sets of its group and those of no
/// group; projects that none of them has are taken as given. Time: two searches for each set that stays and requires a
/// project of one that leaves.
Result<std::vector<Spared>> still_needed(const Inventory& inventory, const Plan& plan, const Packages& packages);

} // namespace quarry::retain
