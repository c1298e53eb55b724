#pragma once
// Which channels may add to a distribution. Once a protected channel has fed it, only its policy lets more in: sets
// of a channel that nobody judges must not get in beside them. What the distribution showed before stays. A channel is
// known by its moves, so that of a copied store is the same one. As thread-safe as the store.
#include "registry/distributions.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// The channel as it is now; without a policy if it does not exist. Two reads, and what bound_after() reads. O044 as
/// check_bound().
Result<Feeder> feeder_of(ObjectReader& store, const std::string& channel);
/// The same for several channels.
Result<std::vector<Feeder>> feeders_of(ObjectReader& store, const std::vector<std::string>& channels);

/// What is fed, and what calls it: `address` is for messages.
struct Fed {
  const DistributionRecord& distribution;
  const std::string& address;
};
/// Who has fed the distribution once these channels of `source` did; none: packages that come from no channel. A
/// channel may add to a guarded distribution if a policy of those that fed it protects it, or if it is one of them,
/// whatever protects it now: binding another policy, and lifting it, are moves of that channel. Held O055 otherwise. No
/// read unless a channel has another policy than before; then its moves since are read.
Result<std::vector<Feeder>> admit(ObjectReader& source, const Fed& fed, const std::vector<Feeder>& feeders);

} // namespace quarry::registry
