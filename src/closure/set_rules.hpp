#pragma once
// All rules of sets in one call: what `set check` and `publish` look for, and `wheel check` does not.
#include "base/code_rooms.hpp"
#include "base/finding.hpp"
#include "closure/change_rules.hpp"
#include "closure/claims.hpp"
#include "closure/coherence.hpp"
#include "closure/package.hpp"
#include "closure/set_packages.hpp"
#include "mirror/resolve.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::closure {

/// Whether the code is one of Q4xx.
inline bool is_rule_of_sets(std::string_view code) { return codes::room_of(code) == "closure"; }

/// What a set is compared with.
struct Expected {
  std::vector<Budget> budgets;
  std::optional<Claims> claims;
  std::optional<LastGood> last_good;
};

struct SetRules {
  std::string pythons;                  ///< a list with commas; empty: as the tags say
  std::optional<std::string> platforms; ///< likewise
  mirror::Candidates* base = nullptr;   ///< the base index, or null
  std::string base_name;                ///< for messages
  std::vector<std::string> assumed;     ///< globs of projects that people get from elsewhere
  std::vector<CoherentGroup> coherence;
  Expected expected;
};

/// Closure, coherence, budgets; changes and claims if there is something to compare with. Fails as the base index does,
/// and with U002 for a Python or platform.
Result<Findings> check_set(const std::vector<Package>& set, const SetRules& rules);

/// Q438. Reads the lists of files of wheels_to_compare(), `workers` wheels at a time. One that is in a store far away
/// costs the request that opens it and one or two reads. Fails with U002, as opening does, and as wheel::owned_files()
/// does.
Result<Findings> check_files_of_set(const SetPackages& set, const SetRules& rules, unsigned workers);

} // namespace quarry::closure
