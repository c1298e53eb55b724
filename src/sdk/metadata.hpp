#pragma once
// Private to the room.
// What a package is called and what its metadata says: names, requirements, METADATA, `_dist_info.py`, the sdist's
// files.
#include "base/platform.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "dist/version.hpp"
#include "sdk/plan.hpp"
#include "sdk/recipe.hpp"
#include "wheel/wheel.hpp"
#include <string>
#include <utility>
#include <vector>

namespace quarry::sdk {

/// The names of one build, all made in one place. Pure.
struct Naming {
  const Recipe* recipe; ///< outlives this
  dist::Version version;
  std::string nonce;
  std::vector<std::string> families, linux_families, windows_families; ///< each sorted
  Platform built_for = Platform::linux;                                ///< what is built; the meta project has none

  std::string dist(const Package& package,
                   const std::string& family) const; ///< "rocm-sdk-libraries-gfx103x-dgpu", normalised
  std::string pure(const Package& package, const std::string& family) const; ///< importable: '-' as '_'
  std::string platform(const Package& package,
                       const std::string& family) const; ///< "_rocm_sdk_libraries_gfx103X_dgpu" + nonce
  std::string default_family() const; ///< of the release: first of what both platforms have, else of what any has
  std::string devel_family() const;   ///< whose libraries devel links to: the default, where this build has it
  std::vector<std::string> all_families() const; ///< sorted union of the platforms' lists, else of the build
  /// "rocm-sdk-core==7.2.0", …; a per-family package is named for `family`.
  std::vector<std::string> requirements(const Package& package, const std::string& family) const;
};

Result<std::string> read_resource(const Resources& resources,
                                  std::string_view name); ///< internal S009 when it is not there
/// The pure package's files, relative to it, without tests.
Result<std::vector<std::pair<std::string, std::string>>> pure_tree(const Package& package, const Resources& resources);
/// METADATA, licences: everything of a wheel but its members.
Result<wheel::WheelSpec> wheel_frame(const Package& package, const std::string& family, const Naming& naming,
                                     const Resources& resources);
/// What a package says about itself to the runtime: its scripts, and the libraries that must be there.
struct Holdings {
  std::vector<Script> scripts; ///< programs as they are called on the platform
  std::vector<std::string> libraries;
};
std::string dist_info(const Package& package, const std::string& family, const Naming& naming,
                      const Holdings& holdings);
Result<SdistPlan> plan_sdist(const Package& meta, const Naming& naming, const Resources& resources);

} // namespace quarry::sdk
