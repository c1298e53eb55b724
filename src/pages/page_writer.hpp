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
// same conditions: the page first, then its copy. When both are removed, the copy goes first, so that a copy never
// outlives its page.
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

/// Pages that are compared, confirmed and written together. In memory are one batch, and those stored pages that are
/// being read at this moment. A package directory or a distribution is one batch, rendered before its round writes
/// anything.
struct Batch {
  std::function<Result<std::vector<index::Page>>()> pages; ///< renders; keys are relative to PageSource::directory
  bool in_order = true;                                    ///< true: written one after the other; false: in parallel
};

/// What one round has to do.
struct Work {
  std::vector<Batch> batches;
  /// Full keys of pages that the source no longer shows. They are removed, with their copies, after all pages are
  /// written; pages of another tool are left as `others` says. A removal has no precondition, so it may hit a page that
  /// another writer needs. If it is a Quarry, it changed the source first, so the token is read again after the
  /// removals: if it differs, the next round writes the page again. Another tool writes its page again by itself.
  std::vector<std::string> stale;
  /// Keys that end in a slash, of pages that another tool writes from now on: our own copies there are removed, as the
  /// pages above are. Others stay.
  std::vector<std::string> stale_copies = {};
  /// Write-ahead state, written before any page: it lacks the entries of the pages that are about to change, so that
  /// after a crash the next writer does not trust these pages.
  std::optional<index::Page> state_before = {};
  /// Renders the new state object, which says what the pages then show; called and written after everything else.
  std::function<index::Page()> state = {};
};

/// What happens to HTML pages that link to something and lack our mark, which another tool has written. `replaced`: as
/// outdated pages of ours; nobody else writes in a channel or a merged index, so such a page is damage there. `left`:
/// such a page is left in two cases: `simple-json/index.html` existed when write_pages() first looked for it; or
/// somebody wrote the page after this call had seen it as foreign, or was faster than our own write of it. In every
/// other case the page is replaced, or removed if it is stale. A page that becomes foreign while the call runs counts
/// as first seen then. A page that index::read_html_page() refuses, such as one that is not UTF-8, counts as one
/// without links. A page that begins with `{` (JSON) counts as ours.
enum class Others : std::uint8_t { left, replaced };

/// What pages are derived from, as it was at one moment.
struct Snapshot {
  /// Changes whenever the source changes. Three changes do not count:
  ///   - a change of settings.json;
  ///   - a seal of a run outside of its package directories (run_source() in merged_sources.hpp);
  ///   - seals of a run or group that still has too few sealed directories: its token is "".
  std::string token;
  /// Returns the work that makes the pages show this snapshot. `shown` is the content of the state object `state_key`
  /// as it was read, empty if it does not exist. The function must remember the projects of all earlier rounds of the
  /// same write_pages() and include their pages again: a round that lost may have written an old page over a newer one
  /// (recent_moves.hpp).
  std::function<Result<Work>(const std::string& shown)> work;
};

/// Where pages are, and how to read what they are derived from. A round of write_pages() goes like this, one function
/// at a time, with the step numbers of docs/concurrency.md:
///   1. read the state object and its ETag
///   2. read the snapshot, ask it for its work, and write `state_before` if-match the ETag of step 1
///   3. for each batch: render it, read its pages with their ETags
///   4. and read again whether the token is the same
///   5. write the pages of the batch that differ
///   6. remove stale pages; if one was removed, compare the token again
///   7. write the new state if its bytes differ, if-match the last ETag of the state object (from step 1 or 2). If step
///      5 wrote pages and the state was not written (its bytes are the same, or these pages have no state object),
///      compare the token once more
/// The state object is read before the snapshot for this reason: if two writers work at the same time, the one that was
/// overtaken fails at 2 or 7, because the other one has written the state object since.
struct PageSource {
  std::string directory;
  std::function<Result<Snapshot>()> read;
  /// The key of the state object, relative to `directory`. Empty if the pages have none: then Work::state_before and
  /// Work::state must be empty, too.
  std::string state_key = {};
  unsigned transfers = 8; ///< pages read or removed at once, and written at once unless in_order
  /// What to do with a page of another tool. Only package directories and distributions are shared with one.
  Others others = Others::left;
};

/// Writes the pages of `source` whose bytes differ, and removes stale ones. Starts over when another writer changed the
/// source or a page; after k_rebase_max rounds it fails with precondition_failed (P010). A put() whose outcome is
/// unknown counts as a change of another writer. Also fails with the errors of the store, such as R004 of a removal,
/// and of the source's functions. A round costs:
///   - one read for each page and each copy, and one write for each of them that differs;
///   - up to two reads (with Others::replaced: heads) for each stale page, and one read for each of `stale_copies`; one
///     removal for the page and for its copy, if they exist and are not left to another tool;
///   - one read and up to two writes of the state object, and what ObjectWriter::slash_keys() costs, with its errors;
///   - one call of read() at its beginning, one for each batch (also if nothing of it differs), one if it removed
///     something, and one at its end if it wrote pages but no state.
/// With Others::left, all rounds together also cost one head of `simple-json/index.html` if they meet a stale page or a
/// page of another tool. `transfers` stale pages are removed at once. Does not ask whether the store honours
/// conditions: if not, the caller must be the only writer.
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

inline constexpr std::string_view k_state_name = "pages.json"; ///< says what the pages of its directory show
/// 512 MiB; a page with half a million files has 250 MB. One above it can be written, and its next reader gets R007.
inline constexpr std::uint64_t k_page_bytes_max = 512u << 20;

} // namespace quarry::pages
