#include "gate/machines.hpp"

#include "base/text.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::gate {

namespace {

using registry::EvidenceRecord;
using registry::Outcome;

constexpr std::size_t k_others_min = 2; // one other machine may be the odd one

std::string host_of(const EvidenceRecord& evidence) {
  auto host = evidence.machine.find("host");
  return host == evidence.machine.end() ? std::string() : host->second;
}

} // namespace

std::string set_aside(const Policy& policy, const EvidenceRecord& evidence, std::int64_t now_us) {
  auto host = host_of(evidence);
  auto found = std::find_if(policy.machines.begin(), policy.machines.end(), [&](const SetAside& machine) {
    return machine.name == host && now_us <= machine.until_us;
  });
  if (found == policy.machines.end()) return {};
  return fmt::format("was made on {}, which is set aside until {} ({})", host,
                     sys::rfc3339(found->until_us).substr(0, 10), found->reason);
}

std::optional<Suspect> suspect(const std::vector<const EvidenceRecord*>& counted) {
  std::set<std::string> hung, passed;
  for (const auto* evidence : counted) {
    auto host = host_of(*evidence);
    if (host.empty()) continue;
    if (evidence->result == Outcome::timed_out) hung.insert(host);
    if (evidence->result == Outcome::passed) passed.insert(host);
  }
  for (const auto& host : hung) {
    auto others = passed;
    others.erase(host);
    if (others.size() >= k_others_min) return Suspect{host, {others.begin(), others.end()}};
  }
  return std::nullopt;
}

quarry::Finding suspect_finding(const Suspect& suspect, const std::string& suite) {
  return {"G030", Severity::warning, suspect.machine,
          fmt::format("is suspect: {} ran into its deadline there, and passed on the same files on {}", suite,
                      text::join(suspect.passed_on, " and ")),
          "look at the machine; a [[machine]] entry of the policy sets it aside"};
}

} // namespace quarry::gate
