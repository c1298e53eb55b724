#pragma once
// Private to the room.
// What names and headers alone say against a wheel's tags: tags that no system has, extension modules that Python does
// not look for, libraries that the loader refuses by their header. Pure.
#include "base/finding.hpp"
#include "inspect/wheel_contents.hpp"

namespace quarry::inspect {

/// Q115, Q119 and Q120 for one wheel. Q120 judges files for x86_64 and aarch64 that are named like libraries.
Findings tag_findings(const WheelContents& wheel);

} // namespace quarry::inspect
