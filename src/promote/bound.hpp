#pragma once
// The policy that protects a channel: as the channel's record names it, and as its moves bound it. Both are the same
// unless somebody wrote to the store without Quarry. As thread-safe as the store.
#include "gate/policy.hpp"
#include "registry/registry.hpp"
#include <optional>
#include <string>

namespace quarry::promote {

/// The policy of this name, whole. One read. Fails with the errors of registry::load_policy(), and with
/// invalid_argument G002 if this program cannot read the stored policy whole.
Result<gate::Policy> stored_policy(store::ObjectReader& store, const registry::PolicyDigest& digest);
/// The policy that the channel's record names; nullopt if it names none or the channel does not exist. Two reads. Fails
/// with R016, R011 and R012 of the channel, and as stored_policy() does.
Result<std::optional<gate::Policy>> policy_of(store::ObjectReader& store, const std::string& channel);

/// Whether the move changed which policy protects the channel. Pure.
bool binds(const registry::LedgerRecord& move);
/// The policy that `protect` bound; empty for any other move. Pure.
registry::PolicyDigest bound_by(const registry::LedgerRecord& move);
/// The policy that protected the channel after this move, and before it; empty: none did. The entry says it. Older
/// programs wrote entries that do not: then the moves before are read, back to the one that bound a policy.
Result<registry::PolicyDigest> bound_after(store::ObjectReader& store, const registry::LedgerRecord& move);
Result<registry::PolicyDigest> bound_before(store::ObjectReader& store, const registry::LedgerRecord& move);
/// What protects the channel by its moves.
struct Bound {
  registry::PolicyDigest policy;
  std::string differs; ///< how the channel's record differs from what its last move left; empty: it does not
};
/// If the last move is lost, the record counts: a channel must not get stuck. One read, or as bound_after(); none for
/// the last move if the caller has read it.
Result<Bound> bound_by_moves(store::ObjectReader& store, const registry::ChannelRecord& channel,
                             const registry::LedgerRecord* last = nullptr);

} // namespace quarry::promote
