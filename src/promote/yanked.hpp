#pragma once
// What a yank took out stays out until `channel unblock`, whatever is rolled back: whoever may sign rollbacks need not
// be somebody who may unblock. Only the rollback that takes back the yank itself, the last change of what is shown,
// brings its files back.
#include "registry/distributions.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::promote {

/// The blocked files of a distribution that another move than a rollback took out. `moves` are its own, newest first; a
/// file whose move is not among them counts. Pure.
std::set<Sha256> yanked_there(const registry::Shown& shown, const std::vector<registry::DistributionView>& moves);
/// held O063 if one of `returns`, the files that a rollback of the distribution would show again, is one of
/// yanked_there() and its move is not the last one that changed what is shown. `address` is for messages.
Result<void> refuse_yanked_there(const registry::DistributionRecord& now,
                                 const std::vector<registry::DistributionView>& moves,
                                 const std::vector<registry::FileRecord>& returns, const std::string& address);
/// The same of a channel: `last` is its last move. Reads the moves only if one of `returns` is blocked.
Result<void> refuse_yanked(store::ObjectReader& store, const registry::ChannelRecord& now,
                           const registry::LedgerRecord& last, const std::vector<registry::FileRecord>& returns);

} // namespace quarry::promote
