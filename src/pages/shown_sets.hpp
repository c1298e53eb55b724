#pragma once
// Private to the room.
// Which sets the pages of a directory show, and a token that changes with them.
#include "registry/distributions.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

/// The sets that are sealed in the directory itself, not further down. Costs and errors of
/// registry::sealed_sets_below().
Result<std::vector<registry::SealedSet>> sealed_in(store::ObjectReader& store, const std::string& directory,
                                                   const std::vector<registry::SealedSet>& known = {});
/// The sets that the pointer of a distribution names, as registry::sealed_of(); for another directory sealed_in(). One
/// read more.
Result<std::vector<registry::SealedSet>> shown_in(store::ObjectReader& store, const std::string& directory);
/// Changes with the sets and with the untested history. One listing.
Result<std::string> token_of(store::ObjectReader& store, const std::string& directory,
                             const std::vector<registry::SealedSet>& sets);
/// The same for a distribution, whose pointer was just read: changes with the pointer, the seals and the history. Two
/// listings.
Result<std::string> token_of_distribution(store::ObjectReader& store, const registry::DistributionRecord& record);
/// The same for shown_in(), without reading a set: a read and two listings, three for `quarry.distribution/1`.
Result<std::string> token_of_shown(store::ObjectReader& store, const std::string& directory);

} // namespace quarry::pages
