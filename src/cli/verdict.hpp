#pragma once
// A gate's verdict for people and for programs, and the policy that a command names; for `gate` and `promote`.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "gate/gate.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <string>

namespace quarry::cli {

/// A file, or the name of a policy inside the program ("default", "policies/default.toml"); a bare word that is such a
/// name is never a file. not_found G007, G00x.
Result<gate::Policy> load_policy(Context& context, const std::string& named);

/// The sets that `--from` means: run:, set: or channel:. Only sealed ones; L008, L009, R0xx.
Result<registry::Resolved> resolve_sets(store::ObjectStore& store, const std::string& locator);

/// One line of headline and the table of cells.
std::string verdict_text(const gate::Verdict& verdict, const gate::Case& input, const std::string& source, Look look);

/// verdict, would_hold, mode, policy, cells: [{cell: {platform, family, python, framework}, set, verdict, waived,
/// reasons, evidence}]
Json verdict_json(const gate::Verdict& verdict);

} // namespace quarry::cli
