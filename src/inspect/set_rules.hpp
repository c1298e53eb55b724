#pragma once
// Wheels of one set that compete: two files of one project and version that fit the same interpreter and machine. Codes
// Q241 and Q242. Pure.
#include "base/finding.hpp"
#include "inspect/wheel_contents.hpp"
#include <span>

namespace quarry::inspect {

/// One finding for each wheel that competes with one before it; the message names both and says which of them pip and
/// uv install, as pip 22.3, pip 26.3 and uv 0.13.9 were seen to choose. Two files of one name and one content do not
/// compete. A wheel whose name could not be read is left out. At most 100 findings. Memory and time follow the number
/// of expanded tags.
Findings check_set(std::span<const WheelContents* const> wheels);

} // namespace quarry::inspect
