#pragma once
// Private to the room.
// What thinning does with all members of a wheel.
#include "dist/metadata.hpp"
#include "wheel/opened.hpp"
#include "wheel/thin.hpp"
#include <vector>

namespace quarry::wheel {

/// One for each member, in their order. Reads those that may hold device code, on several threads. Fails as thin()
/// does.
Result<std::vector<MemberLook>> look_at_members(const Opened& wheel, const std::vector<dist::RecordRow>& record,
                                                const ThinOptions& options);

} // namespace quarry::wheel
