#pragma once
// What the pages of a channel show, `channels/{name}/pages.json` (docs/formats/index.md), and which of them a move
// touches, so that one more file costs what its project costs, however many others there are. Private to the room.
#include "base/result.hpp"
#include "publish/projection.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace quarry::publish {

struct PagesState {
  std::string channel;
  std::uint64_t generation = 0; ///< that the pages show completely; 0: none
  std::string view;             ///< of that generation
  std::uint64_t files = 0;      ///< in that view
  /// Projects whose pages moved lately, and in which generation. A writer that was overtaken may still have written
  /// one of them after the faster one was done; whoever comes next looks at them, too.
  std::map<std::string, std::uint64_t> recent;
};

/// The bytes are canonical JSON.
std::string to_json(const PagesState& state);
/// Bytes that are no such state are none: pages are only projections, and are made anew.
PagesState parse_pages_state(const std::string& bytes);

struct Changes {
  std::set<std::string> projects; ///< that differ between two views in a row, from the state's to the channel's
  registry::ViewRecord shown;     ///< the state's view
};
/// Walks the ledger back from `now` to the generation of `state`. nullopt: it cannot be known (no state, too many moves
/// since, another past).
Result<std::optional<Changes>> changes_since(store::ObjectStore& store, const PagesState& state,
                                             const registry::ChannelRecord& now, const registry::ViewRecord& view,
                                             const KnownViews& known);

constexpr std::uint64_t k_recent_moves = 16; ///< far more than writers are ever abreast of each other on one channel

} // namespace quarry::publish
