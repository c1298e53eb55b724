#pragma once
// Private to the room.
// The plan of one package: from its view (what the recipe selects) to the members of its wheel.
#include "base/finding.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include "sdk/devel.hpp"
#include "sdk/metadata.hpp"
#include "sdk/plan.hpp"
#include "sdk/populate.hpp"
#include "sdk/view.hpp"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace quarry::sdk {

/// What every package of one build is planned from. Does not change while packages are planned.
struct PackageInputs {
  const BuildRequest& request;
  const Recipe& recipe;
  const Resources& resources;
  Naming naming;
  content::Rope launcher;
  std::string platform_tag;
  bool for_windows() const { return request.platform == Platform::windows; }
};

/// One package to be made: a package of the recipe, for one family if it has one for each.
struct Instance {
  const Package& package;
  std::string family; ///< empty without one; of devel: whose libraries its links name
};

/// The files of the runtime packages, by logical name and family: devel links to them.
using Populations = std::map<std::pair<std::string, std::string>, Population>;

/// Which console scripts a package gets on a platform.
struct ScriptChoice {
  std::vector<Script> held;         ///< with their programs as the platform calls them
  std::vector<std::string> missing; ///< names of required ones whose program the package does not hold
};
ScriptChoice choose_scripts(const Package& package, const Population& population, const Platform& platform);

/// S050, a note: files that are executable in some artifacts only. Each file once, in the first package that holds it:
/// paths in `noted` are left out, and the others are added there. nullopt: there are none, or the build is for Windows.
std::optional<Finding> note_modes(const View& view, const std::string& place, const PackageInputs& inputs,
                                  std::set<std::string>& noted);

/// The wheel of a runtime package with the files of `population`, which must not be empty. corrupt S059: a package of
/// libraries would hold none.
Result<PackagePlan> plan_runtime(const PackageInputs& inputs, const Instance& instance, const Population& population,
                                 Findings& findings);
Result<Population> populate_runtime(const PackageInputs& inputs, const Instance& instance, const View& view,
                                    Findings& findings);

/// The wheel of a device package with the files of `population`, which must not be empty: no Python files, and for
/// devel a list of what it brings (docs/formats/recipe.md).
Result<PackagePlan> plan_device(const PackageInputs& inputs, const Instance& instance, const Population& population,
                                Findings& findings);

/// The devel tree: what the runtime packages do not hold, and links to what they hold.
Result<DevelTree> devel_tree(const PackageInputs& inputs, const Instance& instance, const View& view,
                             const Populations& populations, Findings& findings);
/// The wheel around a devel tree, which must not be empty.
Result<PackagePlan> plan_devel_wheel(const PackageInputs& inputs, const Instance& instance, DevelTree tree,
                                     Findings& findings);

/// Nothing is selected for the package. not_found S006 (a family without files) or S007 (a required package); else the
/// finding S026, with which the package is left out.
Result<Finding> left_out(const PackageInputs& inputs, const Instance& instance);
/// S027: packages that require one that was left out, so nothing could install them. `absent`: logical names.
Findings unmet_requirements(const Recipe& recipe, const std::set<std::string>& absent);

} // namespace quarry::sdk
