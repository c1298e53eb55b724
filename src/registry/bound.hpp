#pragma once
// Which policy protects a channel by its moves. Its record says the same unless somebody wrote to the store without
// Quarry. As thread-safe as the store.
#include "registry/registry.hpp"
#include <string>

namespace quarry::registry {

/// Whether the move changed which policy protects the channel. Pure.
bool binds(const LedgerRecord& move);
/// The policy that `protect` bound; empty for any other move. Pure.
PolicyDigest bound_by(const LedgerRecord& move);
/// The policy that protected the channel after this move, and before it; empty: none did. The entry says it. Older
/// programs wrote entries that do not: then the moves before are read, back to the one that bound a policy.
Result<PolicyDigest> bound_after(ObjectReader& store, const LedgerRecord& move);
Result<PolicyDigest> bound_before(ObjectReader& store, const LedgerRecord& move);
/// What protects the channel by its moves.
struct Bound {
  PolicyDigest policy;
  std::string differs; ///< how the channel's record differs from what its last move left; empty: it does not
};
/// If the last move is lost, the record counts: a channel must not get stuck. One read, or as bound_after(); none for
/// the last move if the caller has read it.
Result<Bound> bound_by_moves(ObjectReader& store, const ChannelRecord& channel, const LedgerRecord* last = nullptr);
/// What makes a record good that is not what the last move left, for hints. Pure.
std::string bind_again(const std::string& channel);
/// Fails with corrupt O044 if the record differs: nothing may move then but what binds the policy again. Pure.
Result<void> check_bound(const Bound& bound, const std::string& channel);

} // namespace quarry::registry
