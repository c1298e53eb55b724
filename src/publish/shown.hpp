#pragma once
// What a distribution shows: sets are added to it by compare-and-swap, the pages follow.
#include "base/finding.hpp"
#include "digest/ed25519.hpp"
#include "registry/distributions.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::publish {

/// How commands name a distribution: its directory in its store, "s3://BUCKET/v2/gfx94X-dcgpu".
std::string address_of(const store::ObjectReader& store, const std::string& directory);

/// Who has fed a distribution once the sets are added; an error keeps them out (registry/feeders.hpp).
using Admission = std::function<Result<std::vector<registry::Feeder>>(const registry::DistributionRecord&)>;

/// Moves a distribution as registry::move_distribution() does. Where protected channels feed the directory, a key
/// signs the record of the move before the pointer names it; whether the key may is the caller's question. If an
/// earlier run made the same move, by the same person and key, and was killed before the pointer, its record is taken,
/// with its time. With a key one more write, and what registry::views_to_follow() costs.
Result<registry::DistributionRecord> move_signed(store::ObjectStore& store, const registry::Distribution& expected,
                                                 const registry::Shown& next, const registry::DistributionMove& move,
                                                 const std::optional<Ed25519PrivateKey>& key);

/// How sets are added.
struct Showing {
  Admission admission = {};                  ///< without one nobody is kept out
  store::ObjectReader* channels = nullptr;   ///< the store where waivers of remarks are revoked; null: not looked up
  std::optional<Ed25519PrivateKey> key = {}; ///< signs the move, as move_signed() does
};
/// Adds sealed sets to what a claimed directory shows; those that it shows already stay where they are. A waiver that
/// was revoked since is reason enough to move. Returns whether it moved. Starts over if other writers are faster,
/// `k_rebase_max` times, then precondition_failed P010. held R022 if it blocks a file of one of them; R004 after
/// k_unknown_outcomes_max unknown outcomes; P120 if it is not claimed. A read if nothing is to add; else what
/// move_signed() costs, and two reads for each set where something is blocked; and as registry::note_revoked(). The
/// admission is asked in each round, also where nothing is to add.
Result<bool> show_sets(store::ObjectStore& store, const std::string& directory,
                       const std::vector<registry::ShownSet>& sets, const registry::DistributionMove& move,
                       const Showing& showing = {});

/// Brings the pages of a distribution, and those of its merged index, up to its pointer.
struct Displayed {
  Findings notes;          ///< P050, P113
  bool has_merged = false; ///< whether the store has a base index
};
Result<Displayed> display(store::ObjectStore& store, const std::string& directory);

} // namespace quarry::publish
