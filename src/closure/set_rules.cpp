#include "closure/set_rules.hpp"

#include "closure/closure_rules.hpp"
#include "closure/shared_files.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <iterator>
#include <utility>

namespace quarry::closure {

Result<Findings> check_set(const std::vector<Package>& set, const SetRules& rules) {
  TRY(auto targets, targets_of(set, rules.pythons, rules.platforms));
  TRY(auto findings, check_closure(set, {std::move(targets.targets), rules.base, rules.base_name, rules.assumed}));
  auto add = [&](Findings more) { std::ranges::move(more, std::back_inserter(findings)); };
  add(check_coherence(set, rules.coherence));
  add(check_device_code(set));
  if (rules.expected.last_good) add(check_change(set, *rules.expected.last_good));
  add(check_budgets(set, rules.expected.budgets));
  if (rules.expected.claims) add(check_claims(set, *rules.expected.claims));
  add(std::move(targets.notes));
  return findings;
}

Result<Findings> check_files_of_set(const SetPackages& set, const SetRules& rules, unsigned workers) {
  std::vector<InstalledFiles> wheels;
  std::vector<const PackageBytes*> bytes; // of each wheel
  for (auto i : wheels_to_compare(set.packages)) {
    if (!set.bytes[i].known()) continue;
    wheels.push_back({set.packages[i], {}});
    bytes.push_back(&set.bytes[i]);
  }
  TRY_DO(parallel_for(wheels.size(), workers, [&](std::size_t i) -> Result<void> {
    TRY(auto rope, open_package(*bytes[i]), "while reading " + wheels[i].package.file);
    TRY(wheels[i].files, wheel::owned_files(rope, wheels[i].package.file));
    return {};
  }));
  TRY(auto targets, targets_of(set.packages, rules.pythons, rules.platforms));
  return check_shared_files(wheels, targets.targets);
}

} // namespace quarry::closure
