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
  std::uint64_t pages_written = 0, pages_removed = 0, records_written = 0;
  Findings notes; ///< P050, of merged indexes
};

/// Compares and repairs all pages of a channel, or of the directories of these sets, and of their merged indexes. Other
/// writers may be active at the same time (pages/page_writer.hpp).
Result<Repaired> repair_channel(store::ObjectStore& store, const std::string& name);
Result<Repaired> repair_directories(store::ObjectStore& store, const std::vector<registry::SealedSet>& sets);
/// Repairs a distribution, even if all its sets have been withdrawn. Returns nullopt if `directory` is not a
/// distribution.
Result<std::optional<Repaired>> repair_distribution(store::ObjectStore& store, const std::string& directory);

/// Records and pages again, from the sealed sets: shards of a channel's view (lost or altered) are made anew, and must
/// give the very view that the channel names (corrupt P030 otherwise: the sets are not those that were published).
Result<Repaired> rebuild_channel(store::ObjectStore& store, const std::string& name);
/// Sidecars of the sets' wheels again, read from the wheels themselves, then the pages. corrupt P021 when a wheel is
/// not the one sealed.
/// `temporary`: where wheels of a store that is not on this machine are put for as long as they are read.
Result<Repaired> rebuild_directories(store::ObjectStore& store, const std::vector<registry::SealedSet>& sets,
                                     const Describe& describe, const std::string& temporary = "/tmp");

} // namespace quarry::publish
