#pragma once
// What a store lacks for Quarry's work: credentials, clock, what the server honours, what we may do there; each with
// the next step. Leaves nothing behind: probes are removed again.
#include "cli/doctor.hpp"
#include "release/plan.hpp"

namespace quarry::cli {

/// Checks of the store that `locator` names, in the order in which they build on each other; those after a failure that
/// makes them senseless are left out.
std::vector<Check> examine_store(const Context& context, const std::string& locator);

struct Moving {
  std::string locator; ///< of the store
  bool dry_run = false;
};
/// Asks the bucket which objects it deletes by itself, and fails with held O031 if one of these channels is protected
/// and a rule covers what it is to name (promote/expiry.hpp). Rules that this role may not read, or that the server
/// does not know, are a warning (K023); any other error of the request is returned, but for a dry run that cannot look
/// there (P072). Sends nothing if the store is not in object storage or no channel is protected; else a read for each
/// channel and a request.
Result<void> refuse_what_expires(Context& context, const Moving& moving, store::ObjectReader& store,
                                 const std::vector<release::ChannelSets>& channels);

} // namespace quarry::cli
