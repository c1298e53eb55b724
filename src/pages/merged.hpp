#pragma once
// Writes the merged index: one index that shows the projects of a directory, run or channel and those of the base index
// of dependencies, for an installer that is given a single URL (docs/formats/index.md, "Merged"). Each project has one
// owner: if both sources have it, the files of the directory or channel are shown, and warning P050 says so.
//
// The pages are derived from two sources: the directory's own sets (or the channel) and the base index. A writer
// changes its source first, then reads both and writes the pages. If a publish and a mirror run at the same time, the
// one that reads later sees both changes and writes them; the other one finds a changed token, or its condition fails,
// and starts over. Writers are kept apart as in page_writer.hpp; after a crash the write-ahead state tells which pages
// cannot be trusted (docs/concurrency.md, "The merged index and its write-ahead state").
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pages {

/// The directory of a store's index of dependencies (docs/formats/mirror.md). A run may not publish a project that is
/// in it (P017).
constexpr std::string_view k_base_index = "python-deps";

/// Returns "42-linux/python/g/merged", which contains `simple/`, `simple-json/` and `pages.json`. Pure.
std::string merged_directory(const std::string& directory);
struct RunGroup {
  std::string run, group; ///< "42-linux", "gfx94X"
};
/// Returns "42-linux/merged/gfx94X", which contains the same for one group of a run. Pure.
std::string group_index_directory(const RunGroup& group);

struct MergeOptions {
  /// False: compares the pages of projects whose files changed since `pages.json`, and those in its `twice`
  /// (recent_moves.hpp). True, or if copies are missing: compares all pages. If it is true, or `pages.json` is lost or
  /// damaged, pages of projects that neither a source nor `pages.json` names are removed.
  bool thorough = false;
  /// How many pages are read at once, and also written at once if more than 200 projects of a source changed. Else they
  /// are written one by one.
  unsigned transfers = 8;
};

struct Merged {
  /// False: nothing was written. One of these is the reason: this is the base index; the directory is not in a run
  /// (merge_run_of); or this merged index does not exist yet and one of its two sources is empty. Empty is a directory,
  /// also the base index, with neither seals nor untested history; a run, or a group of it, with seals in fewer than
  /// two directories; a group of a run that has no other.
  bool exists = false;
  std::uint64_t pages_written = 0, pages_removed = 0; ///< as in Projected (projection.hpp)
  Findings notes; ///< warnings: P050 for each project that both sources have, P053 for each that is left out
};

struct MergedAll {
  /// All merged indexes that exist now, also those without a change: "42-linux" for `42-linux/merged/`, of a group
  /// "42-linux/merged/g". merge_all() names channels, then directories, then each run with its groups.
  std::vector<std::string> directories;
  std::uint64_t pages_written = 0, pages_removed = 0;
  Findings notes;
};

/// Brings the merged index of a package directory up to date. A caller that changed a source calls this afterwards and
/// returns its error; the same command completes the index. Fails with precondition_failed (P010) if other writers kept
/// changing its pages, with R010 to R012, R014 and R018 of the sets and the untested history here and in the base
/// index, and with the errors of the store. It costs:
///   - a listing of the seals and of the history of both directories: three times at the beginning, once for each batch
///     of pages, once after removals. A source with at most 200 changed projects is one batch;
///   - reading their records; of a channel the view, and shards of projects that changed or that both have;
///   - reading the METADATA of a wheel of each changed project (not if more than 200 of a source changed), and its
///   pages;
///   - writing what differs, and `pages.json`, twice if a project changed;
///   - with `thorough`, and without a readable `pages.json`, two listings of its pages.
Result<Merged> merge_directory(store::ObjectStore& store, const std::string& directory,
                               const MergeOptions& options = {});
/// The same for the run of a package directory (it does nothing for "42-linux" itself): one index of all areas and
/// groups, below "42-linux/merged", once two of its directories have sets and the store has a base index. It lacks
/// untested history, and projects of which two sets have a file of one name with different bytes (P053).
Result<Merged> merge_run_of(store::ObjectStore& store, const std::string& directory, const MergeOptions& options = {});
/// The same for the groups of that run, if it has several. A group gets an index if at least two directories of the run
/// have sets for it; directories without a group count for every group. Updates the index of the directory's own group,
/// and makes missing indexes of the others. If the directory has no group, or with `thorough`, updates all of them. The
/// first failure ends the call. Costs one listing of each area, a head for each other group, and for each index that it
/// updates what merge_run_of() costs and a listing of the seals of each of its directories.
Result<MergedAll> merge_groups_of(store::ObjectStore& store, const std::string& directory,
                                  const MergeOptions& options = {});
/// The same for a channel. If the store has neither a base index nor a merged index of that channel, the record is not
/// read and the call succeeds with `exists` false, also for an invalid name; R005 if the name cannot be part of a key.
/// Else it also fails with R016 (invalid name), and R015 or R026 (the record is missing).
Result<Merged> merge_channel(store::ObjectStore& store, const std::string& name, const MergeOptions& options = {});

struct Shown {
  bool exists = false;  ///< `pages.json` exists; it may be unreadable, then `current` is false
  bool current = false; ///< its projects from the channel are those of the given view; the base index is not looked at
};
/// Tells whether the merged index of a channel exists and shows `view`. Costs one read, so it also works in a store
/// that cannot be listed.
Result<Shown> merged_channel_shown(store::ObjectReader& store, const std::string& name,
                                   const registry::ViewRecord& view);

/// Brings the merged indexes of all channels, package directories, runs and groups up to date, after the base index has
/// changed: `options.transfers` of them at the same time. Each makes one request after the other, but reads the sets of
/// a distribution eight at the same time. If one fails, or a set record is damaged or of a later version, the others
/// are still written, and the result is error P051, with the kind of the first index that failed or, if none did, of
/// the first set record that could not be read. With P051 the MergedAll is not returned; what was written stays, and
/// the next call finds it current. Reads every set record of the store to find the directories; those with untested
/// history alone are not found. Each index costs what merge_directory() does, but sets of the base index are read once.
/// Fails at once if channels or sets cannot be listed, or a set record cannot be read for another reason. If the store
/// has a base index, an object `channels/X.json` counts as a failed index if X cannot be the name of a channel: as long
/// as it exists, each call ends with P051.
Result<MergedAll> merge_all(store::ObjectStore& store, const MergeOptions& options = {});

} // namespace quarry::pages
