#include "promote/distributions.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "pages/projection.hpp"
#include "promote/fed_moves.hpp"
#include "promote/named_files.hpp"
#include "promote/planning.hpp"
#include "promote/yanked.hpp"
#include "publish/publish.hpp"
#include "publish/shown.hpp"
#include "registry/history.hpp"
#include "registry/rounds.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::promote {

using registry::DistributionView;
using registry::FileRecord;
using registry::ShownSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::size_t k_executed_looked_at = 64; // as for a channel's plan

/// The files of these sets, by sha256.
using FilesBySha = std::map<Sha256, FileRecord>;

Result<FilesBySha> files_shown_by(ObjectReader& store, const std::vector<ShownSet>& sets) {
  TRY(auto sealed, registry::sealed_of(store, {sets}));
  FilesBySha files;
  for (const auto& one : sealed)
    for (const auto& file : one.set.files) files.emplace(file.sha256, file);
  return files;
}

/// How many of the files that leave stay on the pages, because they were taken over before they were sealed.
Result<std::size_t> listed_as_history(ObjectReader& store, const std::string& directory, std::set<std::string> leaving,
                                      const FilesBySha& wanted) {
  if (leaving.empty()) return std::size_t{0};
  for (const auto& [sha, file] : wanted) leaving.erase(file.filename); // a set counts before the history
  TRY(auto history, registry::history_of(store, directory));
  return static_cast<std::size_t>(
      std::ranges::count_if(history.files, [&](const auto& file) { return leaving.contains(file.filename); }));
}

std::size_t count_lacking(const std::vector<ShownSet>& sets, const std::vector<ShownSet>& others) {
  return static_cast<std::size_t>(std::count_if(sets.begin(), sets.end(), [&](const ShownSet& one) {
    return std::none_of(others.begin(), others.end(), [&](const ShownSet& other) { return other.set == one.set; });
  }));
}

registry::PlanDigest digest_of_shown(const DistributionPlan& plan) {
  Json json{{"schema", "quarry.distribution-plan/1"},
            {"directory", plan.directory()},
            {"from", sha256(registry::to_json(plan.expected.record)).hex()},
            {"sets", Json::array()},
            {"blocked", Json::array()}};
  for (const auto& one : plan.next.sets) json["sets"].push_back(one.set);
  for (const auto& file : plan.next.blocked) json["blocked"].push_back(file.sha256.hex());
  return registry::PlanDigest(sha256(json::text(json)));
}

/// What was shown before the last move that changed the sets.
Result<std::vector<ShownSet>> shown_before(const registry::DistributionRecord& now,
                                           const std::vector<DistributionView>& moves) {
  for (std::size_t i = 0; i + 1 < moves.size(); ++i) {
    if (moves[i].shown.sets == moves[i + 1].shown.sets) continue; // it unblocked files
    if (moves[i].move.action == registry::Action::rollback)
      return fail(ErrorKind::precondition_failed, "O007",
                  fmt::format("the last move of distribution {} was itself a rollback, at {} to generation {}",
                              now.directory, moves[i].move.when, moves[i].generation),
                  "nothing was changed; `quarry channel log` of it shows the moves, and `--to GENERATION` goes to any "
                  "of them");
    return moves[i + 1].shown.sets;
  }
  return fail(ErrorKind::not_found, "O001",
              fmt::format("distribution {} has only its first state: there is nothing to go back to", now.directory),
              "`--to 0` takes out everything that Quarry copied there; packages of other tools stay");
}

Result<std::vector<ShownSet>> shown_at(const registry::DistributionRecord& now,
                                       const std::vector<DistributionView>& moves, std::uint64_t generation) {
  if (generation == 0) return std::vector<ShownSet>();
  for (const auto& move : moves)
    if (move.generation == generation) return move.shown.sets;
  return fail(ErrorKind::not_found, "O001",
              fmt::format("distribution {} has no generation {}", now.directory, generation),
              "`quarry channel log` of it shows its moves");
}

