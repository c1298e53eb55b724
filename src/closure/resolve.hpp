#pragma once
// Private to the room.
// Searches for one version of each project so that all requirements are met, by conflict-directed backjumping: after a
// conflict it returns to the newest choice that has a part in it. Deterministic.
#include "base/result.hpp"
#include "closure/shelf.hpp"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::closure {

/// Versions that one search tries. PyTorch with its dependencies from PyPI needs 60; nobody could follow the
/// explanation of a search that needs more than this.
constexpr std::size_t k_tries_max = 20'000;
/// Versions that are chosen at the same time. This bounds the depth of the search.
constexpr std::size_t k_choices_max = 1'000;
/// Requirements that one search looks at. PyTorch with its dependencies needs some thousand.
constexpr std::size_t k_steps_max = 300'000;

/// Versions that one search compares with a demand. PyTorch with its dependencies needs some ten thousand.
constexpr std::size_t k_comparisons_max = 5'000'000;

/// Bounds all searches of one ClosureQuestion together.
struct SearchBudget {
  std::size_t left = 5'000'000;         ///< requirements; a release of 50 packages needs a tenth of it
  std::size_t comparisons = 50'000'000; ///< of a version with a demand
};

struct Demand {
  dist::Requirement requirement;
  std::string by; ///< the project that has the requirement; empty: the package that is searched for
  std::string by_version;
  std::string extra; ///< the extra of `by` that has the requirement; empty: `by` has it without extras
};

enum class GapKind : std::uint8_t {
  unknown,    ///< neither the set nor the base index has the project
  no_file,    ///< the project exists, and none of its versions has a file for the target
  no_match,   ///< no version meets all demands
  from_url,   ///< a requirement names a URL
  unreadable, ///< the versions that would fit have METADATA that installers cannot read
  undecided,  ///< the search exceeded one of the bounds above
};

/// Why a search found no solution: the first conflict that it met.
struct Gap {
  GapKind kind = GapKind::unknown;
  std::string project;
  std::vector<Demand> demands;      ///< of the project
  std::vector<dist::Version> there; ///< versions that have a file for the target, newest first
  bool in_set = false;              ///< the set has the project
  bool only_source = false;         ///< the base index has no wheel of it
};

/// An extra that was asked for and that the project does not have: installers ignore it.
struct MissingExtra {
  std::string project, extra, by;
};

struct Answer {
  std::optional<Gap> gap;                       ///< unset: the demands can be met
  std::map<std::string, const Edition*> chosen; ///< by project; they live as long as the shelf; none if there is a gap
  std::vector<MissingExtra> missing_extras;     ///< of the chosen versions; empty if there is a gap
};

/// Whether the project counts as available although no source has it.
using Assumed = std::function<bool(const std::string& project)>;

/// Searches once, and subtracts its steps from the budget. Fails as the base index does.
Result<Answer> resolve(Shelf& shelf, const std::vector<Demand>& demands, const Assumed& assumed, SearchBudget& budget);

} // namespace quarry::closure
