#pragma once
// The pump of promotion: records, the one swap, pages. Nothing is rewritten, and nothing copied except with --pin: what
// was tested is what is released. Killed anywhere, the same command completes it.
#include "base/finding.hpp"
#include "pages/addresses.hpp"
#include "pages/public_url.hpp"
#include "promote/plan.hpp"
#include "registry/reviewed.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::promote {

struct Options {
  std::string who; ///< for the ledger, with `when` and `why`
  sys::Timestamp when;
  std::string why;
  std::optional<registry::ReviewedPlan> execute; ///< exactly this plan; else whatever is planned now
  bool dry_run = false;
  std::optional<std::uint64_t> to_generation = {}; ///< of a rollback: whose view is restored
  pages::PublicUrl public_url = {};                ///< of the links in the receipt
  /// Called with the plan that is about to be executed, before anything is written; an error stops it. Not called by a
  /// dry run, for a held plan, or for one that an earlier run executed.
  std::function<Result<void>(const Plan&)> before_writing = {};
  /// Called with each plan before its digest is taken, to say in `distribution` what goes along; by a promotion only
  /// if the plan moves something.
  std::function<Result<void>(Plan&)> along = {};
  std::string request = {}; ///< of a rollback: what else was asked for; the same plan for another place is another
                            ///< plan
  std::optional<Ed25519PrivateKey> key = {}; ///< signs the move; held O041 if the channel's policy wants another one
  std::optional<registry::Identity> identity = {}; ///< of this job, for the ledger
  /// Called when another job has bound a policy to the channel meanwhile, and nobody has named one for this promotion.
  /// It puts the channel's policy into the request that promote() got. Empty: the promotion is held (O012).
  std::function<Result<void>()> bound_anew = {};
  /// The time at which each round judges; without it, that of the request.
  std::function<std::int64_t()> clock_us = {};
};

struct Receipt {
  Plan plan;                    ///< when `completed`: only its channel
  registry::PlanDigest digest;  ///< of the plan that was executed; of an earlier run's when `completed`
  std::uint64_t generation = 0; ///< of the channel; after a dry run: what it would be
  registry::ViewDigest view;
  std::uint64_t writes = 0; ///< changes of the store
  bool moved = false, held = false;
  bool completed = false; ///< the move was made by an earlier run that died before the pages were written
  pages::Addresses at;    ///< where people install from the channel
  Findings notes;         ///< those of the plan, and P050 of the pages
};

/// Plans, and unless held or a dry run, executes. A protected channel whose policy names signers of moves or verdicts
/// takes no others: held O041, O042. When somebody else moves the channel meanwhile, it is planned and
/// judged anew; with `execute` that is precondition_failed O002 (exit 7), which says what moved. Hashing what is to
/// move and copying it may take minutes, so evidence and waivers are listed again when all is written that the swap
/// makes count; when there are others than the verdict knows, it is judged anew. With `execute` of a plan that was
/// executed already it completes the pages; O002 if that move was undone since or was made for another request. Also
/// fails as plan_promotion() does, with O016 or P010 if other jobs kept recording results or moving the channel, R031,
/// and R004 after k_unknown_outcomes_max unknown outcomes. An error after the swap leaves the channel moved: run again.
Result<Receipt> promote(store::ObjectStore& store, const Request& request, const Options& options);
/// Asks `options.along` about a promotion that moves something, and takes the plan's digest anew.
Result<void> take_along(const Options& options, Plan& plan);

/// The move that an earlier run made by this plan, with its pages completed; nullopt if none of the last 64 moves was
/// made by it. precondition_failed O002 if that plan was for another request, whose fields it
/// names, or was undone since.
Result<std::optional<Receipt>> executed_before(store::ObjectStore& store, const Request& request,
                                               const registry::ReviewedPlan& reviewed, const Options& options);
/// What decides a plan now, as lines for people: the channel's last move, the sets to add, the verdict. For a plan that
/// is not the one that was reviewed: its digest does not say what has changed. Two reads.
Result<std::vector<std::string>> facts_now(store::ObjectReader& store, const Plan& plan);
/// Executes a plan as it is, for callers that check several plans before the first one moves a channel. R003 when
/// somebody else moved the channel since: it is as it was, but copies, parts of sets and the verdict may have been
/// written. O016 when a result or a waiver came or went since: the same holds then. A held plan does nothing. A
/// plan that moves nothing brings the pages up to the channel.
Result<Receipt> execute_plan(store::ObjectStore& store, const Plan& plan, const Options& options);
/// Whether the policy of the channel takes this move by `options.key`, and its verdict: held O041, O042. execute_plan()
/// asks it, too; who moves several channels asks before the first of them moves. A few reads; none without a policy.
Result<void> check_signatures(store::ObjectReader& store, const Plan& plan, const Options& options);

/// Swaps the previous view back, or that of `options.to_generation`, as a new generation (errors: plan_rollback). Run
/// again after a death between swap and pages, it completes the pages and does not swap a second time. A move of
/// another writer in between is precondition_failed R003: what is rolled back is what was looked at. Fails with R015
/// and O002 as promote() does, and with R004: run it again, it looks first.
Result<Receipt> rollback(store::ObjectStore& store, const std::string& channel, const Options& options);

/// The last move of the channel that changed what it shows, if that was a rollback. A read for each move since.
Result<std::optional<registry::LedgerRecord>> last_rollback(store::ObjectReader& store, const std::string& channel);

} // namespace quarry::promote
