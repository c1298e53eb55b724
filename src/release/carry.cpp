#include "release/carry.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "pages/projection.hpp"
#include "promote/fed_moves.hpp"
#include "promote/yanked.hpp"
#include "publish/distribute.hpp"
#include "publish/shown.hpp"
#include "registry/feeders.hpp"
#include "registry/rounds.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>

namespace quarry::release {

using promote::DistributionPlan;
using registry::SetDigest;
using registry::ShownSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

/// Sets of `these` that `others` lacks.
std::vector<SetDigest> lacking(const std::vector<SetDigest>& these, const std::vector<SetDigest>& others) {
  std::vector<SetDigest> found;
  std::ranges::copy_if(these, std::back_inserter(found),
                       [&](const SetDigest& digest) { return std::ranges::find(others, digest) == others.end(); });
  return found;
}

Result<SetsMoved> between(ObjectReader& store, const std::vector<SetDigest>& from, const std::vector<SetDigest>& to) {
  SetsMoved moved;
  TRY(moved.leave, registry::load_all_sealed(store, lacking(from, to)), "while reading what leaves");
  TRY(moved.back, registry::load_all_sealed(store, lacking(to, from)), "while reading what comes back");
  return moved;
}

std::string described(const Destination& to, const std::vector<DistributionPlan>& plans) {
  auto text = to.locator + " " + to.prefix;
  for (const auto& plan : plans) text += fmt::format("\n{} {}", plan.directory(), plan.digest);
  return text;
}

/// What follows the channel.
struct Following {
  ObjectReader& source; ///< of the channel
  const std::string& channel;
  const Destination& to;
  SetsMoved sets = {};
  std::vector<DistributionPlan> plans = {}; ///< sorted by directory
  bool channel_moves = false;               ///< in this run; its policy was asked then

