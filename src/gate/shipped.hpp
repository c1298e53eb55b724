#pragma once
// Policies by name: files, and those that come with the program (data/policies).
#include "base/resources.hpp"
#include "gate/policy.hpp"
#include <string>

namespace quarry::gate {

/// Returns the policy that `named` means: a file, or a shipped one ("default", "policies/default.toml"). A bare word
/// that is the name of a shipped policy is never a file. unbound_suites() that data/suites defines are bound to their
/// definition, also if the policy says any_command: that word is about suites without one, and is left out if none is.
/// Fails with not_found G007 if neither exists, and as parse_policy() and trial::find_suite() do. Reads one file, and
/// those of the suites.
Result<Policy> find_policy(const Resources& resources, const std::string& named);

} // namespace quarry::gate
