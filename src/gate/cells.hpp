#pragma once
// Private to the room.
// Decides from the policy and the names of a set's files which cells are judged, and which suites each one requires.
#include "gate/gate.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::gate {

struct CellPlan {
  registry::Cell cell;
  registry::SetDigest set;
  std::string defect;                             ///< why the cell cannot be judged; empty: it can
  std::string gap = {};                           ///< why no suite is required; such a cell is held, and may be waived
  std::vector<const registry::FileRecord*> files; ///< the files that the cell installs, sorted by sha256
  std::map<std::string, std::int64_t> suites;     ///< name -> max age; empty: no rule covers the cell
  const FamilyFact* fact = nullptr;
};

/// First the cells that rules cover, by platform, family, Python and framework; then, in the same order, those of files
/// that no rule covers; then that of a family whose packages were lost. The result points into `policy` and `subject`.
std::vector<CellPlan> plan_cells(const Policy& policy, const Subject& subject);

} // namespace quarry::gate
