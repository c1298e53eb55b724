#include "release/rollback.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/bound.hpp"
#include "release/stored_plan.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::release {

using registry::LedgerRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

/// The move that changed last what the channel shows, and the one before it if that was a rollback.
Result<std::vector<LedgerRecord>> last_changes(ObjectReader& store, const std::string& channel) {
  std::vector<LedgerRecord> changes;
  TRY(auto now, registry::read_channel(store, channel));
  if (!now) return changes;
  TRY(auto last, registry::last_move(store, now->record), "while reading the last move of channel " + channel);
  TRY(last, registry::last_change_of_view(store, std::move(last)));
  changes.push_back(std::move(last));
  const auto& newest = changes.front();
  if (newest.action != registry::Action::rollback || newest.previous.empty()) return changes;
  TRY(auto before, registry::load_ledger(store, newest.previous), "while reading the moves of channel " + channel);
  TRY(before, registry::last_change_of_view(store, std::move(before)));
  changes.push_back(std::move(before));
  return changes;
}

/// A channel that the release moved last, or whose rollback of that move was the last change.
struct MovedByRelease {
  std::string channel;
  LedgerRecord by;                       ///< the move of the release
  registry::PlanDigest rolled_back = {}; ///< by this plan; empty if the channel still shows the release
  bool is_rolled_back = false;
};

struct LastRelease {
  FoundPlan plan;
  std::vector<MovedByRelease> moved = {}; ///< sorted by channel

  sys::Timestamp newest() const {
    return std::ranges::max_element(moved, {}, [](const MovedByRelease& one) { return one.by.when.us(); })->by.when;
  }
};

using Changes = std::map<std::string, std::vector<LedgerRecord>>; // by channel

std::vector<MovedByRelease> moved_by(const StoredPlan& plan, const Changes& changes) {
  std::vector<MovedByRelease> moved;
  for (const auto& channel : plan.channels) {
    if (!channel.moves) continue;
    const auto& last = changes.at(channel.name);
    for (std::size_t i = 0; i < last.size(); ++i)
      if (last[i].plan == channel.plan && last[i].generation > channel.generation)
        moved.push_back({channel.name, last[i], i == 0 ? registry::PlanDigest() : last.front().plan, i != 0});
  }
  return moved;
}

/// A channel that somebody changed since would lose that move, too.
Result<void> refuse_overtaken(ObjectReader& store, const LastRelease& release) {
  std::vector<std::string> overtaken;
  for (const auto& channel : release.plan.plan.channels) {
    if (!channel.moves ||
        std::ranges::find(release.moved, channel.name, &MovedByRelease::channel) != release.moved.end())
      continue;
    TRY(bool moved, moved_since(store, channel)); // else a killed run did not come to it
    if (moved) overtaken.push_back(channel.name);
  }
  if (overtaken.empty()) return {};
  std::vector<std::string> others;
  for (const auto& one : release.moved) others.push_back(one.channel);
  return fail(Error::of(ErrorKind::precondition_failed, "O059",
                        fmt::format("{} was changed since by another move than that of {}", text::join(overtaken, ", "),
                                    release.plan.plan.source))
                  .with_detail("as the release left them, or rolled back: " + text::join(others, ", "))
                  .with_hint("nothing was changed; `quarry channel log CHANNEL` shows the moves, and `quarry rollback "
                             "CHANNEL` takes one channel back"));
}

