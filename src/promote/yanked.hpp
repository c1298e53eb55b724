#pragma once
// What a yank took out stays out until `channel unblock`, whatever is rolled back: whoever may sign rollbacks need not
// be somebody who may unblock. Only the rollback that takes back the yank itself brings its files back: to what was
// shown right before it, and only if it is the last change of what is shown.
#include "promote/distributions.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// held O063 if one of `plan.returns`, the files that the rollback of a distribution would show again, is one of
/// registry::yanked_there() and the plan does not take back its move. `address` is for messages.
Result<void> refuse_yanked_there(const DistributionPlan& plan, const std::vector<registry::DistributionView>& moves,
                                 const std::string& address);
/// The same of a channel. Reads the moves only if one of `returns` is blocked.
Result<void> refuse_yanked(store::ObjectReader& store, const Plan& plan,
                           const std::vector<registry::FileRecord>& returns);

} // namespace quarry::promote
