#pragma once
// Private to the room.
// The two sources of a merged index: a directory or channel, and the base index.
#include "base/finding.hpp"
#include "pages/merged.hpp"
#include "registry/registry.hpp"
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::pages {

/// One project's files.
struct Project {
  registry::ShardDigest shard;
  std::optional<registry::ShardRecord> record; ///< absent for a channel, which may be large: files_of() reads it
};
using Projects = std::map<std::string, Project>;

struct Source {
  std::string place; ///< "42-linux/python/g", "channels/stable", "python-deps"; for messages and pages.json
  /// Reads the source and returns a value that changes with its files. "" means: make no new merged index of this
  /// source. A merged index that exists is still brought up to date: projects("") reads what the source has.
  std::function<Result<std::string>()> token;
  /// Returns the projects. Must be called with the result of the last token().
  std::function<Result<Projects>(const std::string& token)> projects;
  /// Warnings about the projects that were returned last. An empty function: the source never has any.
  std::function<Findings()> notes = {};
  std::string written_to = {}; ///< directory of the merged index, if it is not merged_directory(place)
};
std::string merged_directory(const Source& source);

// The sources below keep `store`, which must outlive them.

/// What a directory shows: the sets of shown_in() (shown_sets.hpp), and the untested history. The token is empty only
/// for a directory without seals and history. A token costs what token_of_shown() does. The projects cost what
/// shown_in() and listed_history() do.
Source directory_source(store::ObjectReader& store, const std::string& directory);
/// A channel's view. A token costs one read, the projects another one. token() fails as
/// registry::require_channel(); projects() does not look at the channel.
Source channel_source(store::ObjectReader& store, const std::string& name);
/// The sets sealed in the package directories of a run, "42-linux", without untested history, and without the sets that
/// are sealed elsewhere below an area, as in `42-linux/python/g/x`: no command would update this index when one of them
/// leaves. A project of which two sets have a file of one name with different bytes, as `rocm` of two families, is left
/// out, with warning P053. The token is "" if fewer than two package directories have seals: a single directory has a
/// merged index of its own. A token costs one listing of each area (run::package_areas()); the projects cost that
/// again, a listing of the seals of each directory, and two reads per set.
Source run_source(store::ObjectReader& store, const std::string& run);
/// The same of one group: the sets of its package directories in all areas, and of package directories without a group.
/// The token is "" if fewer than two of these have seals, because a directory has its own
/// index. It is also "" if fewer than two groups of the run have seals, because the index of the run is then the same.
/// Costs as of run_source(), for these directories.
Source group_source(store::ObjectReader& store, const RunGroup& group);
/// All package directories of a run that have seals, each with the keys of its seals, a line for each. Costs one
/// listing of each area.
Result<std::map<std::string, std::string>> seals_of_run(store::ObjectReader& store, const std::string& run);
/// The groups of those directories; not the empty one.
std::set<std::string> groups_of(const std::map<std::string, std::string>& seals);
/// Wraps `source` so that its projects are read again only when the token changes. Several threads may call projects();
/// the others wait while one reads. token() and notes() go to `source` unguarded: only directory_source() allows
/// several threads.
Source read_once(Source source);

/// Writes the merged index of two sources; errors and cost of merge_directory().
Result<Merged> merge_sources(store::ObjectStore& store, const Source& source, const Source& base,
                             const MergeOptions& options);
/// The same with the base index; does nothing for the base index itself.
Result<Merged> merge_source(store::ObjectStore& store, const Source& source, const MergeOptions& options);

/// Returns the files of a project; reads its shard if the record is not at hand.
Result<std::vector<registry::FileRecord>> files_of(store::ObjectReader& store, const Project& project);

/// Removes the projects of `own` from `base`: a P050 finding for each, about the index of `source`. Reads their files.
Result<Findings> give_one_owner(store::ObjectReader& store, const Source& source, const Projects& own, Projects& base);

} // namespace quarry::pages
