#pragma once
// Which pages a slow writer may still spoil. Private to the room.
//
// A writer that was overtaken can still write one page: its if-match holds when the page has the bytes that it had read
// once more. A page gets old bytes back only when its project moves away and back, so who moved twice lately is looked
// at again by whoever comes next. A writer that lives mends its own late pages (page_writer.hpp); this is for one that
// is killed after them.
#include "base/json.hpp"
#include "registry/digests.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace quarry::pages {

constexpr std::uint64_t k_recent_moves = 16; ///< far more than writers are ever abreast of each other on one directory

struct RecentMoves {
  std::map<std::string, std::uint64_t> moved; ///< project -> the move that changed its files last, of `k_recent_moves`
  std::map<std::string, std::uint64_t> twice; ///< those whose files changed before that, too

  /// `move` changed these; `more_than_once` is a part of them. What is too long ago is forgotten.
  RecentMoves after(std::uint64_t move, const std::set<std::string>& projects,
                    const std::set<std::string>& more_than_once) const;
};

/// Projects whose files (by the digest of their shard) are other ones, or that only one of the two has.
std::set<std::string> moved_between(const std::map<std::string, registry::ShardDigest>& before,
                                    const std::map<std::string, registry::ShardDigest>& now);

/// As "recent" and "twice".
void add_to(Json& json, const RecentMoves& recent);
/// nullopt: something there is no name of a project, or no number.
std::optional<RecentMoves> recent_moves_of(const Json& json);

} // namespace quarry::pages
