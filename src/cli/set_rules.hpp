#pragma once
// The rules of sets with what the command line says about them; shared by `set check` and `publish`.
#include "base/code_rooms.hpp"
#include "cli/base_index.hpp"
#include "cli/command.hpp"
#include "closure/change_rules.hpp"
#include "closure/claims.hpp"
#include "closure/package.hpp"
#include "inspect/device_code.hpp"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

struct SetPackages;

/// `--allow-missing PROJECT`, repeated.
Flag allow_missing_flag();

/// Q4xx: what `set check` and `publish` look for, and `wheel check` does not.
inline bool is_rule_of_sets(std::string_view code) { return codes::room_of(code) == "closure"; }

struct SetRules {
  std::string pythons;                  ///< a list with commas; empty: as the tags say
  std::optional<std::string> platforms; ///< likewise
  BaseIndex* base = nullptr;
  std::vector<std::string> assumed; ///< globs of projects that people get from elsewhere
  std::vector<closure::Budget> budgets;
  std::optional<closure::Claims> claims;
  std::optional<closure::LastGood> last_good;
};

/// Closure, coherence, budgets; changes and claims if there is something to compare with. Fails as the base index does,
/// with U002 for a Python or platform, and with Q410 for data/coherence.toml.
Result<Findings> findings_of_set(const Context& context, const std::vector<closure::Package>& set,
                                 const SetRules& rules);

/// Q438. Reads the lists of files of closure::wheels_to_compare(), context.jobs wheels at a time. One that is in a
/// store far away costs the request that opens it and one or two reads. Fails with U002, as opening does, and as
/// wheel::owned_files() does.
Result<Findings> findings_of_shared_files(const Context& context, const SetPackages& set, const SetRules& rules);

/// `--against`, `--budget` and `--claims`: what a set is compared with.
std::vector<Flag> expectation_flags();
/// Reads what these flags say. Fails with C006 for a budget, Q434 for claims, and as packages_of() does for the last
/// good set.
Result<void> read_expectations(const Context& context, const Arguments& arguments, SetRules& rules);

/// Looks for the claimed targets in the device code of the wheels (Q433). Asks for no wheel if no target is claimed.
using Wheels = std::function<Result<std::vector<inspect::DeviceOperand>>()>;
Result<Findings> findings_of_claimed_targets(const Context& context, const SetRules& rules, const Wheels& wheels);

} // namespace quarry::cli
