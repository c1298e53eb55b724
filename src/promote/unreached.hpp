#pragma once
// Private to the room.
// Records of moves that the pointer of a distribution does not lead to. Each move writes its record before the pointer,
// so a killed run leaves one; a pointer that somebody put back leaves those that came after it. As thread-safe as the
// store.
#include "base/finding.hpp"
#include "registry/distributions.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

using Unreached = registry::Stored<registry::DistributionView>;
/// The records of moves below the directory that are not in `reached`, by digest; objects that are not such a record
/// are left out. If the pointer has moved since `now` was read, also those of later generations: they may be of these
/// moves. Costs other_distribution_views(), and a read of the pointer if there are any.
Result<std::vector<Unreached>> unreached_moves(store::ObjectReader& store, const registry::DistributionRecord& now,
                                               const std::vector<registry::DistributionViewDigest>& reached);

/// O044 for each of these that a killed run does not explain: it is signed by somebody whom a policy that fed the
/// directory then, or one in `lawful`, lets sign it; or it is more than one generation later than the pointer. A signed
/// one may be that of a run that was killed, or that another writer overtook, too: somebody has to look. A read for
/// each policy, and for each signer and record.
Result<Findings> findings_of(store::ObjectReader& store, const registry::DistributionRecord& now,
                             const std::vector<Unreached>& unreached, const std::vector<registry::Feeder>& lawful);

} // namespace quarry::promote
