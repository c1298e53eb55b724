#pragma once
// Private to the room.
// Finds what a policy expects of a release and no set contains. Without this, a missing family would go unnoticed,
// because cells are made from the files that exist. Pure.
#include "gate/cells.hpp"
#include <vector>

namespace quarry::gate {

/// Returns one cell for each expected family, Python, framework and project that no set of the release has, on each
/// expected platform: first for the policy's expectation, then for those of the release, in the order of their lists.
/// The release: the subjects, and those sets of `present` and `elsewhere` that have no project of a subject in another
/// version. Empty if nothing is expected, or nothing moves.
std::vector<CellPlan> missing_cells(const Policy& policy, const Case& input);

} // namespace quarry::gate
