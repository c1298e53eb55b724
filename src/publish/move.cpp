#include "publish/move.hpp"

#include "publish/marks.hpp"
#include "registry/bound.hpp"
#include "registry/rounds.hpp"
#include "signature/stored.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>

namespace quarry::publish {

using registry::Channel;
using registry::ChannelRecord;

Result<void> refuse_wrong_clock(const store::ObjectReader& store, const Clocks& clocks) {
  constexpr std::int64_t k_skew_us = 5ll * 60 * 1'000'000;
  if (clocks.store_us == 0 || std::abs(clocks.ours_us - clocks.store_us) <= k_skew_us) return {};
  return fail(ErrorKind::held, "O057",
              fmt::format("the clock of this machine says {}, and that of {} {}: what was judged by it does not count",
                          sys::rfc3339(clocks.ours_us), store.describe(), sys::rfc3339(clocks.store_us)),
              "nothing was moved; set this machine's clock (`timedatectl`), then run the same command again");
}

namespace {
/// The entry was written a moment ago, so its time is the store's present.
Result<void> check_clock(store::ObjectReader& store, const registry::LedgerDigest& entry, const Reason& reason) {
  if (!reason.clock_us) return {};
  TRY(auto written, store.head(registry::ledger_key(entry)));
  return refuse_wrong_clock(store, Clocks{reason.clock_us(), written ? written->modified_us : 0});
}

/// A ledger that names a lost move could not be read any more: not by the channel's log, and not by `gc`, which keeps
/// everything then.
Result<void> begin_anew_if_lost(store::ObjectReader& store, ChannelRecord& next, registry::LedgerRecord& entry) {
  auto last = registry::load_ledger(store, entry.previous);
  if (last) return {};
  if (!registry::is_lost(last.error())) return fail(std::move(last).error());
  entry.acknowledges = entry.previous;
  entry.previous = {};
  entry.from_view = {};
  next.previous = {};
  return {};
}
} // namespace

Result<Channel> move_channel(store::ObjectStore& store, const std::string& channel,
                             const std::optional<Channel>& expected, const registry::View& view, const Reason& reason) {
  if (!expected) TRY_DO(registry::refuse_lost(store, channel));
  ChannelRecord next;
  if (expected) next.unknown = expected->record.unknown;
  next.name = channel;
  next.generation = (expected ? expected->record.generation : 0) + 1;
  next.view = view.digest;
  bool same_view = expected && expected->record.view == view.digest;
  if (expected) next.previous = same_view ? expected->record.previous : expected->record.view;
  if (reason.guard)
    next.guard = *reason.guard;
  else if (expected)
    next.guard = expected->record.guard;
  registry::LedgerRecord entry;
  entry.previous = expected ? expected->record.ledger : registry::LedgerDigest();
  entry.channel = channel;
  entry.action = reason.action;
  entry.from_view = expected ? expected->record.view : registry::ViewDigest();
  entry.to_view = view.digest;
  entry.plan = reason.plan;
  entry.verdict = reason.verdict;
  entry.request = reason.request;
  entry.policy = reason.policy;
  entry.who = reason.who;
  entry.identity = reason.identity;
  entry.when = reason.when;
  entry.why = reason.why;
  entry.generation = next.generation;
  entry.acknowledges = reason.acknowledges;
  entry.guard = registry::summary_of(next.guard);
  if (expected && reason.answers_for_lost) TRY_DO(begin_anew_if_lost(store, next, entry));
  if (reason.before_writing) TRY_DO(reason.before_writing(expected, entry));
  TRY_DO(registry::put_view(store, view));
  TRY(next.ledger, registry::put_ledger(store, entry));
  TRY_DO(check_clock(store, next.ledger, reason));
  auto records = records_of(view);
  records.push_back({registry::ledger_key(next.ledger), [&entry] { return registry::to_json(entry); }});
  TRY_DO(refresh_marked(store, records));
  if (reason.before_swap) TRY_DO(reason.before_swap());
  // Not before that: whoever may write the pointer could make a signed entry count whose move was stopped.
  if (reason.key) TRY_DO(signature::sign(store, {"move", *next.ledger.sha256()}, *reason.key));
  TRY(auto moved, registry::swap_channel(store, expected, std::move(next)));
  TRY_DO(restore_missing(store, records), "after channel " + channel + " has moved");
  return moved;
}

Result<void> refuse_guarded(store::ObjectReader& store, const ChannelRecord& channel,
                            const std::vector<registry::SealedSet>& sets) {
  if (!channel.guard.policy.empty())
    return fail(ErrorKind::held, "P083",
                fmt::format("channel {} is protected: sets get there by a promotion that policy {} allows",
                            channel.name, channel.guard.policy.short_hex()),
                fmt::format("publish into another channel, such as staging, test there, then `quarry promote --from "
                            "channel:staging --to {}`",
                            channel.name));
  TRY(auto bound, registry::bound_by_moves(store, channel)); // whoever writes the record could lift what it says
  TRY_DO(registry::check_bound(bound, channel.name));
  return registry::refuse_blocked(channel, sets);
}

namespace {
/// What the channel shows, without the shards: they are there.
Result<registry::View> same_view(store::ObjectReader& store, const std::optional<Channel>& now) {
  if (!now) return registry::make_view({});
  registry::View view;
  view.digest = now->record.view;
  TRY(view.record, registry::load_view(store, view.digest), "while reading channel " + now->record.name);
  return view;
}
} // namespace

Result<Guarded> change_guard(store::ObjectStore& store, const std::string& channel, const ChangeGuard& change,
                             const Reason& reason) {
  TRY_DO(registry::check_channel_name(channel));
  for (registry::Rounds rounds("channel " + channel);;) {
    TRY(auto now, registry::read_channel(store, channel));
    bool put_back = false;
    if (now && reason.action == registry::Action::protect) {
      TRY(put_back, registry::show_what_was_left(store, now->record));
    }
    auto before = now ? now->record.guard : registry::Guard();
    auto with_guard = reason;
    TRY(with_guard.guard, change(before));
    bool same = now && !put_back && *with_guard.guard == before;
    if (same) {
      TRY(auto bound, registry::bound_by_moves(store, now->record));
      // An edited record must not be reported as "unchanged". Only `protect` may go on: it corrects the record.
      if (reason.action != registry::Action::protect) TRY_DO(registry::check_bound(bound, channel));
      same = bound.differs.empty();
    }
    if (same && reason.action == registry::Action::protect) {
      TRY(same, registry::is_protected_by(store, now->record.ledger, with_guard.guard->policy));
    }
    if (same) {
      TRY_DO(pages::project_channel(store, channel)); // an earlier call may have died before it had written them
      return Guarded{now->record, false, false};
    }
    TRY(auto view, same_view(store, now));
    auto moved = move_channel(store, channel, now, view, with_guard);
    if (moved) {
      TRY_DO(pages::project_channel(store, channel, pages::Extent::changed, {}, *moved));
      return Guarded{std::move(moved->record), true, put_back};
    }
    TRY_DO(rounds.another(std::move(moved).error()));
  }
}

Result<Added> add_sets(store::ObjectStore& store, const std::string& channel,
                       const std::vector<registry::SealedSet>& sets, const Reason& reason) {
  for (registry::Rounds rounds("channel " + channel);;) {
    TRY(auto now, registry::read_channel(store, channel));
    registry::View base;
    if (now) {
      TRY_DO(refuse_guarded(store, now->record, sets));
      TRY(base, registry::load_view_for(store, now->record.view, sets), "while reading channel " + channel);
    }
    TRY(auto next, registry::extend_view(base, sets), "in channel " + channel);
    if (now && next.digest == base.digest) return Added{std::move(*now), false, {}};
    auto moved = move_channel(store, channel, now, next, reason);
    if (moved) {
      Added added{std::move(*moved), true, {}};
      added.views.add(std::move(base));
      added.views.add(std::move(next));
      return added;
    }
    // The same entry again: should the lost write arrive after all, it is recognised.
    TRY_DO(rounds.another(std::move(moved).error()));
  }
}

} // namespace quarry::publish
