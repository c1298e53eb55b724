#include "promote/promote.hpp"

#include "base/codes.hpp"
#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "promote/difference.hpp"
#include "promote/pin.hpp"
#include "promote/planning.hpp"
#include "promote/signed_moves.hpp"
#include "publish/move.hpp"
#include "publish/publish.hpp"
#include "registry/bound.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/judged.hpp"
#include "registry/rounds.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::size_t k_moves_looked_at =
    64; // an interrupted move that is further back was completed by those after it

/// What an earlier move must have been for, to be the one that is asked for again.
struct Asked {
  registry::Action action;
  std::string request;
  const Request* promotion = nullptr; ///< of a promotion
};

Result<std::optional<registry::LedgerRecord>> last_move(ObjectReader& store, const std::string& channel) {
  TRY(auto now, registry::read_channel(store, channel));
  if (!now) return std::optional<registry::LedgerRecord>();
  TRY(auto entry, registry::load_ledger(store, now->record.ledger));
  return std::optional(std::move(entry));
}

Unexpected another_request(const registry::LedgerRecord& move, const Asked& asked) {
  auto error = Error::of(ErrorKind::precondition_failed, "O002",
                         fmt::format("this plan was executed at {} as {}@{}, for another request: {}", move.when,
                                     move.channel, move.generation, move.action))
                   .with_hint("nothing was changed: look at `--dry-run` of this request, then execute its digest");
  if (asked.promotion && move.action == asked.action)
    error.details = request_difference(*asked.promotion, move.request);
  return fail(std::move(error));
}

/// The move that this plan made already, if it did. precondition_failed O002 if that was not what is asked for now.
Result<std::optional<registry::LedgerRecord>> executed(ObjectReader& store, const std::string& channel,
                                                       const registry::ReviewedPlan& reviewed, const Asked& asked) {
  TRY(auto now, registry::read_channel(store, channel));
  auto digest = now ? now->record.ledger : registry::LedgerDigest();
  for (std::size_t i = 0; i < k_moves_looked_at && !digest.empty(); ++i) {
    TRY(auto entry, registry::load_ledger(store, digest), "while reading the ledger of channel " + channel);
    if (reviewed.names(entry.plan)) {
      // Entries of older programs do not say what was asked for; their rollbacks took no distribution along.
      bool same =
          entry.action == asked.action &&
          (entry.request == asked.request || (entry.request.empty() && entry.action == registry::Action::promote));
      if (!same) return another_request(entry, asked);
      return std::optional(std::move(entry));
    }
    digest = entry.previous;
  }
  return std::optional<registry::LedgerRecord>();
}

/// Whether the channel still shows what that move brought. Sets are only ever added, except by a rollback.
Result<bool> still_stands(ObjectReader& store, const registry::LedgerRecord& move) {
  TRY(auto now, registry::require_channel(store, move.channel));
  if (now.record.generation == move.generation) return true;
  if (move.action == registry::Action::rollback) return false;
  TRY(auto brought, registry::load_view(store, move.to_view));
  TRY(auto shown, registry::load_view(store, now.record.view));
  auto in = [&](const registry::SetDigest& set) {
    return std::find(shown.sets.begin(), shown.sets.end(), set) != shown.sets.end();
  };
  return std::all_of(brought.sets.begin(), brought.sets.end(), in);
}

Unexpected undone(const registry::LedgerRecord& move) {
  return fail(ErrorKind::precondition_failed, "O002",
              fmt::format("this plan was executed at {} as {}@{}, and was undone since", move.when, move.channel,
                          move.generation),
              fmt::format("`quarry channel log {}` shows by whom; look at `--dry-run` again, then execute its digest",
                          move.channel));
}

