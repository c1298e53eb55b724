#pragma once
// Private to the room.
// What the pages of a distribution say about the packages that channels bring.
#include "release/deliver.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::release {

/// The channels of `what.source` that bring a set, by `what.to.channels`. Pure.
std::set<std::string> channels_of(const Consignment& what, const registry::SealedSet& sealed);
/// Gives each of `planned`, the sets of `what` in its order, the remarks that the pages of its channels have about it:
/// waivers, extras that cannot be installed, and what the policy openly does without. What a channel says is a copy:
/// later moves of it change nothing. Which waivers are revoked, the move itself looks up. Three reads for each channel.
Result<void> add_remarks(const Consignment& what, std::vector<publish::Distributed>& planned);

} // namespace quarry::release
