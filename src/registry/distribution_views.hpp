#pragma once
// All records of a distribution's moves, also those that its pointer does not lead to. As thread-safe as the store.
#include "registry/distributions.hpp"
#include <vector>

namespace quarry::registry {

/// The records of moves below `{directory}/views/`, by digest, without those of `known`. An object that is not such a
/// record of this directory, was altered, or is too long (R007) is left out. A listing and a read for each.
Result<std::vector<Stored<DistributionView>>>
other_distribution_views(ObjectReader& store, const std::string& directory,
                         const std::vector<DistributionViewDigest>& known);
/// Records of moves that were to follow the last one, and that no pointer names yet or ever will: the run that wrote
/// one was killed, or is still at work. Objects that the store says are older than the record of the last move are not
/// read. A listing, and a read for each of the others.
Result<std::vector<Stored<DistributionView>>> views_to_follow(ObjectReader& store, const DistributionRecord& now);

} // namespace quarry::registry
