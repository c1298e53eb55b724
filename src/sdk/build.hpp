#pragma once
// `sdk build`: the walk from artifacts to packages. Read build.cpp from top to bottom.
#include "base/result.hpp"
#include "sdk/plan.hpp"
#include "wheel/wheel.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::sdk {

/// What to build with: the recipe that was asked for, else the one of the program's own that fits the artifacts.
struct RecipeChoice {
  std::vector<Recipe> own; ///< at least one; the first of those that fit is taken
  std::optional<Recipe> asked;
};

struct BuiltPackage {
  std::string logical, family = {}, file_name, path = {};
  std::uint64_t size = 0, input_bytes = 0;
  std::size_t files = 0;
  Sha256 sha256 = {};
  double seconds = 0;
};

struct BuildReport {
  std::string recipe;                 ///< its name
  std::vector<BuiltPackage> packages; ///< the sdist first
  std::uint64_t input_bytes = 0, output_bytes = 0;
  Findings findings;
  std::vector<Unused> unused; ///< of the artifacts, what no package takes
};

/// What the walk tells its caller while it goes. All optional.
struct BuildEvents {
  std::function<void(const artifact::Catalogue&)> read;
  std::function<void(std::uint64_t)> archive_bytes; ///< of archives, read since the last call
  std::function<void(const BuildPlan&)> planned;
  std::function<void(const Findings&)> checked; ///< all findings, none of them an error; before anything is written
  std::function<void(const std::string& dist, std::uint64_t total_bytes)> packing;
  std::function<void(std::uint64_t done)> progress;
  std::function<void(const BuiltPackage&)> built;
};

/// Reads the artifacts, plans, checks, and writes each package to `{dest_dir}/dist/` atomically; until the last one is
/// there, so is the file dist::k_being_built, for which publishing refuses the directory. With `plan_only` nothing is
/// written, and the report's packages have no path, size and digest; with `trees_only` directories
/// `{dest_dir}/{project}/` are written instead (W015 when one is there). Findings of severity error stop before
/// anything is written: failed S030 with the first of them; so do packages of another version in that directory
/// (already_exists S056). The recipe: S053 if it cannot package artifacts in this form, S060 if it is one of the
/// program's and another one fits.
Result<BuildReport> build(const BuildRequest& request, const RecipeChoice& recipes, const Resources& resources,
                          const BuildEvents& events, bool plan_only);

} // namespace quarry::sdk
