#pragma once
// Records as a store that this program wrote would hold them.
#include "registry/registry.hpp"
#include <vector>

namespace quarry::gate {

using StoredEvidence = registry::Stored<registry::EvidenceRecord>;
using StoredWaivers = std::vector<registry::Stored<registry::WaiverRecord>>;

inline std::vector<StoredEvidence> as_stored(const std::vector<registry::EvidenceRecord>& records) {
  std::vector<StoredEvidence> all;
  for (const auto& record : records) all.push_back({registry::digest_of(record), record});
  return all;
}

inline StoredWaivers waivers_stored(const std::vector<registry::WaiverRecord>& records) {
  StoredWaivers all;
  for (const auto& record : records) all.push_back({registry::digest_of(record), record});
  return all;
}

} // namespace quarry::gate
