#pragma once
// Private to the room.
// What a policy expects of a release and no set brings: cells that nobody would miss otherwise, because a cell exists
// only where a file is. Pure.
#include "gate/cells.hpp"
#include <vector>

namespace quarry::gate {

/// One cell for each expected family, Python and project that no set of the release has, on each expected platform. In
/// order: platform, family, Python. Empty for a policy without [expect], and for a release without sets.
std::vector<CellPlan> missing_cells(const Policy& policy, const std::vector<Subject>& release);

} // namespace quarry::gate
