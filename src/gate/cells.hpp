#pragma once
// Private to the room.
// Which cells of a set must be judged, and by which suites: the policy's rules laid over the files' names. Private to
// the room.
#include "gate/gate.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::gate {

struct CellPlan {
  registry::Cell cell;
  registry::SetDigest set;
  std::string defect;                             ///< why it cannot be judged at all
  std::string gap = {};                           ///< why no suite is required: held, and may be waived
  std::vector<const registry::FileRecord*> files; ///< what the cell installs, sorted by sha256
  std::map<std::string, std::int64_t> suites;     ///< name -> max age; empty: no rule covers the cell
  const FamilyFact* fact = nullptr;
};

/// In order: platform, family, python, framework. Points into `policy` and `subject`.
std::vector<CellPlan> plan_cells(const Policy& policy, const Subject& subject);

} // namespace quarry::gate
