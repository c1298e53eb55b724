#pragma once
// Keeping a store in order: pages again and records again. What nothing names: garbage.hpp.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "publish/collect.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::publish {

struct Repaired {
  std::vector<std::string> places; ///< directories and channels that were looked at
  std::uint64_t pages_written = 0, pages_removed = 0;
  std::uint64_t records_written = 0; ///< shards and sidecars
  std::uint64_t evidence_marked = 0; ///< records of evidence that lacked a mark of their set
  Findings notes;                    ///< P050, of merged indexes; P113
};

/// Compares and repairs all pages of a channel, or of the directories of these sets, and of their merged indexes. Other
/// writers may be active at the same time (pages/page_writer.hpp). Fails as pages::project_channel(),
/// project_directory() and merge_…() do: what was repaired until then stays. A channel whose record is not what its
/// last move left is not repaired: corrupt O044. Costs a read of every page.
Result<Repaired> repair_channel(store::ObjectStore& store, const std::string& name);
Result<Repaired> repair_directories(store::ObjectStore& store, const std::vector<registry::SealedSet>& sets);
/// Repairs a distribution, even if all its sets have been withdrawn. Returns nullopt if `directory` is not a
/// distribution.
Result<std::optional<Repaired>> repair_distribution(store::ObjectStore& store, const std::string& directory);

/// Writes shards of a channel's view again that are lost or altered, from its sealed sets, then repairs the pages. The
/// channel, its view record and its sets must be intact (R010 to R015). Fails with corrupt P030, before anything is
/// written, if the sets do not give the view that the channel names. Then marks evidence that has no marks. Costs two
/// reads for each set, one for each project, and what repair_channel() and registry::mark_all_evidence() do.
Result<Repaired> rebuild_channel(store::ObjectStore& store, const std::string& name);
/// Writes the sidecars of the sets' wheels again that are lost or altered, from the wheels, then repairs the pages.
/// Fails with corrupt P021 if a wheel is not the one that was sealed. Marks evidence as rebuild_channel() does. Reads
/// every sidecar, and the wheels of those; one at a time. `temporary`: where wheels of a store that is not on this
/// machine are put for as long as they are read.
Result<Repaired> rebuild_directories(store::ObjectStore& store, const std::vector<registry::SealedSet>& sets,
                                     const Describe& describe, const std::string& temporary = "/tmp");

} // namespace quarry::publish
