#pragma once
// What a wheel would put beside the modules of other packages, and what it should not hold at all: names that others
// use, too, leftovers of a build, paths of the build machine, secrets, half a mode. Codes Q253 to Q258 and Q260. Pure.
#include "base/finding.hpp"
#include "inspect/wheel_contents.hpp"

namespace quarry::inspect {

/// At most one finding of each code, and two of Q253 and Q257. A message never holds a secret. Time: linear in the
/// paths of the wheel.
Findings check_layout(const WheelContents& wheel);

} // namespace quarry::inspect
