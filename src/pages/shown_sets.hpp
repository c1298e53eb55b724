#pragma once
// Private to the room.
// Which sets the pages of a directory show, and a token that changes with them.
#include "registry/distributions.hpp"
#include "registry/history.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

/// Returns the sets that a directory shows. For a distribution these are what registry::sealed_of() returns for its
/// pointer, for another directory what registry::sealed_sets_in() returns. Costs a read of the pointer, which need not
/// exist, and what that function costs. For a pointer of `quarry.distribution/1` it costs one listing more.
Result<std::vector<registry::SealedSet>> shown_in(store::ObjectReader& store, const std::string& directory);
/// Returns the untested history that the pages of a directory list (registry::hide_yanked()). Costs
/// registry::history_of(); with any history also a read of the pointer (for a `quarry.distribution/1` also a listing of
/// the seals), and what hide_yanked() costs.
Result<registry::History> listed_history(store::ObjectReader& store, const std::string& directory);
/// Returns a token that changes with the sets and with the untested history of the directory. One listing.
Result<std::string> token_of(store::ObjectReader& store, const std::string& directory,
                             const std::vector<registry::SealedSet>& sets);
/// Returns a token of a distribution whose pointer was just read. It changes with the pointer, the seals and the
/// history. Two listings.
Result<std::string> token_of_distribution(store::ObjectReader& store, const registry::DistributionRecord& record);
/// Returns a token that changes with shown_in() and with the history. Reads no set. Empty if the directory has neither
/// a seal nor history. Costs two listings. If the directory has one of them, it also costs a read of a distribution's
/// pointer, which need not exist. For a `quarry.distribution/1` it costs one more listing of the seals.
Result<std::string> token_of_shown(store::ObjectReader& store, const std::string& directory);

} // namespace quarry::pages
