#pragma once
// Private to the room.
// What a build takes from its directory of artifacts: families, and the artifacts that its packages select.
#include "artifact/catalogue.hpp"
#include "base/result.hpp"
#include "sdk/plan.hpp"
#include "sdk/recipe.hpp"
#include <string>
#include <vector>

namespace quarry::sdk {

struct Choice {
  std::vector<std::string> families;                         ///< those that are built, sorted; targets if split
  std::vector<std::string> linux_families, windows_families; ///< what the release says of each platform, sorted
  std::vector<artifact::Name> artifacts;                     ///< those that a package takes for one of `families`
};

/// Checks the list of the other platform's families. No artifact of that platform is at hand, so only the form of the
/// names is checked. Fails with invalid_argument S044. Pure.
Result<void> check_other_families(const BuildRequest& request);

/// Chooses the families that were asked for, or else all that `names` have. The list of this platform's families
/// defaults to `families` if the other platform's list was given: without it the release would say that it has nothing
/// for this platform. Fails with S005 (unknown family, or no family for a recipe with packages of families) or S008 (a
/// target that cannot name a package). Pure.
Result<Choice> choose(const BuildRequest& request, const Recipe& recipe, const std::vector<artifact::Name>& names);

} // namespace quarry::sdk
