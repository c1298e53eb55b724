// What binds a policy to the definitions of its suites.
#include "gate/policy.hpp"
#include <algorithm>
#include <set>

namespace quarry::gate {

std::vector<std::string> unbound_suites(const Policy& policy) {
  std::set<std::string> names(policy.derived_suites.begin(), policy.derived_suites.end());
  for (const auto& requirement : policy.requirements)
    names.insert(requirement.suites.begin(), requirement.suites.end());
  names.erase("rocm-sdk");
  for (const auto& rule : policy.suites)
    if (rule.packaged || !rule.digests.empty()) names.erase(rule.name);
  return {names.begin(), names.end()};
}

void bind_suite(Policy& policy, const std::string& name, const Sha256& digest) {
  auto rule = std::find_if(policy.suites.begin(), policy.suites.end(), [&](const auto& r) { return r.name == name; });
  if (rule == policy.suites.end()) {
    SuiteRule fresh;
    fresh.name = name;
    rule = policy.suites.insert(policy.suites.end(), std::move(fresh));
  }
  rule->digests = {digest.hex()};
  policy.digest = sha256(canonical_json(policy)).hex();
}

void take_back_any_command(Policy& policy) {
  if (!policy.openly.any_command || !unbound_suites(policy).empty()) return;
  policy.openly.any_command = false;
  policy.digest = sha256(canonical_json(policy)).hex();
}

} // namespace quarry::gate