  Result<std::vector<DistributionPlan>> plan_now() const { return plan_carried(source, channel, to, sets); }
  Result<void> plan() {
    TRY(plans, plan_now());
    return {};
  }
};

/// Whether a pointer or, after a run that died between the two, pages are behind the channel.
Result<bool> is_something_behind(const Following& following) {
  for (const auto& plan : following.plans) {
    if (plan.moves()) return true;
    TRY(auto projected, pages::projected_distribution(*following.to.store, plan.directory()));
    if (projected < plan.generation()) return true;
  }
  return false;
}

/// If an earlier run moved the channel, this move needs its own key. Bringing something back needs a signer of the
/// directory's policies; for removing, one of the channel's present policy will do.
Result<void> check_later(const Following& following, const DistributionPlan& plan, const promote::Options& options) {
  if (following.channel_moves || !plan.moves()) return {};
  const auto rollback = registry::Action(registry::Action::rollback);
  auto there = promote::check_signer_there(*following.to.store, plan.expected.record, rollback, options.key);
  if (there || plan.unblocks != 0 || !plan.returns.empty()) return there;
  TRY(auto feeder, registry::feeder_of(following.source, following.channel));
  if (feeder.policy.empty()) return there;
  registry::DistributionRecord by_channel;
  by_channel.directory = plan.directory();
  by_channel.fed_by = {std::move(feeder)};
  return promote::check_signer_there(following.source, by_channel, rollback, options.key) ? Result<void>() : there;
}

/// One distribution; when somebody else moves it, or nobody knows whether it moved, it is planned anew: the channel has
/// moved already.
Result<promote::DistributionReceipt> carry_one(const Following& following, const DistributionPlan& planned,
                                               const promote::Options& options) {
  auto plan = planned;
  for (registry::Rounds rounds("distribution " + planned.directory());;) {
    auto done = promote::execute_distribution(*following.to.store, plan, options);
    if (done) return done;
    TRY_DO(rounds.another(std::move(done).error()));
    TRY(auto anew, following.plan_now());
    auto same = [&](const DistributionPlan& one) { return one.directory() == planned.directory(); };
    auto at = std::ranges::find_if(anew, same);
    if (at == anew.end()) continue;
    plan = *at;
    TRY_DO(check_later(following, plan, options));
  }
}

Unexpected half_carried(const Following& following, std::size_t done, Error error) {
  std::vector<std::string> moved, waiting;
  for (std::size_t i = 0; i < following.plans.size(); ++i)
    (i < done ? moved : waiting).push_back(following.plans[i].directory());
  auto told = Error::of(ErrorKind::precondition_failed, "O040",
                        fmt::format("channel {} is rolled back, and {} not yet: {}", following.channel,
                                    text::join(waiting, ", "), error.message));
  told.details = std::move(error.details);
  if (!moved.empty()) told.details.push_back("done      " + text::join(moved, ", "));
  told.hint = "run the same command again: it leaves what is done and completes the rest";
  return fail(std::move(told));
}

Result<void> carry_all(const Following& following, const promote::Options& options, CarriedRollback& carried) {
  for (std::size_t i = 0; i < following.plans.size(); ++i) {
    auto done = carry_one(following, following.plans[i], options);
    if (!done) return half_carried(following, i, std::move(done).error());
    carried.distributions.push_back(std::move(*done));
  }
  return {};
}

void show_plans(const std::vector<DistributionPlan>& plans, CarriedRollback& carried) {
  for (const auto& plan : plans) {
    promote::DistributionReceipt receipt;
    receipt.plan = plan;
    receipt.generation = plan.generation();
    receipt.notes = plan.notes;
    carried.distributions.push_back(std::move(receipt));
  }
}

/// The copies of a set as the directory showed them last: `yank` may have left a part, and the pages said something
/// about it. The set itself if no move showed it.
std::vector<ShownSet> shown_last(const std::vector<registry::DistributionView>& moves, const ShownSet& wanted) {
  for (const auto& move : moves) {
    std::vector<ShownSet> found;
    std::ranges::copy_if(move.shown.sets, std::back_inserter(found), [&](const ShownSet& one) {
      return one.set == wanted.set || (!one.source.empty() && one.source == wanted.source);
    });
    if (!found.empty()) return found;
  }
  return {wanted};
}

Finding stays_out(const std::string& address, const registry::SealedSet& sealed, const registry::FileRecord& file) {
  return {"O063", Severity::warning, address,
          fmt::format("does not show set:{} again: {} was taken out of it by a move of its own",
                      sealed.digest.short_hex(), file.filename),
          fmt::format("if people may install it again: `quarry channel unblock {} {} --reason TEXT`, then promote the "
                      "set with `--to-store`",
                      text::shell_word(address), text::shell_word(file.filename))};
}

/// What of these sets may be shown again, as it was shown last. What a yank took out of the directory stays out: the
/// channel that goes back knows nothing of it.
Result<std::vector<ShownSet>> that_may_return(ObjectReader& store, const registry::DistributionRecord& now,
                                              const std::vector<ShownSet>& back, Findings& notes) {
  constexpr std::size_t k_moves_looked_at = 64; // what comes back was taken out by one of the last moves
  std::vector<ShownSet> may;
  if (back.empty()) return may;
  TRY(auto moves, registry::distribution_moves(
                      store, now, now.shown.blocked.empty() ? k_moves_looked_at : registry::k_all_distribution_moves));
  for (const auto& one : back) std::ranges::move(shown_last(moves, one), std::back_inserter(may));
  auto out = registry::yanked_there(now.shown, moves);
  if (out.empty()) return may;
  TRY(auto sets, registry::sealed_of(store, {may}));
  for (const auto& sealed : sets) {
    auto taken_out =
        std::ranges::find_if(sealed.set.files, [&](const auto& file) { return out.contains(file.sha256); });
    if (taken_out == sealed.set.files.end()) continue;
    std::erase_if(may, [&](const ShownSet& one) { return one.set == sealed.digest; });
    notes.push_back(stays_out(publish::address_of(store, now.directory), sealed, *taken_out));
  }
  return may;
}

} // namespace

Result<SetsMoved> by_last_rollback(ObjectReader& store, const std::string& channel) {
  TRY(auto last, promote::last_rollback(store, channel));
  if (!last) return SetsMoved();
  TRY(auto from, registry::load_view(store, last->from_view), "which the channel showed before its rollback");
  TRY(auto to, registry::load_view(store, last->to_view), "which the channel shows");
  return between(store, from.sets, to.sets);
}

