#include "promote/bound.hpp"

#include "promote/planning.hpp"
#include <fmt/core.h>

namespace quarry::promote {

using registry::Action;
using registry::LedgerRecord;
using registry::PolicyDigest;
using store::ObjectReader;

Result<gate::Policy> stored_policy(ObjectReader& store, const PolicyDigest& digest) {
  TRY(auto record, registry::load_policy(store, digest));
  return gate::parse_stored_policy({record.json, registry::policy_key(digest)});
}

Result<std::optional<gate::Policy>> policy_of(ObjectReader& store, const std::string& channel) {
  TRY(auto now, registry::read_channel(store, channel));
  if (!now || now->record.guard.policy.empty()) return std::optional<gate::Policy>();
  TRY(auto policy, stored_policy(store, now->record.guard.policy), "which protects channel " + channel);
  return std::optional(std::move(policy));
}

bool binds(const LedgerRecord& move) { return move.action == Action::protect || move.action == Action::unprotect; }

PolicyDigest bound_by(const LedgerRecord& move) {
  return move.action == Action::protect ? move.policy : PolicyDigest();
}

Result<PolicyDigest> bound_after(ObjectReader& store, const LedgerRecord& move) {
  auto entry = move;
  while (!binds(entry) && !entry.guard) {
    if (entry.previous.empty()) return PolicyDigest();
    TRY(entry, registry::load_ledger(store, entry.previous), "while reading the moves of channel " + move.channel);
  }
  return binds(entry) ? bound_by(entry) : entry.guard->policy;
}

Result<PolicyDigest> bound_before(ObjectReader& store, const LedgerRecord& move) {
  if (move.previous.empty()) return PolicyDigest();
  TRY(auto before, registry::load_ledger(store, move.previous), "while reading the moves of channel " + move.channel);
  return bound_after(store, before);
}

Result<Bound> bound_by_moves(ObjectReader& store, const registry::ChannelRecord& channel, const LedgerRecord* known) {
  auto last = known ? Result<LedgerRecord>(*known) : registry::load_ledger(store, channel.ledger);
  if (!last && is_lost(last.error())) return Bound{channel.guard.policy, {}};
  if (!last) return fail(std::move(last).error());
  Bound bound;
  TRY(bound.policy, bound_after(store, *last));
  if (bound.policy != channel.guard.policy)
    bound.differs = fmt::format("channel {} is bound to {}, and its moves bound {}", channel.name,
                                channel.guard.policy.empty() ? "no policy" : channel.guard.policy.short_hex(),
                                bound.policy.empty() ? "none" : bound.policy.short_hex());
  else if (last->guard && registry::summary_of(channel.guard) != *last->guard)
    bound.differs = fmt::format("channel {} blocks other files than its last move left blocked", channel.name);
  return bound;
}

} // namespace quarry::promote