Result<LastRelease> last_release(ObjectReader& store, const std::string& pattern) {
  TRY(auto plans, list_plans(store));
  std::erase_if(plans, [&](const FoundPlan& plan) { return plan.plan.pattern != pattern; });
  Changes changes;
  for (const auto& [digest, plan] : plans)
    for (const auto& channel : plan.channels)
      if (channel.moves && !changes.contains(channel.name)) {
        TRY(changes[channel.name], last_changes(store, channel.name));
      }
  std::optional<LastRelease> last;
  for (auto& plan : plans) {
    LastRelease release{plan, moved_by(plan.plan, changes)};
    if (release.moved.empty()) continue;
    if (!last || release.newest() > last->newest()) last = std::move(release);
  }
  if (!last)
    return fail(
        ErrorKind::not_found, "O058",
        plans.empty() ? fmt::format("no release was promoted to {}", pattern)
                      : fmt::format("every channel of {} was changed by another move since its last release", pattern),
        "nothing was changed; `quarry channel list` shows the channels, and `quarry rollback CHANNEL` takes one "
        "back");
  TRY_DO(refuse_overtaken(store, *last));
  return std::move(*last);
}

/// One channel, with what follows it if distributions are named.
Result<CarriedRollback> roll_back_one(ObjectStore& store, const std::string& channel, const Destination& to,
                                      const promote::Options& options) {
  if (to.store) return rollback_with(store, channel, to, options);
  TRY(auto receipt, promote::rollback(store, channel, options));
  CarriedRollback alone;
  alone.digest = receipt.digest;
  alone.channel = std::move(receipt);
  return alone;
}

bool moves_channel(const RolledBack& part) {
  return part.carried && part.carried->channel && part.carried->channel->plan.moves();
}

/// The whole of it while it is planned and executed.
struct Undoing {
  ObjectStore& store;
  const ChannelPattern& pattern;
  const promote::Options& options;
  LastRelease release;

  promote::Options options_for(const MovedByRelease& moved) const {
    auto one = options;
    one.execute.reset();                                   // it names the plan of all
    if (moved.by.from_view.empty()) one.to_generation = 0; // the release made the channel
    return one;
  }

  Result<RolledBack> plan_one(const MovedByRelease& moved) const {
    auto look = options_for(moved);
    look.dry_run = true;
    RolledBack part{moved.channel, moved.rolled_back};
    auto planned = roll_back_one(store, moved.channel, pattern.to, look);
    bool done_before = !planned && moved.is_rolled_back && planned.error().is(codes::rolled_back_already);
    if (done_before) return part;
    TRY(part.carried, std::move(planned), "in channel " + moved.channel);
    if (!moves_channel(part)) return part;
    part.digest = part.carried->digest;
    // A dry run looks at signatures only if it has a key.
    if (!options.dry_run)
      TRY_DO(promote::check_signatures(store, part.carried->channel->plan, options), "in channel " + moved.channel);
    return part;
  }

  Result<ReleaseRollback> plan() const {
    const auto& stored = release.plan;
    ReleaseRollback all{stored.plan.source, stored.digest, {}, {}};
    auto channels = Json::array();
    for (const auto& moved : release.moved) {
      TRY(auto part, plan_one(moved));
      channels.push_back({{"channel", part.channel}, {"plan", part.digest}});
      all.parts.push_back(std::move(part));
    }
    Json json{{"schema", "quarry.release-rollback-plan/1"},
              {"pattern", pattern.text},
              {"promoted", stored.digest},
              {"to", pattern.to.store ? pattern.to.locator + " " + pattern.to.prefix : ""},
              {"channels", std::move(channels)}};
    all.digest = registry::PlanDigest(sha256(json::text(json)));
    return all;
  }

  /// As it was planned: nobody else has moved the channel since.
  Result<void> execute_one(const MovedByRelease& moved, RolledBack& part) const {
    auto one = options_for(moved);
    auto planned = std::move(part.carried);
    one.before_writing = [&](const promote::Plan& now) -> Result<void> {
      if (!now.moves()) return {};
      const auto* was = planned && planned->channel ? &planned->channel->plan : nullptr;
      if (was && was->expected && now.expected && was->expected->record.generation == now.expected->record.generation &&
          was->view.digest == now.view.digest)
        return {};
      return fail(ErrorKind::precondition_failed, "R003", fmt::format("channel {} was moved meanwhile", moved.channel),
                  fmt::format("`quarry channel log {}` shows the moves", moved.channel));
    };
    part.carried.reset();
    auto done = roll_back_one(store, moved.channel, pattern.to, one);
    if (!done && moved.is_rolled_back && done.error().is(codes::rolled_back_already)) return {};
    TRY(part.carried, std::move(done));
    return {};
  }

