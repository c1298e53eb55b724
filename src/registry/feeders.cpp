#include "registry/feeders.hpp"

#include "base/text.hpp"
#include "registry/bound.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {

/// Whether the moves of a channel lead back to this one. A lost move proves nothing.
Result<bool> leads_back(ObjectReader& source, LedgerDigest last, const LedgerDigest& to) {
  while (!last.empty() && last != to) {
    auto move = load_ledger(source, last);
    if (!move && is_lost(move.error())) return false;
    if (!move) return fail(std::move(move).error());
    last = begins_anew(*move) ? move->acknowledges : move->previous;
  }
  return !last.empty();
}

/// Whether it is this channel that fed before, and not one of its name in another store.
Result<bool> is_the_same(ObjectReader& source, const Feeder& now, const Feeder& before) {
  if (now.channel != before.channel) return false;
  return leads_back(source, now.move, before.move);
}

Unexpected not_admitted(const Fed& fed, const Feeder& feeder, const std::vector<Feeder>& known) {
  std::vector<std::string> details;
  for (const auto& one : known)
    details.push_back(fmt::format("fed by  channel {}, policy {}", one.channel, one.policy.short_hex()));
  auto who = feeder.channel.empty() ? std::string("these packages come from no channel")
             : feeder.policy.empty()
                 ? fmt::format("channel {} is not protected as it is", feeder.channel)
                 : fmt::format("channel {} is bound to another policy, {}", feeder.channel, feeder.policy.short_hex());
  auto promote_there = fmt::format("promote them to channel {}", known.front().channel);
  auto bind = fmt::format("bind the policy that judges what is there: `quarry channel protect {} --policy FILE "
                          "--reason TEXT`",
                          feeder.channel);
  auto next = feeder.channel.empty()                    ? promote_there
              : feeder.channel == known.front().channel ? bind
                                                        : bind + ", or " + promote_there;
  return fail(Error::of(ErrorKind::held, "O055",
                        fmt::format("{} gets packages of the protected channel {}, and {}", fed.address,
                                    known.front().channel, who))
                  .with_details(std::move(details))
                  .with_hint(fmt::format("nothing was changed; {}; or name another `--prefix`", next)));
}

/// Without a policy: only the one channel that fed it, whose protection was lifted by a move.
Result<void> admit_unprotected(ObjectReader& source, const Fed& fed, const Feeder& feeder,
                               const std::vector<Feeder>& known) {
  if (known.empty()) return {};
  bool alone = fed.distribution.fed_by.size() == 1 && known.size() == 1;
  if (!alone || feeder.channel.empty()) return not_admitted(fed, feeder, known);
  TRY(bool same, is_the_same(source, feeder, known.front()));
  if (!same) return not_admitted(fed, feeder, known);
  return {};
}

/// A channel that is in `next` and is bound to another policy now.
Result<void> rebind(ObjectReader& source, const Feeder& feeder, std::vector<Feeder>& next) {
  auto own = std::ranges::find(next, feeder.channel, &Feeder::channel);
  if (own == next.end() || own->policy == feeder.policy) return {};
  TRY(bool same, is_the_same(source, feeder, *own));
  if (same) *own = feeder;
  return {};
}

Result<void> admit_protected(const Fed& fed, const Feeder& feeder, std::vector<Feeder>& next) {
  auto has_policy = [&](const std::vector<Feeder>& feeders) {
    return std::ranges::find(feeders, feeder.policy, &Feeder::policy) != feeders.end();
  };
  if (!next.empty() && !has_policy(next) && !has_policy(fed.distribution.fed_by))
    return not_admitted(fed, feeder, next);
  if (std::ranges::find(next, feeder.channel, &Feeder::channel) == next.end())
    next.insert(std::ranges::lower_bound(next, feeder.channel, {}, &Feeder::channel), feeder);
  return {};
}

} // namespace

Result<Feeder> feeder_of(ObjectReader& store, const std::string& channel) {
  TRY(auto now, read_channel(store, channel));
  if (!now) return Feeder{channel, {}, {}};
  TRY(auto bound, bound_by_moves(store, now->record));
  TRY_DO(check_bound(bound, channel));
  return Feeder{channel, bound.policy, now->record.ledger};
}

Result<std::vector<Feeder>> feeders_of(ObjectReader& store, const std::vector<std::string>& channels) {
  std::vector<Feeder> feeders;
  for (const auto& channel : channels) {
    TRY(auto feeder, feeder_of(store, channel));
    feeders.push_back(std::move(feeder));
  }
  return feeders;
}

Result<std::vector<Feeder>> admit(ObjectReader& source, const Fed& fed, const std::vector<Feeder>& feeders) {
  auto next = fed.distribution.fed_by;
  // All of them first: whether a policy is known must not depend on which channel is looked at first.
  for (const auto& feeder : feeders)
    if (!feeder.policy.empty()) TRY_DO(rebind(source, feeder, next));
  for (const auto& feeder : feeders)
    if (!feeder.policy.empty()) TRY_DO(admit_protected(fed, feeder, next));
  if (!next.empty() && feeders.empty()) return not_admitted(fed, Feeder{}, next);
  bool lifted = false;
  for (const auto& feeder : feeders)
    if (feeder.policy.empty()) {
      TRY_DO(admit_unprotected(source, fed, feeder, next));
      lifted = true; // else it would have been refused
    }
  if (lifted) next.clear();
  return next;
}

} // namespace quarry::registry