Result<void> write_pages(ObjectStore& store, const pages::KnownViews& known, registry::Channel moved,
                         Receipt& receipt) {
  const auto& channel = receipt.plan.channel;
  auto what_is_left =
      fmt::format("after channel {0} has moved: `quarry index repair channel:{0}` writes its pages", channel);
  TRY_DO(pages::project_channel(store, channel, pages::Extent::changed, known, std::move(moved)), what_is_left);
  TRY(auto merged, pages::merge_channel(store, channel), what_is_left);
  receipt.notes.insert(receipt.notes.end(), merged.notes.begin(), merged.notes.end());
  return {};
}

/// The channel as it stands, with its pages brought up to it. Fails with O044 if that is not what its last move left.
Result<Receipt> complete(ObjectStore& store, const std::string& channel, const registry::PlanDigest& digest,
                         const store::Counters& before) {
  Receipt receipt;
  receipt.plan.channel = channel;
  TRY(auto now, registry::require_channel(store, channel));
  TRY(auto bound, registry::bound_by_moves(store, now.record)); // the pages would show what somebody wrote into it
  TRY_DO(registry::check_bound(bound, channel));
  TRY_DO(write_pages(store, {}, {}, receipt));
  TRY(now, registry::require_channel(store, channel));
  receipt.digest = digest;
  receipt.generation = now.record.generation;
  receipt.view = now.record.view;
  receipt.completed = true;
  receipt.writes = publish::writes_between(before, store.counters());
  return receipt;
}

Result<void> write_derived(ObjectStore& store, const Plan& plan, const sys::Timestamp& when) {
  for (const auto& set : plan.preparation.subsets) {
    TRY(auto digest, registry::put_set(store, set));
    TRY_DO(registry::seal(store, digest, when));
  }
  return {};
}

Result<void> write_verdict(ObjectStore& store, const Plan& plan) {
  TRY(auto digest, registry::put_verdict(store, plan.judgement.document));
  std::vector<registry::SetDigest> sets;
  for (const auto& cell : plan.judgement.verdict.cells) sets.push_back(cell.set);
  return registry::mark_judged(store, digest, sets);
}

/// Fails if a result or a waiver has come, or gone, since the plan was judged.
Result<void> refuse_out_of_date(ObjectReader& store, const Plan& plan) {
  if (plan.action != registry::Action::promote || !plan.moves()) return {};
  TRY(auto keys, registry::evidence_and_waiver_keys(store, plan.judgement.asked, plan.judgement.records));
  if (keys == plan.judgement.records) return {};
  return fail(ErrorKind::precondition_failed, "O016",
              "other jobs kept recording results while this promotion was judged", "run the same command again");
}

/// Does what the receipt's plan says.
Result<void> execute(ObjectStore& store, const Options& options, Receipt& receipt) {
  auto& plan = receipt.plan;
  bool moves = plan.moves();
  registry::Channel moved;
  if (moves) {
    TRY_DO(copy_pinned(store, plan.preparation.pinned));
    TRY_DO(write_derived(store, plan, options.when));
    if (!plan.judgement.document.empty()) TRY_DO(write_verdict(store, plan));
    if (plan.guard.after)
      for (auto& file : plan.guard.after->blocked)
        if (file.generation == plan.generation()) file.reason = options.why;
    publish::Reason reason{plan.action,  plan.digest,           plan.judgement.digest,
                           options.who,  options.when,          options.why,
                           plan.request, plan.judgement.policy, std::move(plan.guard.after)};
    if (plan.action == registry::Action::promote) reason.clock_us = options.clock_us; // going back is always possible
    reason.before_swap = [&store, &plan] { return refuse_out_of_date(store, plan); };
    reason.identity = options.identity;
    reason.key = options.key; // check_signatures() has looked whether it counts, for exactly this state of the channel
    TRY(moved, publish::move_channel(store, plan.channel, plan.expected, plan.view, reason));
  }
  // Also when nothing moves: an earlier run may have died before its pages were written.
  if (!moves && !plan.expected) return {};
  return write_pages(store, *plan.known, std::move(moved), receipt);
}

