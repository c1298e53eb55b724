#pragma once
// Private to the room.
// Which sets the pages of a directory show, and a token that changes with them.
#include "registry/distributions.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

/// The sets that the pointer of a distribution names, as registry::sealed_of(); for another directory
/// registry::sealed_sets_in(). One read more, and a listing for `quarry.distribution/1`.
Result<std::vector<registry::SealedSet>> shown_in(store::ObjectReader& store, const std::string& directory);
/// Changes with the sets and with the untested history. One listing.
Result<std::string> token_of(store::ObjectReader& store, const std::string& directory,
                             const std::vector<registry::SealedSet>& sets);
/// The same for a distribution, whose pointer was just read: changes with the pointer, the seals and the history. Two
/// listings.
Result<std::string> token_of_distribution(store::ObjectReader& store, const registry::DistributionRecord& record);
/// The same for shown_in(), without reading a set. Costs two listings. If the directory has a seal, it also reads the
/// pointer of a distribution; if that is a `quarry.distribution/1`, it lists the seals once more.
Result<std::string> token_of_shown(store::ObjectReader& store, const std::string& directory);

} // namespace quarry::pages
