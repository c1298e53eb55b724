#include "publish/move.hpp"

#include "publish/marks.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::publish {

using registry::Channel;
using registry::ChannelRecord;

Result<ChannelRecord> move_channel(store::ObjectStore& store, const std::string& channel,
                                   const std::optional<Channel>& expected, const registry::View& view,
                                   const Reason& reason) {
  TRY_DO(registry::put_view(store, view));
  ChannelRecord next;
  if (expected) next.unknown = expected->record.unknown;
  next.name = channel;
  next.generation = (expected ? expected->record.generation : 0) + 1;
  next.view = view.digest;
  next.previous = expected ? expected->record.view : registry::ViewDigest();
  registry::LedgerRecord entry;
  entry.previous = expected ? expected->record.ledger : registry::LedgerDigest();
  entry.channel = channel;
  entry.action = reason.action;
  entry.from_view = next.previous;
  entry.to_view = view.digest;
  entry.plan = reason.plan;
  entry.verdict = reason.verdict;
  entry.who = reason.who;
  entry.when = reason.when;
  entry.why = reason.why;
  entry.generation = next.generation;
  TRY(next.ledger, registry::put_ledger(store, entry));
  auto records = records_of(view);
  records.push_back({registry::ledger_key(next.ledger), registry::to_json(entry)});
  TRY_DO(refresh_marked(store, records));
  TRY_DO(registry::swap_channel(store, expected, next));
  TRY_DO(restore_missing(store, records), "after channel " + channel + " has moved");
  return next;
}

Result<Added> add_sets(store::ObjectStore& store, const std::string& channel,
                       const std::vector<registry::SealedSet>& sets, const Reason& reason) {
  for (int round = 0, lost = 0; round < pages::k_rebase_max; ++round) {
    TRY(auto now, registry::read_channel(store, channel));
    registry::View base;
    if (now) {
      TRY(base, registry::load_view_for(store, now->record.view, sets), "while reading channel " + channel);
    }
    TRY(auto next, registry::extend_view(base, sets), "in channel " + channel);
    if (now && next.digest == base.digest) return Added{now->record, false, {}};
    auto moved = move_channel(store, channel, now, next, reason);
    if (moved) {
      Added added{std::move(*moved), true, {}};
      added.views.emplace(base.digest, std::move(base.record));
      added.views.emplace(next.digest, std::move(next.record));
      return added;
    }
    // The same entry again: should the lost write arrive after all, it is recognised.
    bool again = moved.error().kind == ErrorKind::precondition_failed ||
                 (moved.error().kind == ErrorKind::outcome_unknown && ++lost < pages::k_lost_max);
    if (!again) return fail(std::move(moved).error());
  }
  return fail(ErrorKind::precondition_failed, "P010",
              fmt::format("other writers changed channel {} {} times meanwhile", channel, pages::k_rebase_max),
              "run the same command again; what it wrote so far is kept");
}

} // namespace quarry::publish