Receipt receipt_of(Plan&& moved) {
  Receipt receipt;
  receipt.plan = std::move(moved);
  const auto& plan = receipt.plan;
  receipt.notes = plan.notes;
  receipt.digest = plan.digest;
  receipt.generation = plan.generation();
  receipt.held = plan.held;
  bool stays = plan.held || !plan.moves();
  receipt.view = stays ? (plan.expected ? plan.expected->record.view : registry::ViewDigest()) : plan.view.digest;
  return receipt;
}

Result<void> check_reviewed(ObjectReader& store, const Plan& plan, const registry::ReviewedPlan& reviewed) {
  if (reviewed.names(plan.digest)) return {};
  auto error = Error::of(ErrorKind::precondition_failed, "O002",
                         "the plan that was reviewed is not the plan that would be executed now")
                   .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest");
  error.details = {"reviewed  " + reviewed.digits(), "now       " + plan.digest.hex()};
  if (reviewed_without_store(plan, reviewed)) error.details.push_back(added_store(plan.distribution));
  TRY(auto facts, facts_now(store, plan));
  error.details.insert(error.details.end(), facts.begin(), facts.end());
  return fail(std::move(error));
}

/// One round; precondition_failed when somebody was faster.
Result<Receipt> run(ObjectStore& store, Plan&& planned, const Options& options, const store::Counters& before) {
  auto receipt = receipt_of(std::move(planned));
  const auto& plan = receipt.plan;
  if (options.execute) TRY_DO(check_reviewed(store, plan, *options.execute));
  if (plan.held) return receipt;
  // Who looks at a plan need not have the key. With a key, a dry run says whether it would do.
  if (!options.dry_run || options.key) TRY_DO(check_signatures(store, plan, options));
  if (options.dry_run) return receipt;
  if (options.before_writing) TRY_DO(options.before_writing(plan));
  TRY_DO(execute(store, options, receipt));
  receipt.moved = plan.moves();
  receipt.writes = publish::writes_between(before, store.counters());
  return receipt;
}

Result<Receipt> with_url(ObjectReader& store, const Options& options, Receipt receipt) {
  auto directory = registry::channel_directory(receipt.plan.channel);
  std::vector<std::string> projects;
  for (const auto& [project, shard] : receipt.plan.view.record.shards) projects.push_back(project);
  TRY(receipt.at, pages::addresses_of(store, options.public_url, directory, projects));
  return receipt;
}

} // namespace

Result<std::optional<Receipt>> executed_before(ObjectStore& store, const Request& request,
                                               const registry::ReviewedPlan& reviewed, const Options& options) {
  auto before = store.counters();
  TRY(auto earlier,
      executed(store, request.channel, reviewed, {registry::Action::promote, digest_of(request), &request}));
  if (!earlier) return std::optional<Receipt>();
  TRY(bool stands, still_stands(store, *earlier));
  if (!stands) return undone(*earlier);
  TRY(auto receipt, complete(store, request.channel, earlier->plan, before));
  TRY(receipt, with_url(store, options, std::move(receipt)));
  return std::optional(std::move(receipt));
}

Result<void> check_signatures(ObjectReader& store, const Plan& plan, const Options& options) {
  if (!plan.moves()) return {};
  TRY_DO(check_signer(store, plan.expected, {plan.channel, plan.action, nullptr, plan.last ? &*plan.last : nullptr},
                      options.key));
  if (plan.action != registry::Action::promote || !plan.expected) return {};
  return check_verdict_signed(store, plan.expected->record, plan.judgement.digest);
}

Result<Receipt> execute_plan(ObjectStore& store, const Plan& plan, const Options& options) {
  auto one = options;
  one.execute.reset();
  auto before = store.counters();
  TRY(auto receipt, run(store, Plan(plan), one, before));
  return with_url(store, options, std::move(receipt));
}

