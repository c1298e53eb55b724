#pragma once
// Private to the room.
// Machines whose results mislead: those that a policy has set aside, and those that look as if they should be. Pure.
#include "gate/gate.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::gate {

/// "was made on gpu-9, which is set aside until 2026-12-15 (its fans fail)"; empty if it was not.
std::string set_aside(const Policy& policy, const registry::EvidenceRecord& evidence, std::int64_t now_us);

/// A machine that ran into the deadline where others passed.
struct Suspect {
  std::string machine;
  std::vector<std::string> passed_on; ///< at least two others
};
/// `counted` are the results that count for one suite on one cell: all are of the same files. nullopt: no machine hung,
/// or fewer than two others passed.
std::optional<Suspect> suspect(const std::vector<const registry::EvidenceRecord*>& counted);
/// G030.
quarry::Finding suspect_finding(const Suspect& suspect, const std::string& suite);

} // namespace quarry::gate
