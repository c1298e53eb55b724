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
  /// (recent_moves.hpp); all pages if copies are missing. Removes the pages of projects that `pages.json` names and no
  /// source has. True: compares all pages. Lists the stored pages, and removes all whose project no source has. If
  /// `pages.json` is lost or damaged, this option counts as true until a call succeeds.
  bool thorough = false;
  /// How many pages are read at once, and also written at once if more than 200 projects of a source are compared.
  /// Else they are written one by one.
  unsigned transfers = 8;
};

struct Merged {
  /// Whether the merged index exists now. False in three cases, and then nothing was written: this is the base index;
  /// or (merge_run_of() only) the directory is not in a run; or this merged index does not have a `pages.json`, and one
  /// of its two sources is empty. Which source is empty:
  ///   - a directory, also the base index: one without seals and untested history
  ///   - a run: one of which fewer than two package directories have seals
  ///   - a group: one to which fewer than two package directories with seals belong (those without a group belong to
  ///     all), or any group of a run in which fewer than two groups have seals
  /// A channel is never empty.
  bool exists = false;
  std::uint64_t pages_written = 0, pages_removed = 0; ///< as in Projected (projection.hpp)
  Findings notes; ///< warnings: P050 for each project that both sources have, P053 for each that is left out
};

struct MergedAll {
  /// The merged indexes that this call brought up to date, also those without a change: "42-linux" for
  /// `42-linux/merged/`, of a group "42-linux/merged/g". Not all merged indexes are named: merge_groups_of() leaves an
  /// existing index of another group as it is; merge_all() finds only directories that a set record names. merge_all()
  /// names channels, then directories, then each run with its groups.
  std::vector<std::string> directories;
  std::uint64_t pages_written = 0, pages_removed = 0;
  Findings notes;
};

/// Brings the merged index of a package directory up to date. A caller that changed a source calls this afterwards and
/// returns its error; the same command completes the index. Fails with precondition_failed (P010) if other writers kept
/// changing its pages; with R005, R007, R010 to R012, R014, R018 and B002 to B004 of the sets and the untested history
/// here and in the base index; as registry::hide_yanked(); and with the errors of the store. It costs:
///   - looks; each is at both directories: once before the first round (only at the base index if that is empty), up to
///     twice at the beginning of each round, once for each batch, once if it removed something, and once at its end if
///     it wrote pages but not `pages.json`. A look lists the seals and the history, and with either it reads
///     `distribution.json`; the look that reads the projects reads it always, and with history twice. A round that has
///     nothing to compare has no batch. Else a source has one batch; if more than 200 of its projects are compared, one
///     for each 64, and one more;
///   - in each round a read of `pages.json`; if a source is empty, a head of it before the first round;
///   - reading their records; of a channel the view, and shards of projects that are compared or that both have;
///   - reading the METADATA of a wheel of each project that is compared (not if these are more than 200 of a source),
///     and its pages;
///   - writing what differs, and `pages.json`, twice if a project changed;
///   - if it is thorough (MergeOptions), two listings of its pages.
Result<Merged> merge_directory(store::ObjectStore& store, const std::string& directory,
                               const MergeOptions& options = {});
/// The same for the run of a package directory (it does nothing for "42-linux" itself): one index of all areas and
/// groups, below "42-linux/merged", once two of its directories have sets and the store has a base index. It lacks
/// untested history, and projects of which two sets have a file of one name with different bytes (P053). Where
/// merge_directory() lists the seals and the history of its directory, this call lists every area of the run. Reading
/// the sets also lists the seals of each package directory.
Result<Merged> merge_run_of(store::ObjectStore& store, const std::string& directory, const MergeOptions& options = {});
/// The same for the groups of that run, if it has several. A group gets an index if at least two directories of the run
/// have sets for it; directories without a group count for every group. Updates the index of the directory's own group,
/// and makes missing indexes of the others. If the directory has no group, or with `thorough`, updates the indexes of
/// all groups that have a seal. The first failure ends the call. Costs one listing of each area, a head for each other
/// group, and for each index that it updates what merge_run_of() costs.
Result<MergedAll> merge_groups_of(store::ObjectStore& store, const std::string& directory,
                                  const MergeOptions& options = {});
/// The same for a channel. If the store has neither a base index nor a merged index of that channel, the record is not
/// read, and the call succeeds with `exists` false: the name is then only used in a key (R005), not checked as that of
/// a channel. Else it also fails with R016 for an invalid name, and with R015 or R026 if the record is missing.
Result<Merged> merge_channel(store::ObjectStore& store, const std::string& name, const MergeOptions& options = {});

struct Shown {
  bool exists = false; ///< `pages.json` exists; it may be unreadable, then `current` is false
  /// `pages.json` says that the pages of the channel's own projects show exactly the shards of the given view.
  bool current = false;
};
/// Tells what `pages.json` of a channel's merged index says. Neither the pages nor the base index are looked at. Costs
/// one read, so it also works in a store that cannot be listed.
Result<Shown> merged_channel_shown(store::ObjectReader& store, const std::string& name,
                                   const registry::ViewRecord& view);

/// Brings merged indexes up to date after the base index has changed: those of all channels and package directories, of
/// runs with at least two directories, and of the groups of runs with at least two groups. Only directories that a set
/// record names count; those with untested history alone are not found. Every set record of the store is read for this.
/// `options.transfers` indexes are made at the same time. Within one index the requests follow one another, except that
/// sets of a distribution are read eight at the same time. If one fails, or a set record is damaged or of a later
/// version, the others are still written, and the result is error P051. Its kind is that of the first index that
/// failed; if no index failed, that of the first unreadable set record. With P051 the MergedAll is not returned; what
/// was written stays, and the next call finds it current. Each index costs what merge_directory() does, but sets of the
/// base index are read once: they stay in memory, and each index that is being made has a copy. Fails at once if
/// channels or sets cannot be listed, or a set record cannot be read for another reason. If the store has a base index,
/// an object `channels/X.json` counts as a failed index if X cannot be the name of a channel: as long as it exists,
/// each call ends with P051. `channels/.json`, `channels/..json` and `channels/...json` count so also without a base
/// index.
Result<MergedAll> merge_all(store::ObjectStore& store, const MergeOptions& options = {});

} // namespace quarry::pages
