#pragma once
// Private to the room.
// What a channel shows without a verdict when it becomes protected.
#include "promote/guard.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::promote {

/// What a channel shows when a policy is bound to it.
struct Becoming {
  const registry::ChannelRecord& channel;
  const std::vector<registry::SealedSet>& sets; ///< that it shows
  const gate::Policy& policy;
};

/// What the moves of a channel say, back to the one that protected it.
struct Past {
  /// The last move that binds or lifts a policy bound one. What later moves say of it does not count here: whoever may
  /// publish could write one that says so.
  bool is_bound = false;
  std::vector<registry::LedgerRecord> promotions;
};
/// A read for each move, as far back as they can be read.
Result<Past> past_of(store::ObjectReader& store, const registry::ChannelRecord& channel);

/// The digests of what the words name: "set:1f2e…", or files by name or sha256. Fails with not_found O024 if the
/// channel shows nothing of a word, and as registry::load_sealed() for a set.
Result<std::set<Sha256>> trusted_of(store::ObjectReader& store, const Becoming& becoming,
                                    const std::vector<std::string>& words);

/// Fails with held O061, which names them, if the channel shows files that are not in `trusted` and that no verdict of
/// this policy has let in; a verdict of another policy is one that somebody else chose. A verdict counts for the files
/// that its cells name if a promotion of the channel was made by it, and if it is signed where the policy demands it.
/// Costs a read for each promotion, one for each signer of its verdict, and one for each set that a verdict of this
/// policy was about.
Result<void> refuse_untested(store::ObjectReader& store, const Becoming& becoming, const Past& past,
                             const std::set<Sha256>& trusted);

/// "{name}  sha256 {digest}  set:{set}": for the details of an error.
std::string line_of(const registry::FileRecord& file, const registry::SetDigest& set);
constexpr std::size_t k_files_told = 20; // in the details of an error

} // namespace quarry::promote
