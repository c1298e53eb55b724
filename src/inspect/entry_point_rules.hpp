#pragma once
// Entry points that name a module which no wheel has or an attribute that its module does not have, and tags in WHEEL
// that are not expanded. Codes Q221 to Q223. Pure.
#include "base/finding.hpp"
#include "inspect/wheel_contents.hpp"
#include <span>

namespace quarry::inspect {

/// Findings of all wheels, which are installed side by side. Q221 is a warning if a wheel holds the top-level package
/// of the module, else a note: the module may come from a distribution that was not given. At most 100 findings.
/// Q223 is only said where the source text leaves no doubt (surely_lacks), since no module is run. Memory follows the
/// number of files if a wheel has entry points.
Findings check_entry_points(std::span<const WheelContents* const> wheels);

} // namespace quarry::inspect
