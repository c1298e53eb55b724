#pragma once
// Which channels may add to a distribution. Once a protected channel has fed it, only its policy lets more in: sets
// of a channel that nobody judges must not get in beside them. What the distribution showed before stays. A channel is
// known by its moves, so that of a copied store is the same one. As thread-safe as the store.
#include "registry/distributions.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// The channel as it is now; with neither policy nor move if it does not exist. Two reads, and what bound_after()
/// reads. O044 as check_bound().
Result<Feeder> feeder_of(ObjectReader& store, const std::string& channel);
/// The same for several channels.
Result<std::vector<Feeder>> feeders_of(ObjectReader& store, const std::vector<std::string>& channels);

/// What is fed, and what calls it: `address` is for messages.
struct Fed {
  const DistributionRecord& distribution;
  const std::string& address;
};
/// Returns the new `fed_by` of the distribution once these channels of `source` have added to it. An empty `feeders`
/// stands for packages that come from no channel. If `fed_by` is empty, all `feeders` must be unprotected, or all be
/// protected by one policy. Else a channel is admitted if:
///   - its policy is one of those in `fed_by`, or the new one of a channel of `fed_by` that adds in this call;
///   - it is in `fed_by` itself and is now bound to another policy, which takes the place of the old one;
///   - it is not protected any more, and is alone in `fed_by` and alone in this call: then the result is empty, and any
///     channel may add again.
/// Others are refused with held O055. The order of `feeders` does not count. Nothing is read if each channel of
/// `feeders` that is also in `fed_by` still has the policy that `fed_by` says. For a channel that has another policy,
/// or lost it, its moves are read, back to the one that `fed_by` names.
Result<std::vector<Feeder>> admit(ObjectReader& source, const Fed& fed, const std::vector<Feeder>& feeders);

} // namespace quarry::registry
