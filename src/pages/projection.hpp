#pragma once
// Brings the index pages of package directories, channels and distributions up to date. Pages are derived from seals
// and channels, and written after them: project pages first, then the roots that link to them. A reader may see a stale
// page, never a torn one and never one that names a missing file. The one exception is files of untested history: they
// are shown as they were recorded, without a look whether they are still there. docs/concurrency.md explains how
// concurrent writers are kept apart and what happens after a crash.
//
// The functions may be called from several threads and processes at the same time. In a store without conditional
// writes only one writer is safe (ObjectStore::conditional_writes).
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace quarry::pages {

/// Cache-Control of pages: readers see a promotion within a minute, without any cache invalidation.
constexpr std::string_view k_page_cache = "public, max-age=60";

struct Projected {
  /// What the last round wrote and removed. A copy counts as a page. So does each write of the state object: up to two.
  std::uint64_t pages_written = 0, pages_removed = 0;
  /// Keys of pages that turned out to be another tool's and were left to it; sorted. Without the find-links page that
  /// settings.json gives to another tool.
  std::vector<std::string> foreign = {};
  std::uint64_t generation = 0; ///< of a channel or a distribution: what its pages show now; else 0
};

/// One warning P113 for the pages that were left to another tool; none without such pages. Pure.
Findings foreign_notes(const Projected& projected);

/// Writes the pages of a package directory ("42-linux/python/g"). They show the union of the sets sealed there, and the
/// untested history of the directory (registry/history.hpp). Pages of projects that left are removed. If no
/// project is left, the roots and the find-links page are written without links. If the directory has neither a set nor
/// a history nor a page of ours, nothing is written. A `simple-json/index.html` counts as a page of ours without being
/// read.
///
/// `simple-json/index.html` is written last. Until it exists, a call replaces HTML pages of another tool, except one
/// that somebody writes again while the call runs. Later calls leave such pages and name them in `foreign`
/// (Others::left in page_writer.hpp). If settings.json says that another tool writes the find-links page, this page is
/// neither written nor removed; its copy under the key `{directory}/` is not written, and removed if it is ours.
///
/// Fails with precondition_failed (P010) if other writers kept changing the pages for k_rebase_max rounds; with
/// already_exists (R018) if two sets disagree about a file; with R005, R007, R010 to R012, R014 or B002 to B004 of a
/// set here or of its history; with P115, R007 or B002 to B004 of settings.json; and with the errors of the store. It
/// costs:
///   - before the first round: a listing of the seals, one of the history, and two reads for each set, one by one. If
///     nothing is sealed: one more listing of the history, and a look for `simple-json/index.html`; without it two
///     listings of the pages, which are read one after the other until one is ours;
///   - in each round up to four looks: at its beginning, before the pages are written, after removals if it removed
///     something, and at its end if it wrote a page. A look is a listing of the seals and one of the history;
///   - in each round also one more listing of the history and two of the pages. It reads every page, eight at the same
///     time. It also reads, one after the other: settings.json, each record of the history, each set that no earlier
///     look has read, and the METADATA of one wheel per project. It writes pages whose bytes differ.
/// Does not look whether the directory is a distribution. For a distribution call project_distribution().
Result<Projected> project_directory(store::ObjectStore& store, const std::string& directory);

/// Writes the pages of a distribution ("v2/gfx94X-dcgpu") as project_directory() does, for the sets that it shows
/// (registry::read_distribution()). If it shows no sets, pages are written all the same. A distribution is a simple
/// repository itself, so `{project}/index.html` is written, too. At the end `pages.json` is written, which says which
/// generation the pages show. Removes `{directory}/X/index.html` of every X that it does not show, except simple,
/// simple-json, merged and seals; projects with these names get no such page. Such a page of another tool is treated as
/// by project_directory(). A page without links is always removed: keep such pages elsewhere. Below `simple/` and
/// `simple-json/` it removes the pages of projects that left, as project_directory() does. Each round reads all sets,
/// eight at the same time, and lists every object below the directory; each look at the source reads the pointer, lists
/// the history, and lists the seals (twice for a `quarry.distribution/1`). A set whose record or seal is missing is not
/// shown, and nothing reports it. Other errors are those of project_directory(), registry::require_distribution() and
/// registry::hide_yanked().
Result<Projected> project_distribution(store::ObjectStore& store, const std::string& directory);
/// Returns the generation that all pages of a distribution show; 0 if `pages.json` is missing or not such a document,
/// R007 above 64 MiB. One read.
Result<std::uint64_t> projected_distribution(store::ObjectReader& store, const std::string& directory);

/// Views and shards that a caller has at hand, by digest. They are immutable, so they need not be read again.
struct KnownViews {
  std::map<registry::ViewDigest, registry::ViewRecord> views = {};
  std::map<registry::ShardDigest, registry::ShardRecord> shards = {};
  void add(registry::View view); ///< with the shards that it has
};

enum class Extent : std::uint8_t {
  /// The projects that changed since `pages.json` was written, and those in its `twice` (recent_moves.hpp). Every page
  /// in six cases: the channel has at most 1000 files; copies are missing; changes_since() (channel_pages.hpp) cannot
  /// tell what changed; the number of files is not known, because a record is lost; the pages must say something else
  /// about the policy; the revoked waivers of the view are others than then.
  changed,
  whole, ///< every page, whatever `pages.json` says: for repair
};

/// Writes the pages of a channel, then `channels/{name}/pages.json`, which says which generation the pages show. Fails
/// with precondition_failed (P010) if other writers kept changing the channel or its pages, and the errors of
/// require_channel(), load_view(), load_shard_of() and the store. If the policy is lost (registry::is_lost()), the
/// pages say so, and the call goes on; a policy of a later version (B004) ends it. Removes pages of projects that left,
/// and replaces those of another tool. Writes pages whose bytes differ.
///
/// `moved` is the channel as the caller's own move left it: the record, and the ETag that the store gave to it. If the
/// channel still has this ETag, its record is read but not parsed. A round costs:
///   - one read of the state object, and two reads per ledger entry since the last state;
///   - a read of the channel record at its beginning, for each batch, after removals, and at its end if pages were
///     written but no state; with each record that names another view than the one before, also a read of that view;
///   - for each project that is compared up to four reads of shards, and one read per page and copy; if at most 200
///     projects are compared, also one read of METADATA for each;
///   - two listings if every page is compared; for each stale page what write_pages() says; if the view names a waiver,
///     with each read of the channel record a listing of the revocations;
///   - one read of the policy if `pages.json` does not name it, and always with `whole`.
Result<Projected> project_channel(store::ObjectStore& store, const std::string& name, Extent extent = Extent::changed,
                                  const KnownViews& known = {}, registry::Channel moved = {});

/// Returns the generation that all pages of a channel show; 0 if `pages.json` is missing or not such a document, R007
/// above 512 MiB. If it is less than the channel's generation, the pages are stale. Costs one read.
Result<std::uint64_t> projected_generation(store::ObjectReader& store, const std::string& name);

} // namespace quarry::pages
