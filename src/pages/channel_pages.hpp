#pragma once
// The state object of a channel's pages, `channels/{name}/pages.json` (docs/formats/channels.md), and which projects
// have changed since it was written. If a channel has more than 1000 files, publishing one more costs only the pages of
// that file's project, of the projects in RecentMoves::twice, the roots and the channel's own page. In a smaller
// channel each move compares all pages. docs/concurrency.md has the protocol.
#include "base/result.hpp"
#include "pages/projection.hpp"
#include "pages/recent_moves.hpp"
#include "pages/remarks.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace quarry::pages {

/// If a channel has at most so many files, its own page (`index.html`) lists the files, else the projects. Every move
/// renders and compares that page.
constexpr std::uint64_t k_listed_files_max = 1000;

struct PagesState {
  std::string channel;
  std::uint64_t generation = 0; ///< the generation that all pages show; 0: no state
  registry::ViewDigest view;    ///< of that generation
  std::uint64_t files = 0;      ///< number of files in that view
  bool slash_keys = false;      ///< whether every HTML page has its copy (page_writer.hpp)
  RecentMoves recent;           ///< a move's number is its generation
  /// The policy that protected the channel at that generation. Empty: it was not protected, or the policy was
  /// unreadable.
  registry::PolicyDigest policy = {};
  /// Warnings about that policy, such as that unsigned results count. The channel's own page and the HTML page of each
  /// project show them; `simple/index.html` does not. The policy is read again if the channel has another policy than
  /// `policy`, and with Extent::whole. If the warnings have changed, every page is compared.
  std::vector<std::string> openly = {};
  /// The waivers of the view that were revoked when the pages were made. If they have changed, every page is compared.
  Revoked revoked = {};
};

/// Returns canonical JSON. Pure.
std::string to_json(const PagesState& state);
/// Never fails: unreadable state counts as no state (generation 0). Pages are derived data, so they are regenerated.
PagesState parse_pages_state(const std::string& bytes);

struct Changes {
  /// Includes projects that a later move changed back. A move changes a project in three cases: its shard differs; or a
  /// waiver that names it came, left or changed (registry/waived.hpp); or the list of empty extras differs
  /// (registry/empty_extras.hpp), and then every project in the list before or after the move counts.
  MovedProjects moved;
  registry::ViewRecord shown; ///< the view of the state's generation
};
/// Collects what changed from the generation of `state` to `now`, whose view is `view`, by walking the ledger back.
/// Returns nullopt if it cannot tell, and all pages must be compared: the state is missing, or newer than `now`,
/// more than k_recent_moves moves have happened since, the ledger does not lead to the state's view, or a record on the
/// way is lost (registry::is_lost()). Fails with the errors of load_ledger() and load_view() that are not a loss: those
/// of the store, and B004 for a record of a later version. Costs two reads per move, none if there was no move; views
/// in `known` are not read.
Result<std::optional<Changes>> changes_since(store::ObjectReader& store, const PagesState& state,
                                             const registry::ChannelRecord& now, const registry::ViewRecord& view,
                                             const KnownViews& known);

} // namespace quarry::pages
