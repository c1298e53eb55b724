#pragma once
// Writes pages that follow a source which other writers may change at the same time: optimistic concurrency with ETags.
// docs/concurrency.md has the timelines of two writers.
//
// A writer reads the ETag of a page, then reads the source again. If the source has not changed, it writes the page
// if-match, or if-absent if it did not exist. If another writer has changed the source or the page, the token differs
// or the condition fails, and the writer starts over from the new source. There is no lock and no clock.
//
// If the store can keep keys that end in a slash, each HTML page has a copy under `…/simple/rocm/`, the key that
// installers request from a bucket: the key of the page without `index.html`. A page and its copy are written under the
// same conditions. The page is written before its copy and removed after it.
#include "base/result.hpp"
#include "index/pages.hpp"
#include "pages/projection.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::pages {

/// Pages that are compared, confirmed and written together. They are rendered when their turn comes, so that only one
/// batch of a large index is in memory.
struct Batch {
  std::function<Result<std::vector<index::Page>>()> pages; ///< renders; keys are relative to PageSource::directory
  bool in_order = true;                                    ///< true: written one after the other; false: in parallel
};

/// What one round has to do.
struct Work {
  std::vector<Batch> batches;
  /// Full keys of pages that the source no longer shows. They are removed, with their copies, after all pages are
  /// written; pages of another tool are left as `others` says. A store removes without a precondition, so a page that
  /// another writer needs may be removed. That writer changed the source before it looked at the page. So the token is
  /// read again after the removals. It differs then, and the next round writes the page again.
  std::vector<std::string> stale;
  /// Write-ahead state, written before any page: it lacks the entries of the pages that are about to change, so that
  /// after a crash the next writer does not trust these pages.
  std::optional<index::Page> state_before = {};
  /// Renders the new state object, which says what the pages then show; called and written after everything else.
  std::function<index::Page()> state = {};
};

/// Pages that link to something and lack our mark: `left` to a tool that keeps writing them, or `replaced` like an
/// outdated page of ours. Nobody else writes in a channel or a merged index, so such a page there is damage.
enum class Others : std::uint8_t { left, replaced };

/// What pages are derived from, as it was at one moment.
struct Snapshot {
  /// Differs whenever the source differs. Exception: while run_source() or group_source() (merged_sources.hpp) returns
  /// "" because too few directories or groups of a run have seals, changes in these directories do not change the token
  /// of the merged index.
  std::string token;
  /// Returns the work that makes the pages show this snapshot. `shown` is the content of the state object `state_key`
  /// as it was read, empty if it does not exist. The function must remember the projects of all earlier rounds of the
  /// same write_pages() and include their pages again: a round that lost may have written an old page over a newer one
  /// (recent_moves.hpp).
  std::function<Result<Work>(const std::string& shown)> work;
};

/// Where pages are, and how to read what they are derived from. A round of write_pages() goes like this, one function
/// at a time:
///   1. read the state object and its ETag, then the snapshot, and ask it for its work
///   2. write `state_before`, if-match that ETag
///   3. for each batch: render it, read its pages with their ETags, read again whether the token is the same, write the
///      pages that differ
///   4. remove stale pages; if one was removed, compare the token again
///   5. write the new state, if-match the ETag of step 2, or of step 1 if step 2 wrote nothing. If pages were written
///      but no state, because there is none or its bytes are the same, compare the token once more instead
/// The order of step 1 matters: of two writers the one that was overtaken fails at 2 or 5, because the other one has
/// written the state object since.
struct PageSource {
  std::string directory;
  std::function<Result<Snapshot>()> read;
  std::string state_key = {}; ///< relative to `directory`; empty: no state object, and both states of Work are empty
  unsigned transfers = 8;     ///< pages read or removed at once, and written at once unless in_order
  /// What to do with a page of another tool (foreign_pages.hpp). Only package directories and distributions are shared
  /// with one.
  Others others = Others::left;
};

/// Writes the pages of `source` whose bytes differ, and removes stale ones. Starts over when another writer changed the
/// source or a page; after k_rebase_max rounds it fails with precondition_failed (P010). A write whose outcome
/// is unknown counts as a change of another writer. Also fails with the errors of the store and of the source's
/// functions. A round costs one read per page and copy, one write per one of these that differs, one read per stale
/// page and copy and a removal if it exists, and a read and up to two writes of the state object. It calls read() at
/// its beginning, for each batch before it is written, after removals, and at its end if it wrote pages but no state.
/// With Others::left perhaps one head. `transfers` stale pages are removed at once. Does not ask whether the store
/// honours conditions: if not, the caller must be the only writer.
Result<Projected> write_pages(store::ObjectStore& store, const PageSource& source);

/// Returns the key of a page's copy: "a/simple/rocm/index.html" -> "a/simple/rocm/"; "" if the key does not end in
/// "/index.html". Pure.
std::string slash_key_of(const std::string& page_key);
/// The inverse: "a/simple/rocm/" -> "a/simple/rocm/index.html"; other keys are returned unchanged. Pure.
std::string page_key_of(const std::string& key);

/// Returns the full keys of all pages below `simple/` and `simple-json/` of `directory` for which `is_current`, called
/// with such a key, is false; sorted. A page of which only the copy is left is included, by the key of the page. Costs
/// two listings.
Result<std::vector<std::string>> stale_pages(store::ObjectReader& store, const std::string& directory,
                                             const std::function<bool(const std::string& key)>& is_current);

inline constexpr std::string_view k_state_name = "pages.json"; ///< says what the pages beside it show
/// 512 MiB; a page with half a million files has 250 MB. One above it can be written, and its next reader gets R007.
inline constexpr std::uint64_t k_page_bytes_max = 512u << 20;

} // namespace quarry::pages
