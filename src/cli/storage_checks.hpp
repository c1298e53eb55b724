#pragma once
// What a store lacks for Quarry's work: credentials, clock, what the server honours, what we may do there; each with
// the next step. Leaves nothing behind: probes are removed again.
#include "cli/doctor.hpp"

namespace quarry::cli {

/// Checks of the store that `locator` names, in the order in which they build on each other; those after a failure that
/// makes them senseless are left out.
std::vector<Check> examine_store(const Context& context, const std::string& locator);

} // namespace quarry::cli
