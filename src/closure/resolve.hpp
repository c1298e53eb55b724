#pragma once
// Private to the room.
// The search for versions that satisfy each other. It takes choices back, and skips those that have no part in a
// conflict (conflict-directed backjumping). The same shelf gives the same answer.
#include "base/result.hpp"
#include "closure/shelf.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::closure {

/// The bound of one search: versions that are tried. PyTorch with its dependencies from PyPI needs 60; a search that
/// needs more than this has no answer that a person could understand.
constexpr std::size_t k_tries_max = 20'000;
/// Versions that are chosen at the same time; it bounds the depth of the search.
constexpr std::size_t k_choices_max = 1'000;
/// Requirements that one search looks at. PyTorch with its dependencies needs some thousand.
constexpr std::size_t k_steps_max = 300'000;

/// Versions that one search compares with a demand. PyTorch with its dependencies needs some ten thousand.
constexpr std::size_t k_comparisons_max = 5'000'000;

/// What all searches of a question may look at together.
struct SearchBudget {
  std::size_t left = 5'000'000;         ///< requirements; a release of 50 packages needs a tenth of it
  std::size_t comparisons = 50'000'000; ///< of a version with a demand
};

struct Demand {
  dist::Requirement requirement;
  std::string by; ///< the project that asks; empty: the question itself
  std::string by_version;
  std::string extra; ///< of that project, whose requirement it is; empty: of the project without extras
};

enum class GapKind : std::uint8_t {
  unknown,    ///< neither the set nor the base index has the project
  no_file,    ///< it has, and no version has a file for the target
  no_match,   ///< none of the versions is one that all demands allow
  from_url,   ///< a requirement names a URL
  unreadable, ///< the versions that would fit have METADATA that installers cannot read
  undecided,  ///< the search was given up: one of the bounds above
};

/// Why a question has no answer: what stood in the way where the search met it first.
struct Gap {
  GapKind kind = GapKind::unknown;
  std::string project;
  std::vector<Demand> demands;      ///< of the project
  std::vector<dist::Version> there; ///< versions with a file for the target, newest first
  bool in_set = false;              ///< the set has the project
  bool only_source = false;         ///< the base index has no wheel of it
};

/// An extra that was asked for and that the project does not have: installers ignore it.
struct MissingExtra {
  std::string project, extra, by;
};

struct Answer {
  std::optional<Gap> gap;                   ///< none: the demands can be satisfied
  std::vector<MissingExtra> missing_extras; ///< of the versions that were chosen in the end; none if there is a gap
};

/// Whether the project counts as satisfied although nobody has it.
using Assumed = std::function<bool(const std::string& project)>;

/// Takes what it looks at from the budget. Fails as the base index does.
Result<Answer> resolve(Shelf& shelf, const std::vector<Demand>& demands, const Assumed& assumed, SearchBudget& budget);

} // namespace quarry::closure
