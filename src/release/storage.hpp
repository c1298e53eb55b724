#pragma once
// What a store lacks for releases: credentials, clock, what the server honours, what we may do there, and what it
// deletes by itself. Leaves nothing behind: probes are removed again.
#include "base/check.hpp"
#include "release/plan.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::release {

/// Returns the checks of the store that `locator` names, in the order in which they build on each other; those after a
/// failure that makes them meaningless are left out. Costs about 10 requests, and about 20 more where it is not known
/// yet what the server can do.
std::vector<Check> examine_store(const std::string& locator, const store::Surroundings& surroundings);

/// A store, and what is needed to ask its bucket.
struct Bucketed {
  const std::string& locator;
  const store::Surroundings& surroundings;
  store::ObjectReader& store;
};
/// Asks the bucket which objects it deletes by itself. Fails with held O031 if one of these channels is protected and a
/// rule covers what it is to name (promote/expiry.hpp), and with the error of the request. Rules that this role may not
/// read, or that the server does not know, are a warning (K023). Sends nothing if the store is not in object storage or
/// no channel is protected; else a read for each channel and a request.
Result<Findings> refuse_what_expires(const Bucketed& at, const std::vector<ChannelSets>& channels);
/// The bucket's rules that delete objects of this store, for promote::Request::pin_from; none if the store is not in
/// object storage. Fails with the error of the request, also where this role may not read them: who pins must know.
Result<std::vector<s3::ExpiryRule>> rules_to_pin(const Bucketed& at);

} // namespace quarry::release
