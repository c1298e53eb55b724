#pragma once
// Private to the room.
// Machines with misleading results: those that the policy sets aside, and those that are suspect. Pure.
#include "gate/gate.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::gate {

/// Returns "was made on gpu-9, which is set aside until 2026-12-15 (its fans fail)", or "" if its machine is not set
/// aside.
std::string set_aside(const Policy& policy, const registry::EvidenceRecord& evidence, std::int64_t now_us);

/// A machine on which a suite ran into its deadline, although the suite passed on others.
struct Suspect {
  std::string machine;
  std::vector<std::string> passed_on; ///< at least two others
};
/// `counted` are the results that count for one suite on one cell, so all are about the same files. nullopt: the suite
/// ran into its deadline on no machine, or passed on fewer than two others.
std::optional<Suspect> suspect(const std::vector<const registry::EvidenceRecord*>& counted);
/// The warning G030 about the machine.
quarry::Finding suspect_finding(const Suspect& suspect, const std::string& suite);

} // namespace quarry::gate
