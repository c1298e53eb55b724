#pragma once
// Taking files out of a distribution by its name, as withdraw.hpp does for a channel. Nothing is deleted. As
// thread-safe as the store.
#include "promote/distributions.hpp"
#include "promote/guard.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::promote {

struct DistributionWithdrawal {
  DistributionPlan plan;                        ///< without a digest
  std::vector<registry::SetRecord> derived;     ///< what stays of sets that lose some of their files
  std::vector<registry::BlockedFile> gone = {}; ///< the files that leave, sorted by sha256
  std::vector<registry::SealedSet> stay = {};   ///< what it shows afterwards
  std::set<std::string> projects = {};          ///< of the files that leave
};
/// What leaves a distribution. `what` are `set:DIGEST` of sets there or of those that they were copied from, names of
/// files, or their sha256. A set leaves with those of its files that are in no set that stays; a file leaves every set.
/// What is not shown and is blocked left before: it changes nothing. not_found P120, O024 if nothing of one of them is
/// shown or blocked; precondition_failed O026 if no file would leave. Two reads for each set; writes nothing.
Result<DistributionWithdrawal> plan_distribution_withdrawal(store::ObjectReader& store, const std::string& directory,
                                                            const std::vector<std::string>& what);
/// Moves the distribution, unless all of it left before, and writes its pages. The same command completes a run that
/// was killed. precondition_failed R003 when somebody else moved it since it was planned; O041 as check_signer_there()
/// (fed_moves.hpp).
Result<DistributionReceipt> withdraw_from_distribution(store::ObjectStore& store, const DistributionWithdrawal& plan,
                                                       const Author& author);

} // namespace quarry::promote
