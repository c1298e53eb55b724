#pragma once
// Guards page writes against the ABA problem.
// Example: a project changes from A to B and back to A. A delayed writer renders B, and reads the ETag of the page
// while the page shows A. When it writes, the page shows A, perhaps again. The ETag matches, so the writer puts the
// outdated B over the right A. This can happen only if the project changes twice: to what the delayed writer renders,
// and away from it.
//
// A delayed writer that goes on repairs its late pages itself (page_writer.hpp). One that is killed right after its
// late write does not. So the state object of a channel or a merged index remembers which projects changed twice in the
// last k_recent_moves moves, and every writer also compares the pages of these projects.
//
// The memory of a merged index begins empty if its state object is lost or unreadable. That of a channel begins empty
// whenever changes_since() (channel_pages.hpp) cannot tell what changed. All pages are compared then. But a delayed
// writer that began earlier may put an outdated page after that. If it is killed then, the next writer may not compare
// that page. docs/concurrency.md has the timeline.
#include "base/json.hpp"
#include "registry/digests.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace quarry::pages {

constexpr std::uint64_t k_recent_moves = 16; ///< far more moves than happen while one writer writes one page

/// The projects that some moves changed, and those of them that more than one of these moves changed.
struct MovedProjects {
  std::set<std::string> projects, more_than_once;
};

struct RecentMoves {
  /// The projects that the last k_recent_moves moves changed, as far as the memory reaches back. The number is that of
  /// the last move that changed the project. If one writer wrote the pages of several moves at once, each of their
  /// projects gets the number of the last of these moves. The entry then stays longer than needed, which is harmless.
  std::map<std::string, std::uint64_t> moved;
  /// Every project that two of the last k_recent_moves moves changed, as far as the memory reaches back. Other projects
  /// in it do no harm: they are compared once more. The number is that of the last move that changed the project; a
  /// later number does no harm.
  std::map<std::string, std::uint64_t> twice;

  /// Returns the state after `move`. `changed.projects` changed since the last state: they enter `moved`; those that
  /// were in it already, or that are in `changed.more_than_once`, enter `twice`. All get the number `move`. Then
  /// entries that are k_recent_moves or more moves old are dropped. Pure.
  RecentMoves after(std::uint64_t move, const MovedProjects& changed) const;
};

/// Returns the projects whose shard digests differ between the two maps, or that only one of them has. Pure.
std::set<std::string> moved_between(const std::map<std::string, registry::ShardDigest>& before,
                                    const std::map<std::string, registry::ShardDigest>& now);

/// Writes the fields "recent" and "twice" of a state object.
void add_to(Json& json, const RecentMoves& recent);
/// Whether `name` is a normalised project name. Check each name that is read from a state object: it becomes a part of
/// a page's key. Pure.
bool is_project(const std::string& name);
/// Reads the fields "recent" and "twice"; `json` must be an object. Missing fields are empty. Returns nullopt if a key
/// in a field is not a normalised project name or a value is not an unsigned integer.
std::optional<RecentMoves> recent_moves_of(const Json& json);

} // namespace quarry::pages
