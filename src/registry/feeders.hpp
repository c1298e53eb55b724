#pragma once
// Which channels may add to a distribution. Once a protected channel has fed it, only its policy lets more in: sets
// of a channel that nobody judges must not get in with them. What the distribution showed before stays. A channel is
// known by its moves, so the channel in a copy of its store is the same channel. As thread-safe as the store.
#include "registry/distributions.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// The channel as it is now. If it does not exist, policy and move are empty. Costs one read then, else two and what
/// bound_after() costs. O044 as check_bound().
Result<Feeder> feeder_of(ObjectReader& store, const std::string& channel);
/// The same for several channels.
Result<std::vector<Feeder>> feeders_of(ObjectReader& store, const std::vector<std::string>& channels);

/// What is fed, and what calls it: `address` is for messages.
struct Fed {
  const DistributionRecord& distribution;
  const std::string& address;
};
/// Returns the new `fed_by` of the distribution once these channels of `source` have added to it. An empty `feeders`
/// means that the packages come from no channel. If `fed_by` is empty, all `feeders` must be unprotected, or all be
/// protected by one policy. If `fed_by` is not empty, packages that come from no channel are refused, and each channel
/// must fulfil one of these conditions:
///   - its policy is in `fed_by`;
///   - the channel is in `fed_by` and is now bound to another policy, which replaces the old one in the result;
///   - its policy is the one to which such a channel of this call is now bound;
///   - it is the only channel in `fed_by` and the only one in this call, and is not protected any more. Then the result
///     is empty, and any channel may add again.
/// Other feeders are refused with held O055. The order of `feeders` does not count. Moves are read only for a channel
/// whose name is in `fed_by` and whose policy is not the one there: newest first, one by one, until the move that
/// `fed_by` names. If a move is lost, or the ledger ends without that move, the feeder counts as another channel of the
/// same name.
Result<std::vector<Feeder>> admit(ObjectReader& source, const Fed& fed, const std::vector<Feeder>& feeders);

} // namespace quarry::registry
