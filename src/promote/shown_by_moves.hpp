#pragma once
// Private to the room.
// Whether each move of a distribution shows what such a move may show. Used by one thread.
#include "registry/distributions.hpp"
#include <set>
#include <string>
#include <utility>

namespace quarry::promote {

/// Takes the moves from the oldest to the newest.
class ShownByMoves {
public:
  explicit ShownByMoves(store::ObjectReader& store) : store_(store) {}

  /// Why this move may not show what it does; empty if it may:
  ///   - `promote` and `adopt` take nothing out;
  ///   - `unblock` and `acknowledge` leave the sets as they were;
  ///   - `rollback` shows only sets that an earlier move showed;
  ///   - `yank` shows only what was shown before it: the sets, or parts of them. A set whose record is lost shows
  ///     nothing.
  /// Other words are not judged. Reads the sets before a `yank` that leaves a part of one.
  Result<std::string> defect_of(const registry::DistributionView& move);
  /// To be called after it, or instead of it.
  void note(const registry::DistributionView& move);
  /// The walk begins after this move: what those before it showed is not known, so that no `rollback` is judged.
  void begin_after(const registry::DistributionView& move);

private:
  using Files = std::set<std::pair<std::string, Sha256>>; ///< by name and content
  Result<Files> files_before();
  Result<bool> shows_parts(const registry::Shown& now);

  store::ObjectReader& store_;
  registry::Shown before_;
  std::set<registry::SetDigest> ever_;
  bool whole_ = true;
};

} // namespace quarry::promote
