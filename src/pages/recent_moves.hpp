#pragma once
// Guards page writes against the ABA problem.
//
// A delayed writer can overwrite a newer page if the page has changed back to the bytes that the writer read (A -> B ->
// A), because the ETag then matches again. This can happen only to a project that changed at least twice after the
// writer read its page. A delayed writer that goes on repairs its late pages itself (page_writer.hpp). One that is
// killed right after its late write does not. So the state object of the pages remembers which projects changed twice
// in the last k_recent_moves moves, and every writer also compares the pages of these projects. This memory is empty
// after a state object that was lost or unreadable. docs/concurrency.md has the timeline.
#include "base/json.hpp"
#include "registry/digests.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace quarry::pages {

constexpr std::uint64_t k_recent_moves = 16; ///< far more moves than happen while one writer writes one page

struct RecentMoves {
  /// Project -> number of the last move that changed it, for each project that one of the last k_recent_moves moves
  /// changed. If one writer wrote the pages of several moves at once, each of their projects gets the number of the
  /// last of these moves. The entry then stays longer than needed, which is harmless.
  std::map<std::string, std::uint64_t> moved;
  /// At least every project that two of the last k_recent_moves moves changed, perhaps more, with the number of the
  /// last move that changed it, or a later one. Comparing more projects is needless, and harmless.
  std::map<std::string, std::uint64_t> twice;

  /// Returns the state after `move`. `projects` changed since the last state: they enter `moved`; those that were in it
  /// already, or that several moves changed (`more_than_once`), enter `twice`. All get the number `move`. Then entries
  /// that are k_recent_moves or more moves old are dropped. Pure.
  RecentMoves after(std::uint64_t move, const std::set<std::string>& projects,
                    const std::set<std::string>& more_than_once) const;
};

/// Returns the projects whose shard digests differ between the two maps, or that only one of them has. Pure.
std::set<std::string> moved_between(const std::map<std::string, registry::ShardDigest>& before,
                                    const std::map<std::string, registry::ShardDigest>& now);

/// Writes the fields "recent" and "twice" of a state object.
void add_to(Json& json, const RecentMoves& recent);
/// Whether a key of a state object is a normalised project name: it becomes a part of a page's key. Pure.
bool is_project(const std::string& name);
/// Reads these fields; `json` must be an object. Missing fields are empty. Returns nullopt if a key is not a valid
/// project name or a value is not an unsigned integer.
std::optional<RecentMoves> recent_moves_of(const Json& json);

} // namespace quarry::pages
