#pragma once
// One index for an installer that is given one URL: what a directory or a channel shows, and the base index of
// dependencies beside it (docs/formats/index.md, "Merged"). Each project has one owner; where both have one, the
// directory's files are shown, and P050 tells.
//
// A merged index is a projection like other pages, of two truths. Whoever changes one of them reads the other one
// afterwards and writes the pages: of a publish and a mirror that end together, one sees both. The guard is the one of
// projection.hpp.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pages {

/// Where a store keeps its index of dependencies (docs/formats/run-layout.md); no run may publish a project of it.
constexpr std::string_view k_base_index = "python-deps";

/// "42-linux/python/g/merged": holds `simple/`, `simple-json/` and `pages.json`.
std::string merged_directory(const std::string& directory);

struct MergeOptions {
  /// Every page is compared. Else those of projects whose files are what `pages.json` says they were are believed.
  bool thorough = false;
  unsigned transfers = 8; ///< pages of dependencies at the same time
};

struct Merged {
  bool exists = false; ///< false: the store has no base index, or nothing is sealed here; nothing was done
  std::uint64_t pages_written = 0, pages_removed = 0;
  Findings notes; ///< P050, by project
};

/// The merged index of a package directory. precondition_failed P010 when rivals kept writing.
Result<Merged> merge_directory(store::ObjectStore& store, const std::string& directory,
                               const MergeOptions& options = {});
/// The merged index of a channel; not_found R015.
Result<Merged> merge_channel(store::ObjectStore& store, const std::string& name, const MergeOptions& options = {});

struct Shown {
  bool exists = false;
  bool current = false; ///< it shows this view; a mirror that was killed is not seen
};
/// What the merged index of a channel shows; also where a store cannot be listed.
Result<Shown> merged_channel_shown(store::ObjectStore& store, const std::string& name,
                                   const registry::ViewRecord& view);

struct MergedAll {
  std::vector<std::string> directories; ///< those that have a merged index: channels, then directories
  std::uint64_t pages_written = 0, pages_removed = 0;
  Findings notes;
};
/// Of every channel and every directory of a sealed set, `transfers` at the same time: after the base index changed.
Result<MergedAll> merge_all(store::ObjectStore& store, const MergeOptions& options = {});

} // namespace quarry::pages
