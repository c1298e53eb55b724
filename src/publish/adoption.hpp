#pragma once
// The move of a distribution that says which files of another tool it took over, by whom and why.
#include "publish/history.hpp"

namespace quarry::publish {

/// Makes the directory a distribution, and writes the move `adopt`: it shows the same sets as before. To be called
/// after take_over(). A move for each call. Costs and fails as claim_distribution() and move_distribution() of the
/// registry; starts over if other writers are faster, then P010. Writes no page.
Result<void> record_adoption(store::ObjectStore& target, const std::string& directory, const HistoryMove& move);

} // namespace quarry::publish