Unexpected another_plan(const std::string& reviewed, const DistributionPlan& plan) {
  return fail(Error::of(ErrorKind::precondition_failed, "O002",
                        "the plan that was reviewed is not the plan that would be executed now")
                  .with_detail("reviewed      " + reviewed)
                  .with_detail("now           " + plan.digest.hex())
                  .with_detail(fmt::format("distribution  {}@{}", plan.directory(), plan.expected.record.generation))
                  .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest"));
}

/// Whether an earlier run made this very move, which then is the last one. O002 if it was followed by others.
Result<bool> made_before(const registry::DistributionRecord& now, const std::vector<DistributionView>& moves,
                         const registry::ReviewedPlan& reviewed) {
  for (const auto& move : moves) {
    if (!reviewed.names(move.move.plan)) continue;
    if (move.generation == now.generation) return true;
    return fail(ErrorKind::precondition_failed, "O002",
                fmt::format("this plan was executed at {} as generation {}, and {} moved since", move.move.when,
                            move.generation, now.directory),
                "nothing was changed: look at `--dry-run` again, then execute its digest");
  }
  return false;
}

Result<DistributionReceipt> complete_distribution(ObjectStore& store, const registry::Distribution& now) {
  auto before = store.counters();
  DistributionReceipt receipt;
  receipt.plan.expected = now;
  receipt.plan.next = now.record.shown;
  receipt.generation = now.record.generation;
  receipt.completed = true;
  TRY(auto displayed, publish::display(store, now.record.directory));
  receipt.notes = std::move(displayed.notes);
  receipt.writes = publish::writes_between(before, store.counters());
  return receipt;
}

} // namespace

Result<DistributionPlan> plan_shown(ObjectReader& store, const registry::Distribution& expected,
                                    std::vector<ShownSet> next) {
  const auto& now = expected.record.shown;
  TRY(auto shown, files_shown_by(store, now.sets));
  TRY(auto wanted, files_shown_by(store, next));
  DistributionPlan plan;
  plan.expected = expected;
  plan.next.sets = std::move(next);
  plan.next.revoked = now.revoked;
  plan.leave = count_lacking(now.sets, plan.next.sets);
  plan.come_back = count_lacking(plan.next.sets, now.sets);
  std::map<Sha256, registry::BlockedFile> blocked;
  for (const auto& file : now.blocked) blocked.emplace(file.sha256, file);
  std::vector<Wanted> back;
  for (const auto& [sha, file] : wanted) {
    plan.unblocks += blocked.erase(sha);
    if (shown.contains(sha)) continue;
    back.push_back({&file, "what is to be shown again"});
    plan.returns.push_back(file);
  }
  std::set<std::string> leaving;
  for (const auto& [sha, file] : shown) {
    if (wanted.contains(sha)) continue;
    registry::BlockedFile out{sha, file.filename, "", expected.record.generation + 1, {}};
    plan.blocks += blocked.try_emplace(sha, std::move(out)).second;
    leaving.insert(file.filename);
  }
  TRY(plan.listed_on, listed_as_history(store, expected.record.directory, std::move(leaving), wanted));
  for (auto& [sha, file] : blocked) plan.next.blocked.push_back(std::move(file));
  TRY_DO(check_presence(store, back));
  plan.digest = digest_of_shown(plan);
  return plan;
}

Result<DistributionPlan> plan_distribution_rollback(ObjectReader& store, const std::string& directory,
                                                    std::optional<std::uint64_t> to) {
  TRY(auto now, registry::require_distribution(store, directory));
  TRY(auto moves, registry::distribution_moves(store, now.record, registry::k_all_distribution_moves));
  TRY(auto wanted, to ? shown_at(now.record, moves, *to) : shown_before(now.record, moves));
  TRY(auto plan, plan_shown(store, now, std::move(wanted)));
  TRY_DO(refuse_not_let_in(store, plan, moves));
  TRY_DO(refuse_yanked_there(plan, moves, publish::address_of(store, directory)));
  return plan;
}

Result<DistributionReceipt> execute_distribution(ObjectStore& store, const DistributionPlan& plan,
                                                 const Options& options) {
  auto before = store.counters();
  DistributionReceipt receipt;
  receipt.plan = plan;
  receipt.generation = plan.generation();
  if (plan.moves()) {
    auto next = plan.next;
    for (auto& file : next.blocked)
      if (file.generation == plan.generation() && file.reason.empty()) file.reason = options.why;
    TRY_DO(publish::move_signed(store, plan.expected, next,
                                {registry::Action::rollback, plan.digest, options.who, options.when, options.why},
                                options.key));
    receipt.moved = true;
  }
  TRY(auto displayed, publish::display(store, plan.directory()));
  receipt.notes = plan.notes;
  std::ranges::move(displayed.notes, std::back_inserter(receipt.notes));
  receipt.writes = publish::writes_between(before, store.counters());
  return receipt;
}

