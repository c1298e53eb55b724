#pragma once
// What the pages of a channel show, `channels/{name}/pages.json` (docs/formats/index.md), and which of them a move
// touches, so that one more file costs what its project costs, however many others there are. Private to the room.
#include "base/result.hpp"
#include "pages/projection.hpp"
#include "pages/recent_moves.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace quarry::pages {

constexpr std::uint64_t k_listed_files_max = 1000; ///< on one page, which every move would write again

struct PagesState {
  std::string channel;
  std::uint64_t generation = 0; ///< that the pages show completely; 0: none
  registry::ViewDigest view;    ///< of that generation
  std::uint64_t files = 0;      ///< in that view
  bool slash_keys = false;      ///< every page has its copy (page_writer.hpp)
  RecentMoves recent;           ///< counted in generations
};

/// The bytes are canonical JSON.
std::string to_json(const PagesState& state);
/// Bytes that are no such state are none: pages are only projections, and are made anew.
PagesState parse_pages_state(const std::string& bytes);

struct Changes {
  std::set<std::string> projects; ///< that differ between two views in a row, from the state's to the channel's
  std::set<std::string> more_than_once;
  registry::ViewRecord shown; ///< the state's view
};
/// Walks the ledger back from `now` to the generation of `state`. nullopt: it cannot be known (no state, too many moves
/// since, another past, a record of it lost or damaged).
Result<std::optional<Changes>> changes_since(store::ObjectStore& store, const PagesState& state,
                                             const registry::ChannelRecord& now, const registry::ViewRecord& view,
                                             const KnownViews& known);

} // namespace quarry::pages
