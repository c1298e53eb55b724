#pragma once
// Private to the room.
// What a channel shows without a verdict when it becomes protected.
#include "promote/guard.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// What a channel shows when a policy is bound to it.
struct Becoming {
  const registry::ChannelRecord& channel;
  const std::vector<registry::SealedSet>& sets; ///< that it shows
  registry::PolicyDigest policy;
};

/// Fails with held O061, which names them, if the channel shows files that no verdict of this policy has let in and
/// that `trusted` does not name: a verdict of another policy is one that somebody else chose. A verdict counts if a
/// promotion of the channel names it. Fails with not_found O024 if a word of `trusted` names nothing that the channel
/// shows. Costs a read for each move of the channel, as far back as they can be read, one for each verdict, and one for
/// each set that a verdict of this policy was about.
Result<void> refuse_untested(store::ObjectReader& store, const Becoming& becoming,
                             const std::vector<std::string>& trusted);

/// "{name}  sha256 {digest}  set:{set}": for the details of an error.
std::string line_of(const registry::FileRecord& file, const registry::SetDigest& set);
constexpr std::size_t k_files_told = 20; // in the details of an error

} // namespace quarry::promote
