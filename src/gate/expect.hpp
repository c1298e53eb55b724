#pragma once
// Private to the room.
// What a policy expects of a release and no set brings: cells that nobody would miss otherwise, because a cell exists
// only where a file is. Pure.
#include "gate/cells.hpp"
#include <vector>

namespace quarry::gate {

/// One cell for each expected family, Python and project that no set of the release has, on each expected platform:
/// what the policy expects, then what the release does. In order: platform, family, Python. Empty where nothing is
/// expected, and for a release without sets.
std::vector<CellPlan> missing_cells(const Policy& policy, const Case& input);

} // namespace quarry::gate