Result<std::vector<DistributionPlan>> plan_carried(ObjectReader& source, const std::string& channel,
                                                   const Destination& to, const SetsMoved& sets) {
  TRY(auto leave, publish::plan_distribution(sets.leave, to.prefix));
  TRY(auto back, publish::plan_distribution(sets.back, to.prefix));
  struct Change {
    std::vector<SetDigest> leave; ///< and the sets that they are copies of: `yank` leaves a part of such a copy
    std::vector<ShownSet> back;
  };
  std::map<std::string, Change> changes;
  for (const auto& set : leave)
    for (const auto& digest : {set.digest, set.source}) changes[set.set.directory].leave.push_back(digest);
  for (const auto& set : back) {
    TRY(auto seal, to.store->head(registry::seal_key(set.set.directory, set.digest)));
    if (seal) changes[set.set.directory].back.push_back({set.digest, set.source}); // it was shown there before
  }
  std::vector<DistributionPlan> plans;
  for (auto& [directory, change] : changes) {
    TRY(auto now, registry::read_distribution(*to.store, directory));
    if (!now) continue;
    Findings notes;
    TRY(auto back_again, that_may_return(*to.store, now->record, change.back, notes));
    auto next = now->record.shown.sets;
    auto leaves = [&](const SetDigest& digest) {
      return !digest.empty() && std::ranges::find(change.leave, digest) != change.leave.end();
    };
    std::erase_if(next, [&](const ShownSet& one) { return leaves(one.set) || leaves(one.source); });
    for (const auto& one : back_again)
      if (std::ranges::none_of(next, [&](const ShownSet& known) { return known.set == one.set; })) next.push_back(one);
    TRY(auto plan, promote::plan_shown(*to.store, *now, std::move(next)), "in distribution " + directory);
    plan.notes = std::move(notes);
    if (plan.moves()) { // whoever may not add to it takes nothing out of it either, and brings nothing back
      TRY_DO(registry::note_revoked(source, plan.next));
      TRY(auto feeder, registry::feeder_of(source, channel));
      TRY_DO(registry::admit(source, {now->record, publish::address_of(*to.store, directory)}, {std::move(feeder)}));
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

Result<CarriedRollback> rollback_with(ObjectStore& store, const std::string& channel, const Destination& to,
                                      const promote::Options& options) {
  Following following{store, channel, to};
  auto with = options;
  with.request = to.locator + " " + to.prefix;
  with.along = [&](promote::Plan& plan) -> Result<void> {
    if (plan.moves()) {
      auto shown = registry::load_view(store, plan.expected->record.view); // a lost view is a reason to go back
      TRY(following.sets, between(store, shown ? shown->sets : std::vector<SetDigest>(), plan.view.record.sets));
    } else {
      TRY(following.sets, by_last_rollback(store, channel)); // an earlier run may have moved the channel alone
    }
    TRY_DO(following.plan());
    plan.distribution = described(to, following.plans);
    return {};
  };
  auto receipt = promote::rollback(store, channel, with);
  bool rolled_back_before =
      receipt ? receipt->completed : receipt.error().is(codes::rolled_back_already) && !options.execute;
  if (!receipt && !rolled_back_before) return fail(std::move(receipt).error());
  if (rolled_back_before) {
    TRY(following.sets, by_last_rollback(store, channel));
    TRY_DO(following.plan());
    TRY(auto behind, is_something_behind(following));
    if (!receipt && !behind) return fail(std::move(receipt).error());
  }
  following.channel_moves = receipt && !receipt->completed && receipt->plan.moves();
  if (!options.dry_run)
    for (const auto& plan : following.plans) TRY_DO(check_later(following, plan, options));
  CarriedRollback carried;
  if (receipt) {
    carried.digest = receipt->digest;
    carried.channel = std::move(*receipt);
  }
  if (options.dry_run)
    show_plans(following.plans, carried);
  else
    TRY_DO(carry_all(following, options, carried));
  return carried;
}

} // namespace quarry::release