  /// Whether it has moved although what follows a move failed. A ledger that cannot be read now tells nothing.
  bool has_moved_back(const MovedByRelease& moved) const {
    auto last = last_changes(store, moved.channel);
    return last && !last->empty() && last->front().action == registry::Action::rollback &&
           last->front().from_view == moved.by.to_view;
  }

  Unexpected half_done(std::size_t at, Error error) const {
    std::vector<std::string> done, waiting;
    for (std::size_t i = 0; i < release.moved.size(); ++i)
      (i < at || (i == at && has_moved_back(release.moved[i])) ? done : waiting).push_back(release.moved[i].channel);
    if (done.empty()) return fail(std::move(error));
    auto follows = waiting.empty() ? "what follows a move failed" : text::join(waiting, ", ") + " not yet";
    auto told = Error::of(ErrorKind::precondition_failed, "O060",
                          fmt::format("{} {} rolled back, and {}: {}", text::join(done, ", "),
                                      done.size() == 1 ? "is" : "are", follows, error.message));
    told.details = std::move(error.details);
    told.hint = "run the same command again, without --execute: it leaves what is done and completes the rest";
    return fail(std::move(told));
  }

  Result<void> execute(ReleaseRollback& all) const {
    for (std::size_t i = 0; i < all.parts.size(); ++i) {
      auto done = execute_one(release.moved[i], all.parts[i]);
      if (!done) return half_done(i, std::move(done).error());
    }
    return {};
  }
};

Unexpected all_of_it_before(const ChannelPattern& pattern, const LastRelease& release) {
  const auto& one = release.moved.front().channel;
  return fail(Error::of(ErrorKind::precondition_failed, "O007",
                        fmt::format("{}, the last release to {}, was rolled back already in all of its channels",
                                    release.plan.plan.source, pattern.text))
                  .with_hint(fmt::format("nothing was changed; `quarry channel log {}` shows the moves of one, and "
                                         "`quarry rollback {} --to GENERATION` goes to any of them",
                                         one, one)));
}

Result<void> check_reviewed_rollback(const ReleaseRollback& all, const registry::ReviewedPlan& reviewed) {
  if (reviewed.names(all.digest)) return {};
  return fail(Error::of(ErrorKind::precondition_failed, "O002",
                        "the plan that was reviewed is not the plan that would be executed now")
                  .with_detail("reviewed  " + reviewed.digits())
                  .with_detail("now       " + all.digest.hex())
                  .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest"));
}

} // namespace

bool ReleaseRollback::moves() const {
  return std::ranges::any_of(parts, [](const RolledBack& part) {
    return moves_channel(part) ||
           (part.carried && std::ranges::any_of(part.carried->distributions,
                                                [](const auto& one) { return one.moved || one.plan.moves(); }));
  });
}

Result<ReleaseRollback> rollback_release(ObjectStore& store, const ChannelPattern& pattern,
                                         const promote::Options& options) {
  TRY(auto last, last_release(store, pattern.text));
  Undoing undoing{store, pattern, options, std::move(last)};
  TRY(auto all, undoing.plan());
  if (options.execute) TRY_DO(check_reviewed_rollback(all, *options.execute));
  if (!options.dry_run) TRY_DO(undoing.execute(all));
  bool nothing = std::ranges::none_of(all.parts, [](const RolledBack& part) { return part.carried.has_value(); });
  if (nothing && !options.execute) return all_of_it_before(pattern, undoing.release);
  return all;
}

} // namespace quarry::release