Result<std::vector<std::string>> facts_now(ObjectReader& store, const Plan& plan) {
  std::vector<std::string> facts;
  TRY(auto last, last_move(store, plan.channel));
  if (!last)
    facts.push_back(fmt::format("channel   {} does not exist", plan.channel));
  else
    facts.push_back(fmt::format("channel   {}@{}: {} by {} at {}", plan.channel, last->generation, last->action,
                                last->who.empty() ? "somebody" : last->who, last->when));
  facts.push_back(fmt::format("sets      {} to add", plan.sets.size()));
  if (plan.action == registry::Action::promote)
    facts.push_back(fmt::format("gate      {}", gate::to_string(plan.judgement.verdict.verdict)));
  return facts;
}

Result<void> take_along(const Options& options, Plan& plan) {
  if (!options.along || !plan.moves()) return {};
  TRY_DO(options.along(plan));
  plan.digest = digest_of(plan);
  return {};
}

Result<Receipt> promote(ObjectStore& store, const Request& request, const Options& options) {
  auto before = store.counters();
  if (options.execute && !options.dry_run) {
    TRY(auto earlier, executed_before(store, request, *options.execute, options));
    if (earlier) return std::move(*earlier);
  }
  registry::Rounds rounds("channel " + request.channel);
  for (int late = 0;;) {
    auto plan = plan_promotion_at(store, request, options.clock_us ? options.clock_us() : request.now_us);
    if (!plan && plan.error().is(codes::another_policy) && options.bound_anew && ++late < registry::k_rebase_max) {
      TRY_DO(options.bound_anew());
      continue;
    }
    if (!plan) return fail(std::move(plan).error());
    TRY_DO(take_along(options, *plan));
    auto receipt = run(store, std::move(*plan), options, before);
    if (receipt) return with_url(store, options, std::move(*receipt));
    if (receipt.error().is(codes::verdict_out_of_date) && ++late < registry::k_rebase_max) continue;
    if (options.execute) return fail(std::move(receipt).error()); // what was reviewed is done once, or not
    TRY_DO(rounds.another(std::move(receipt).error()));
  }
}

namespace {
/// sha256 of what is asked for besides the channel; empty for a plain rollback, as older programs wrote it.
std::string request_of_rollback(const Options& options) {
  auto asked = options.request;
  if (options.to_generation) asked += fmt::format(" to generation {}", *options.to_generation);
  return asked.empty() ? "" : sha256("rollback " + asked).hex();
}
} // namespace

Result<Receipt> rollback(ObjectStore& store, const std::string& channel, const Options& options) {
  auto before = store.counters();
  TRY(auto now, registry::require_channel(store, channel));
  TRY(auto last, registry::last_move(store, now.record), "while reading the last move");
  bool interrupted = false;
  if (last.action == registry::Action::rollback) {
    TRY(auto shown, pages::projected_generation(store, channel));
    interrupted = shown < now.record.generation;
  }
  auto request = request_of_rollback(options);
  if (options.execute) {
    TRY(auto earlier, executed(store, channel, *options.execute, {registry::Action::rollback, request}));
    if (earlier && earlier->generation != now.record.generation) return undone(*earlier);
    interrupted = earlier.has_value();
  }
  // Where another generation is asked for, the interrupted move is the past: the new one writes the pages.
  bool complete_it = interrupted && (options.execute || !options.to_generation);
  if (complete_it && !options.dry_run) {
    TRY(auto receipt, complete(store, channel, last.plan, before));
    return with_url(store, options, std::move(receipt));
  }
  TRY(auto plan, plan_rollback(store, {std::move(now), std::move(last)}, options.to_generation));
  plan.request = request;
  if (options.along) {
    TRY_DO(options.along(plan));
    plan.digest = digest_of(plan);
  }
  TRY(auto receipt, run(store, std::move(plan), options, before));
  return with_url(store, options, std::move(receipt));
}

} // namespace quarry::promote
