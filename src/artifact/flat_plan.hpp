#pragma once
// Private to the room.
// What the merge of fetched artifacts into one tree will do, decided before the first change.
#include "artifact/fetch.hpp"
#include "artifact/flat_state.hpp"
#include "base/result.hpp"
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace quarry::artifact {

/// Paths in the output directory that fetches made, also ones that were killed.
struct MadeByFetches {
  std::set<std::string> leaves, directories;
};
/// Pure.
MadeByFetches made_by_fetches(const FlatState& state);

/// What the staged artifacts bring. Paths are relative to the output directory.
struct Incoming {
  struct Move {
    std::string from, to; ///< `from`: a path of this machine
  };
  std::map<std::string, FlatState::Owner> owners;         ///< by artifact
  std::map<std::string, std::size_t> leaves, directories; ///< path -> number of the artifact that brings it
  std::vector<Move> moves;
};

struct MergePlan {
  FlatState before; ///< the recorded state
  MadeByFetches ours;
  Incoming incoming;
  std::unordered_set<std::string> kept; ///< leaves of artifacts that are not replaced
  std::vector<std::string> emptied;     ///< directories that make room for a file or link
};

/// Reads the recorded state, the staged trees (one for each of `artifacts`) and what is at their paths in `output`, and
/// checks everything: A015, A016, A050 as merge_flat(). Changes nothing.
Result<MergePlan> plan_merge(const std::vector<std::string>& staged, const std::string& output,
                             const std::vector<Fetched>& artifacts);

/// A016: something that no fetch made is in the way.
Unexpected made_by_others(const std::string& output, const std::string& path);

} // namespace quarry::artifact