Result<DistributionReceipt> rollback_distribution(ObjectStore& store, const std::string& directory,
                                                  const Options& options) {
  TRY(auto now, registry::require_distribution(store, directory));
  TRY(auto last, registry::distribution_moves(store, now.record, k_executed_looked_at));
  TRY(auto projected, pages::projected_distribution(store, directory));
  bool interrupted = !last.empty() && last.front().move.action == registry::Action::rollback &&
                     projected < now.record.generation && !options.to_generation;
  if (options.execute) {
    TRY(interrupted, made_before(now.record, last, *options.execute));
  }
  if (interrupted && !options.dry_run) return complete_distribution(store, now);
  TRY(auto plan, plan_distribution_rollback(store, directory, options.to_generation));
  if (options.execute && !options.execute->names(plan.digest)) return another_plan(options.execute->digits(), plan);
  if (!options.dry_run) {
    if (plan.moves()) TRY_DO(check_signer_there(store, plan.expected.record, registry::Action::rollback, options.key));
    return execute_distribution(store, plan, options);
  }
  DistributionReceipt receipt;
  receipt.generation = plan.generation();
  receipt.plan = std::move(plan);
  return receipt;
}

namespace {
/// `word` as the distribution's own store knows it: `set:DIGEST` of a set that one was copied from becomes that of the
/// copy. What is blocked is not shown any more, so earlier moves are asked, the newest first.
Result<std::string> set_of_the_distribution(ObjectReader& store, const registry::DistributionRecord& record,
                                            const std::string& word) {
  constexpr std::string_view k_set = "set:";
  constexpr std::size_t k_digits_min = 8; // as registry::complete_set_digest() takes them
  if (!word.starts_with(k_set) || word.size() < k_set.size() + k_digits_min) return word;
  auto own = registry::complete_set_digest(store, word.substr(k_set.size()));
  if (own || own.error().kind != ErrorKind::not_found) return word;
  TRY(auto moves, registry::distribution_moves(store, record, k_executed_looked_at));
  for (const auto& move : moves)
    for (const auto& one : move.shown.sets)
      if (!one.source.empty() && one.source.hex().starts_with(word.substr(k_set.size())))
        return std::string(k_set) + one.set.hex();
  return word;
}
} // namespace

Result<DistributionUnblocked> unblock_distribution(ObjectStore& store, const std::string& directory,
                                                   const std::vector<std::string>& what, const Options& options) {
  for (registry::Rounds rounds("distribution " + directory);;) {
    TRY(auto now, registry::require_distribution(store, directory));
    DistributionUnblocked done{now.record, {}};
    auto next = now.record.shown;
    for (const auto& word : what) {
      TRY(auto here, set_of_the_distribution(store, now.record, word));
      TRY(auto taken, take_named(store, here, next.blocked));
      if (taken.empty())
        return fail(ErrorKind::not_found, "O013", fmt::format("distribution {} blocks nothing of {}", directory, word),
                    "nothing was changed; a file is named by its name or its sha256, or all of a set by `set:DIGEST`");
      std::ranges::move(taken, std::back_inserter(done.files));
    }
    TRY_DO(check_signer_there(store, now.record, registry::Action::unblock, options.key));
    auto moved = publish::move_signed(
        store, now, next, {registry::Action::unblock, {}, options.who, options.when, options.why}, options.key);
    if (!moved) {
      // A lost write may still arrive: the next round would find nothing blocked, and say that nothing was changed.
      if (moved.error().is(codes::write_unconfirmed)) return fail(std::move(moved).error());
      TRY_DO(rounds.another(std::move(moved).error()));
      continue;
    }
    done.record = std::move(*moved);
    TRY_DO(publish::display(store, directory)); // untested history may be listed again
    return done;
  }
}

} // namespace quarry::promote
