#pragma once
// The plan of an SDK build: every package with every file as a rope, before a byte has moved. Can be counted, checked,
// printed.
#include "artifact/catalogue.hpp"
#include "artifact/tree.hpp"
#include "base/finding.hpp"
#include "base/platform.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "dist/version.hpp"
#include "sdk/recipe.hpp"
#include "sdk/unused.hpp"
#include "wheel/wheel.hpp"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quarry::sdk {

struct BuildRequest {
  std::string artifact_dir, dest_dir;
  dist::Version version;
  std::string nonce; ///< --version-suffix: appended to platform package names
  Platform platform = Platform::linux;
  std::vector<std::string> families; ///< empty: every family (of split artifacts: target) that an artifact names
  std::vector<std::string> linux_families, windows_families;
  codec::Profile profile = codec::Profile::release;
  unsigned workers = 1;
  artifact::TreeOptions trees;   ///< how archives are read
  bool from_build_tree = false;  ///< directories count, and not the archives that a build has packed from them
  bool require_complete = false; ///< a missing required script is an error
  std::string platform_tag;      ///< of the wheels; empty: linux_x86_64 or win_amd64 (platform_tag.hpp)
  codec::Compression payload = codec::Compression::none; ///< of the tar inside the devel package
  bool trees_only = false;                               ///< unpacked trees instead of packages
  /// Packages of a family keep the device code for these targets alone (thin.hpp); null: all of it.
  std::function<Result<std::vector<std::string>>(const std::string& family)> targets_of_family = {};
  /// The GPU targets of a family, for artifacts that are split; null: the lists of families name targets.
  std::function<Result<std::vector<std::string>>(const std::string& family)> expand_family = {};
  std::shared_ptr<const wheel::Prover> prover = {}; ///< remembers each wheel as read back; null: none does
};

struct SdistFile {
  std::string text;
  bool executable = false;
};
struct SdistPlan {
  std::string file_name, top;             ///< "rocm-7.2.0.tar.gz", "rocm-7.2.0"
  std::map<std::string, SdistFile> files; ///< by path below top
};

struct PackagePlan {
  std::string logical, family, dist; ///< "libraries", "gfx103X-dgpu", "rocm-sdk-libraries-gfx103x-dgpu"
  wheel::WheelSpec wheel;
  std::uint64_t input_bytes = 0;
  std::size_t files = 0, elf_edits = 0, launchers = 0, aliases = 0, dropped_links = 0;
  std::vector<std::string> scripts, missing_scripts;
  std::vector<wheel::Member> inside; ///< devel: the files of the payload, for who proves them
  std::string payload;               ///< the member that is compressed before it is packed; empty: none
};

struct BuildPlan {
  std::string recipe;                ///< its name
  std::vector<std::string> families; ///< of split artifacts: their targets
  std::string default_family;
  SdistPlan sdist;
  std::vector<PackagePlan> packages; ///< in the recipe's order, one for each family where per_family
  Findings findings;                 ///< nothing is written while it has errors
  std::size_t artifacts = 0;
  std::vector<Unused> unused; ///< of the artifacts, what no package takes
};

class ArtifactTrees;

/// Pure but for reading headers of the artifacts' files. `recipe` has the packages for one form of artifacts
/// (Recipe::in). Errors: S004 (no artifact), S005 (unknown family, or no family at all for a recipe with packages of
/// families), S006 (family without libraries), S007 (required package selects nothing), S008 (bad target name), S010…
/// from the view, S059 (artifacts in the other form).
Result<BuildPlan> plan_build(const BuildRequest& request, const Recipe& recipe, ArtifactTrees& trees,
                             const Resources& resources);

} // namespace quarry::sdk
