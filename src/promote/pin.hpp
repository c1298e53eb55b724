#pragma once
// Private to the room.
// Keeps what a channel is to name from the server's lifecycle rules, by copies below a prefix that no rule covers.
#include "promote/plan.hpp"

namespace quarry::promote {

/// Replaces each set of the plan that a rule covers by one with the same files below `pinned/`. It names the set that
/// it is a copy of, and stands on its evidence. held O031 if a rule covers `pinned/`, or the store's records. Pure.
Result<void> pin_what_expires(const std::vector<s3::ExpiryRule>& rules, Plan& plan);
/// Copies these files, on the server where that is possible; each source is read, because a recorded digest can be
/// forged. Run again, it copies what is missing. Fails as store::copy_once() does.
Result<void> copy_pinned(store::ObjectStore& store, const std::vector<PinnedFile>& files);

} // namespace quarry::promote
