#pragma once
// Which sets leave and which stay, and why. Pure: the same inventory, rules and time give the same plan.
#include "registry/digests.hpp"
#include "retain/inventory.hpp"
#include "retain/rules.hpp"
#include <string>
#include <vector>

namespace quarry::retain {

struct Leaving {
  registry::SetDigest set;
  std::string directory, rule;
  std::uint64_t files = 0, bytes = 0;
  std::string sealed; ///< when, for people
};
/// A set that is old enough and stays.
struct Spared {
  registry::SetDigest set;
  std::string why; ///< "channel stable names it"
};
struct Plan {
  std::string rules; ///< their name
  std::int64_t grace_us = 0;
  std::vector<Leaving> tombstone; ///< oldest first: their seals go, their files stay until the grace is over
  std::vector<Leaving> purge;     ///< tombstoned a grace time ago: their files go
  std::vector<Leaving> restore;   ///< tombstoned, and named since, or an undo died halfway: their seals come back
  std::vector<Spared> spared;
  std::size_t staying = 0; ///< sealed sets that are not old enough
  Findings notes;
  registry::PlanDigest digest; ///< of what would be done, by which rules

  bool empty() const { return tombstone.empty() && purge.empty() && restore.empty(); }
};
/// What the digest is of. Pure.
std::string to_json(const Plan& plan);

/// `now_us`: by the clock of the store.
Plan make_plan(const Inventory& inventory, const Rules& rules, std::int64_t now_us);
/// Leaves a set where it is after all, and gives the plan its new digest. Pure.
void spare(Plan& plan, std::vector<Spared> spared);

} // namespace quarry::retain
