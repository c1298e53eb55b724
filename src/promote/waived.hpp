#pragma once
// Private to the room.
// Which waivers let in what a promotion adds to a channel.
#include "promote/plan.hpp"
#include "registry/waived.hpp"
#include <vector>

namespace quarry::promote {

/// Adds the waivers that made cells of `plan.sets` ready to the list of `plan.view`, whose digest is the caller's task.
/// `waivers`: those that were judged with. Pure.
void note_waived(const std::vector<registry::Stored<registry::WaiverRecord>>& waivers, Plan& plan);

} // namespace quarry::promote
