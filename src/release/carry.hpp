#pragma once
// A rollback of a channel that takes its distributions along: one plan, the channel first.
#include "promote/distributions.hpp"
#include "release/delivery.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::release {

/// The directories below `to.prefix` to which the sets were copied that leave or come back, and what each shows then:
/// those sets leave it, too, and those that come back are shown again where they were copied before.
struct SetsMoved {
  std::vector<registry::SealedSet> leave, back;
};
/// What the last rollback of the channel took out and brought back; nothing if another move changed its view since.
/// Costs a read for each move since, two views, and two reads for each of these sets.
Result<SetsMoved> by_last_rollback(store::ObjectReader& store, const std::string& channel);
/// Sorted by directory; a directory that is not a distribution is left out. What comes back is shown as it was shown
/// there last, also a part of a set; what a yank of the directory took out stays out, and a note says so (O063).
/// `channel` of `source` is the one that is rolled back: held O055 if a directory would change that takes nothing from
/// it (registry/feeders.hpp). Errors of publish::plan_distribution() and promote::plan_shown().
Result<std::vector<promote::DistributionPlan>> plan_carried(store::ObjectReader& source, const std::string& channel,
                                                            const Destination& to, const SetsMoved& sets);

struct CarriedRollback {
  std::optional<promote::Receipt> channel; ///< unset: an earlier run rolled it back; only distributions were missing
  registry::PlanDigest digest;             ///< of the plan of all; empty without `channel`
  std::vector<promote::DistributionReceipt> distributions; ///< after a dry run: what would be done
};
/// Rolls the channel back as promote::rollback() does, then each distribution. Everything is planned and looked at
/// before the channel moves, and the plan's digest covers it. When the channel was rolled back before, by a run that
/// was killed or that did not name the distributions, only those are moved that still show what the channel does not;
/// O007 if none does. Each distribution that moves then needs a key of its own: held O041 as
/// promote::check_signer_there(); if it only takes out, one of the channel's policy will do. precondition_failed O040
/// if a distribution could not be moved after the channel was: it names those that have moved and those that have not,
/// and the same command completes it.
Result<CarriedRollback> rollback_with(store::ObjectStore& store, const std::string& channel, const Destination& to,
                                      const promote::Options& options);

} // namespace quarry::release
