#pragma once
// Private to the room.
// Whether the distributions of an environment fit each other. pip and uv install what was asked for, and only warn when
// something that was there before then has the wrong version beside it.
#include "base/result.hpp"
#include "venv/environment.hpp"
#include "venv/installed.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::venv {

/// failed V018 when a distribution requires another version of an installed one, and one of the two is in
/// `installed` (projects, normalised): what was broken before is not ours. Extras and what is missing are not looked
/// at: nobody knows which extras were asked for earlier. Reads one METADATA for each distribution.
Result<void> check_consistency(const Environment& environment, const std::vector<Distribution>& distributions,
                               const std::set<std::string>& installed);

} // namespace quarry::venv
