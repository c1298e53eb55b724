#pragma once
// From families and a trigger to the jobs of a CI matrix. Pure: the same input gives the same cells, in the order of
// the file. Errors: invalid_argument F003 (unknown family or target), F004 (a family that this trigger or platform does
// not run), F005 (unknown trigger), F006 (unknown variant), F007 (more than GitHub takes).
#include "base/json.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include "matrix/families.hpp"
#include <string>
#include <vector>

namespace quarry::matrix {

/// docs.github.com "Running variations of jobs in a workflow": a matrix makes at most 256 jobs.
constexpr std::size_t k_github_jobs_max = 256;
/// docs.github.com "Passing information between jobs": outputs of a job hold at most 1 MB, counted as UTF-16.
constexpr std::size_t k_github_output_max = 1u << 20;

struct ExpandRequest {
  std::string trigger; ///< an event of the file ("push"), or tiers ("presubmit,postsubmit")
  Platform platform;
  std::vector<std::string> families; ///< keys or names; empty: all of the trigger
  std::vector<std::string> variants; ///< names; empty: those of the release build; "all": every one
  std::string seed;                  ///< chooses among weighted runners; empty: the heaviest
};

/// What becomes of a cell's tests.
enum class TestState : std::uint8_t { tested, sanity_only, restricted, no_runner, expected_failure };
std::string_view to_string(TestState state);

struct Cell {
  const Family* family = nullptr;
  const Place* place = nullptr;
  const Variant* variant = nullptr;
  std::string artifact_group;                                                ///< family's name and the variant's suffix
  std::string build_runner, test_runner, multi_gpu_runner, benchmark_runner; ///< empty: none
  std::vector<std::string> targets;
  TestState state = TestState::tested;
  bool held = false; ///< nothing can prove it: a gate holds it unless somebody takes the risk
};

struct Expansion {
  std::vector<Cell> cells;          ///< point into the families
  std::vector<std::string> skipped; ///< sentences: what the trigger names and the platform or variant lacks
};
Result<Expansion> expand(const Families& families, const ExpandRequest& request);

/// {"include": [cell, …]} on one line; F007 beyond GitHub's bounds.
Result<std::string> github_matrix(const Expansion& expansion);
Json cell_json(const Cell& cell);

/// Targets of family names, targets or groups, the order kept, the first of equals; F003 for an unknown one.
Result<std::vector<std::string>> expand_targets(const Families& families, const std::vector<std::string>& names);

} // namespace quarry::matrix
