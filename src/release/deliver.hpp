#pragma once
// Copies promoted sets to a distribution, or looks whether that could be done.
#include "promote/promote.hpp"
#include "publish/distribute.hpp"
#include "release/delivery.hpp"
#include <string>
#include <vector>

namespace quarry::release {

/// What a copy may use of this machine, and who it says it is.
struct Means {
  unsigned transfers = 4;
  std::string temporary; ///< a directory for files of other tools that are read
  std::string tool;      ///< "quarry 0.1.0", for the record of what is taken over
};

/// What goes from where to where.
struct Consignment {
  store::ObjectStore& source;
  const Destination& to;
  const std::vector<registry::SealedSet>& sets;
};

struct Delivery {
  std::vector<publish::Distributed> sets;
  publish::DistributeReceipt receipt;
  std::vector<publish::HistoryPlan> histories; ///< what was taken over of other tools, or would be
  std::vector<std::string> urls;               ///< of the repositories
  std::vector<std::string> find_links;         ///< of their pages of links, where nothing answers under `urls`
  std::vector<std::string> merged;             ///< of their merged indexes
};

/// Whether each directory admits the channels that bring the sets: held O055 as registry::admit(). Three reads for each
/// channel and one for each directory, and what admit() reads.
Result<void> check_feeders(const Consignment& what);
/// Finds what would stop the copy, for before the channel moves. What it would take over of other tools goes to
/// `to.found`. Reads no package of ours. held O041 as deliver(), unless `given` is a dry run. Fails as check_feeders()
/// and publish::check_distribution() do.
Result<void> check_delivery(const Consignment& what, const Means& means, const promote::Options& given);
/// Whether each name of `to.let_go` fits something in a directory that check_delivery() has looked at, for a release to
/// several channels, where it may fit nothing of one of them: publish::refuse_unused(). Pure.
Result<void> check_replaced(const Destination& to);
/// Whether the sets that all channels of a release bring fit into one place: publish::refuse_two_contents(). Pure.
Result<void> check_together(const Destination& to, const std::vector<registry::SealedSet>& sets);
/// Whether the other store lets us write, for right before a channel moves: publish::check_writable(). Reads what
/// check_feeders() reads of the channels.
Result<void> check_writable(const Consignment& what, bool signs);
/// Copies, or with `options.dry_run` only checks; then a target that does not let this user look is a note (P072)
/// instead of an error. Where a protected channel feeds a directory, warning O062 names what it shows and none of the
/// channels in `fed_by` does, if they all are in `what.source`. held O041 if a channel is let in, or another policy of
/// it becomes known, and the policy wants a key for that; in a dry run that is a warning. Fails as
/// publish::distribute() does.
Result<Delivery> deliver(const Consignment& what, const Means& means, const promote::Options& options);

} // namespace quarry::release
