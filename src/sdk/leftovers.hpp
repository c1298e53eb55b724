#pragma once
// Private to the room.
// Packages of an earlier build in the directory that a build writes to. `publish` takes a directory as one set, so the
// packages of two versions would become one release that no test can cover.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "dist/version.hpp"
#include "sdk/recipe.hpp"
#include <string>
#include <vector>

namespace quarry::sdk {

struct Expected {
  const Recipe& recipe;
  dist::Version version;
  std::vector<std::string> file_names; ///< what this build writes
};

/// Lists `dist_dir`, which need not exist. already_exists S056: it holds packages of the recipe's projects (of any
/// family) with another version; nothing is removed, the hint does. Finding S057: it holds other packages that this
/// build does not write, such as those of another family or of somebody else; `publish` would take them too.
Result<void> check_leftovers(const std::string& dist_dir, const Expected& expected, Findings& findings);

} // namespace quarry::sdk
