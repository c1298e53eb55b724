#include "registry/bound.hpp"

#include <fmt/core.h>

namespace quarry::registry {

bool binds(const LedgerRecord& move) { return move.action == Action::protect || move.action == Action::unprotect; }

PolicyDigest bound_by(const LedgerRecord& move) {
  return move.action == Action::protect ? move.policy : PolicyDigest();
}

bool breaks_protection(const LedgerRecord& move) { return move.action == Action::publish; }

Result<bool> is_protected_by(ObjectReader& store, LedgerDigest last, const PolicyDigest& policy) {
  while (!last.empty()) {
    auto move = registry::load_ledger(store, last);
    if (!move && is_lost(move.error())) return false;
    if (!move) return fail(std::move(move).error());
    if (breaks_protection(*move)) return false;
    if (binds(*move)) return bound_by(*move) == policy;
    last = move->previous;
  }
  return false;
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

bool is_as_left(const ChannelRecord& channel, const LedgerRecord& last) {
  return last.channel == channel.name && last.generation == channel.generation && last.to_view == channel.view;
}

Result<LedgerRecord> last_move(ObjectReader& store, const ChannelRecord& channel) {
  auto last = registry::load_ledger(store, channel.ledger);
  if (!last && !is_lost(last.error())) return last;
  TRY(auto bound, bound_by_moves(store, channel, last ? &*last : nullptr));
  TRY_DO(check_bound(bound, channel.name));
  return last;
}

Result<LedgerRecord> last_change_of_view(ObjectReader& store, LedgerRecord move) {
  while (move.from_view == move.to_view && !move.previous.empty()) {
    TRY(move, load_ledger(store, move.previous), "while reading the moves before");
  }
  return move;
}

Result<bool> show_what_was_left(ObjectReader& store, ChannelRecord& channel) {
  auto last = registry::load_ledger(store, channel.ledger);
  if (!last && is_lost(last.error())) return false;
  if (!last) return fail(std::move(last).error());
  if (last->channel != channel.name)
    return fail(ErrorKind::corrupt, "O044",
                fmt::format("channel {} names a move of channel {} as its last one", channel.name, last->channel),
                fmt::format("nothing was changed; restore {} from a copy of the store", channel_key(channel.name)));
  if (is_as_left(channel, *last)) return false;
  channel.generation = last->generation;
  channel.view = last->to_view;
  auto change = last_change_of_view(store, std::move(*last));
  if (!change && !is_lost(change.error())) return fail(std::move(change).error());
  channel.previous = change ? change->from_view : ViewDigest(); // a second lost move must not stop the way back
  return true;
}

Result<Bound> bound_by_moves(ObjectReader& store, const registry::ChannelRecord& channel, const LedgerRecord* known) {
  auto last = known ? Result<LedgerRecord>(*known) : registry::load_ledger(store, channel.ledger);
  if (!last && is_lost(last.error()))
    return Bound{channel.guard.policy,
                 fmt::format("the last move of channel {} is lost, so nobody knows what it left ({})", channel.name,
                             last.error().message),
                 channel.ledger};
  if (!last) return fail(std::move(last).error());
  Bound bound;
  TRY(bound.policy, bound_after(store, *last));
  if (!is_as_left(channel, *last))
    bound.differs = fmt::format("channel {} is not where its last move left it: {}@{} with view {}, and it shows {}@{} "
                                "with view {}",
                                channel.name, last->channel, last->generation, last->to_view.short_hex(), channel.name,
                                channel.generation, channel.view.short_hex());
  else if (bound.policy != channel.guard.policy)
    bound.differs = fmt::format("channel {} is bound to {}, and its moves bound {}", channel.name,
                                channel.guard.policy.empty() ? "no policy" : channel.guard.policy.short_hex(),
                                bound.policy.empty() ? "none" : bound.policy.short_hex());
  else if (last->guard && summary_of(channel.guard) != *last->guard)
    bound.differs = fmt::format("channel {} blocks other files than its last move left blocked", channel.name);
  return bound;
}

std::string bind_again(const std::string& channel) {
  return fmt::format(
      "somebody wrote to the store without Quarry: restore {0} from a copy, or bind the policy again: "
      "`quarry channel protect {1} --policy FILE --reason TEXT --sign KEY`; if the channel was not protected, "
      "`quarry channel unprotect {1} --reason TEXT` after that",
      channel_key(channel), channel);
}

Result<void> check_bound(const Bound& bound, const std::string& channel) {
  if (bound.differs.empty()) return {};
  if (!bound.lost.empty())
    return fail(ErrorKind::corrupt, "O044", bound.differs,
                fmt::format("nothing was changed; restore {0} from a copy of the store; or, if all that channel {1} "
                            "shows belongs there, `quarry channel protect {1} --policy FILE --reason TEXT "
                            "--trust-shown --sign KEY`",
                            ledger_key(bound.lost), channel));
  return fail(ErrorKind::corrupt, "O044", bound.differs,
              fmt::format("nothing was changed; `quarry channel verify {0}` looks at every move, `quarry channel show "
                          "{0}` at what is blocked; {1}",
                          channel, bind_again(channel)));
}

} // namespace quarry::registry
