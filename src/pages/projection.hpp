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

/// Writes the pages of a package directory ("42-linux/python/g"). They show the union of the sets sealed there, and its
/// untested history (registry/history.hpp). If the last set has left, they are made empty. If there is neither a set
/// nor a history nor a page of ours, nothing is written; a `simple-json/index.html` counts as ours unread. The
/// find-links page is neither written nor removed if settings.json says that another tool writes it. Fails with
/// precondition_failed (P010) if other writers kept changing the pages for k_rebase_max rounds, already_exists (R018)
/// if two sets disagree about a file, R010 to R012 or R014 of a set there or of its history, P115, R007 or B002 to B004
/// of settings.json, and the errors of the store. Each round lists the pages and reads every page, eight at the same
/// time. One after the other it reads settings.json, each record of the history, each set that no earlier round has
/// read, and the METADATA of one wheel per project; and writes pages whose bytes differ. Before the first round it
/// lists seals and history once; with nothing sealed it lists the history once more, looks for `simple-json/index.html`
/// and, without it, lists and reads page after page until one is ours. Each round lists the seals two to four times,
/// and the history three to five times. Does not look whether the directory is a distribution: its pages come from
/// project_distribution().
Result<Projected> project_directory(store::ObjectStore& store, const std::string& directory);

/// Writes the pages of a distribution ("v2/gfx94X-dcgpu") as project_directory() does, for the sets that it shows
/// (registry::read_distribution()), also if these are none. A distribution is a simple repository itself, so
/// `{project}/index.html` is written, too; and at the end `pages.json`, which says which generation the pages show.
/// Removes every other `{directory}/X/index.html`, except for X = simple, simple-json, merged and seals. A page of
/// another tool, with links and without our mark, is left and named in `foreign` once our pages are complete
/// (`simple-json/index.html` exists); the first call removes it. A page without links is always removed: keep such
/// pages elsewhere. A project with one of these four names does not get such a page. Below `simple/` and `simple-json/`
/// it removes the pages of projects that left, as project_directory() does. Each round reads all sets, eight at the
/// same time, and lists every object below the directory; it reads the pointer as often as it lists the seals. A set
/// whose record or seal is missing is not shown, and nothing reports it. Other errors are those of project_directory()
/// and registry::require_distribution().
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
  /// if the channel has at most 1000 files, or copies are missing, or it is not known what changed, or the pages must
  /// say something else about the policy.
  changed,
  whole, ///< every page, whatever `pages.json` says: for repair
};

/// Writes the pages of a channel, then `channels/{name}/pages.json`, which says which generation the pages show. Fails
/// with precondition_failed (P010) if other writers kept changing the channel or its pages, and the errors of
/// require_channel(), load_view(), load_shard_of() and the store. Removes pages of projects that left, and replaces
/// those of another tool. Costs two reads per ledger entry since the last state. For each project that is compared it
/// costs up to four reads of shards, its METADATA (not if more than 200 are compared), and one read per page and copy.
/// If every page is compared, it costs two listings. The policy costs one read if `pages.json` does not name it, and
/// always with `whole`; if registry::is_lost() is true of it, the pages say so, and the call goes on. Writes pages
/// whose bytes differ. `moved`: the channel as the caller's own move left it. If the store still has its ETag, the
/// record is read but not parsed.
Result<Projected> project_channel(store::ObjectStore& store, const std::string& name, Extent extent = Extent::changed,
                                  const KnownViews& known = {}, registry::Channel moved = {});

/// Returns the generation that all pages of a channel show; 0 if `pages.json` is missing or unreadable. If it is less
/// than the channel's generation, the pages are stale. Costs one read.
Result<std::uint64_t> projected_generation(store::ObjectReader& store, const std::string& name);

} // namespace quarry::pages
