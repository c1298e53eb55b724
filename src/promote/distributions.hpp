#pragma once
// Going back in a distribution, by its name or along with the channel that fed it. It is a move of the pointer: no file
// is removed. As thread-safe as the store.
#include "base/finding.hpp"
#include "promote/promote.hpp"
#include "registry/distributions.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// What a distribution would show, as a value.
struct DistributionPlan {
  registry::Distribution expected; ///< what it is now
  registry::Shown next;
  std::size_t leave = 0, come_back = 0;           ///< sets
  std::size_t blocks = 0, unblocks = 0;           ///< files
  std::size_t listed_on = 0;                      ///< of the blocked files: pages list them, as untested history
  std::vector<registry::FileRecord> returns = {}; ///< files that it does not show now; each once
  Findings notes = {};                            ///< O063: what stays out
  registry::PlanDigest digest = {};               ///< no time and no name of a person: equal as long as nothing moved

  const std::string& directory() const { return expected.record.directory; }
  bool moves() const { return next.sets != expected.record.shown.sets; }
  std::uint64_t generation() const { return expected.record.generation + (moves() ? 1 : 0); }
};

/// The plan that makes it show `next`. Files that are then in no shown set are blocked, those that come back are not
/// any more. corrupt O003 if a file that comes back is missing. Two reads for each set, a listing for what comes back,
/// and where files are blocked a listing and a read for each record of untested history.
Result<DistributionPlan> plan_shown(store::ObjectReader& store, const registry::Distribution& expected,
                                    std::vector<registry::ShownSet> next);
/// Back to what generation `to` showed (0: nothing of ours), or without it to what was shown before the last move that
/// changed the sets. P120; not_found O001 if such a state does not exist; precondition_failed O007 without `to` when
/// that move was itself a rollback; held O018 as refuse_not_let_in() (fed_moves.hpp), O063 as
/// refuse_yanked_there() (yanked.hpp). A read for each move, and as
/// plan_shown().
Result<DistributionPlan> plan_distribution_rollback(store::ObjectReader& store, const std::string& directory,
                                                    std::optional<std::uint64_t> to);

struct DistributionReceipt {
  DistributionPlan plan;
  std::uint64_t generation = 0; ///< of the distribution; after a dry run: what it would be
  bool moved = false;
  bool completed = false; ///< an earlier run moved it and died before the pages were written
  std::uint64_t writes = 0;
  Findings notes; ///< P050, P113
};
/// Executes a plan: the pointer, then the pages; only the pages if it moves nothing. precondition_failed R003 if
/// somebody else moved it since. `options.key` signs the move if protected channels feed the distribution; whether it
/// may is not looked at: a rollback of the channel was looked at by the channel's policy.
Result<DistributionReceipt> execute_distribution(store::ObjectStore& store, const DistributionPlan& plan,
                                                 const Options& options);
/// Plans, and unless a dry run, executes. Run again after a death between pointer and pages, it completes the pages and
/// does not go back a second time. O002 if `execute` names another plan than this; O041 as check_signer_there()
/// (fed_moves.hpp); and errors of the two functions above.
Result<DistributionReceipt> rollback_distribution(store::ObjectStore& store, const std::string& directory,
                                                  const Options& options);

struct DistributionUnblocked {
  registry::DistributionRecord record;
  std::vector<registry::BlockedFile> files; ///< that were blocked until now
};
/// Lets files come back that a rollback took out; `what` are names of files, their sha256, or sets ("set:1f2e…").
/// not_found P120, or O013 if one of them is not blocked, or as registry::load_sealed(), or O041 as
/// check_signer_there(); then nothing is changed. Starts over when somebody else moved it meanwhile; R003 if its own
/// write had an unknown outcome, or after too many rounds.
Result<DistributionUnblocked> unblock_distribution(store::ObjectStore& store, const std::string& directory,
                                                   const std::vector<std::string>& what, const Options& options);

} // namespace quarry::promote
