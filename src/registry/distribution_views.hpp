#pragma once
// All records of a distribution's moves, also those that its pointer does not lead to. As thread-safe as the store.
#include "registry/distributions.hpp"
#include <vector>

namespace quarry::registry {

/// The records of moves below `{directory}/views/`, by digest, without those of `known`. An object that is not such a
/// record of this directory, or was altered, is left out. A listing and a read for each.
Result<std::vector<Stored<DistributionView>>>
other_distribution_views(ObjectReader& store, const std::string& directory,
                         const std::vector<DistributionViewDigest>& known);

} // namespace quarry::registry
