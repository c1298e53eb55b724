#pragma once
// What a store lacks for Quarry's work: credentials, clock, what the server honours, what we may do there; each with
// the next step. Leaves nothing behind: probes are removed again.
#include "cli/doctor.hpp"
#include "release/plan.hpp"

namespace quarry::cli {

/// Checks of the store that `locator` names, in the order in which they build on each other; those after a failure that
/// makes them senseless are left out.
std::vector<Check> examine_store(const Context& context, const std::string& locator);

/// Asks the bucket which objects it deletes by itself, and fails with held O031 if one of these channels is protected
/// and a rule covers what it is to name (promote/expiry.hpp). Rules that cannot be read are a warning (K023). Sends
/// nothing if the store is not in object storage or no channel is protected; else a read for each channel and a
/// request.
Result<void> refuse_what_expires(Context& context, const std::string& locator, store::ObjectStore& store,
                                 const std::vector<release::ChannelSets>& channels);

} // namespace quarry::cli
