#pragma once
// Private to the room.
// A plan over several channels as it is stored before the first of them moves: `plans/{digest}.json`,
// `quarry.release-plan/1` (docs/formats/releases.md).
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::release {

struct StoredChannel {
  std::string name;
  registry::PlanDigest plan;    ///< that the channel's ledger names once it has moved
  std::string request;          ///< promote::digest_of() of what was asked for
  std::uint64_t generation = 0; ///< of the channel when it was planned; 0: it did not exist
  bool moves = false;           ///< false: it had everything already
};
struct StoredPlan {
  std::string source, pattern;
  std::vector<StoredChannel> channels; ///< sorted by name
};
struct FoundPlan {
  registry::PlanDigest digest;
  StoredPlan plan;
};

/// Canonical JSON; its sha256 is the plan's digest.
std::string to_json(const StoredPlan& plan);
/// The part of a channel; nullptr if the plan does not have it. Pure.
const StoredChannel* channel_of(const StoredPlan& plan, const std::string& name);
/// Writes it if-absent. One read, and one write if it is new.
Result<void> put_plan(store::ObjectStore& store, const std::string& document);
/// The plan of a digest or its first 16 or more digits; nullopt if no run has stored it. corrupt R011 for an altered
/// one; invalid_argument O005 for text that is not a digest.
Result<std::optional<FoundPlan>> find_plan(store::ObjectStore& store, const std::string& digits);
/// Whether one of the channel's last 64 moves, after the planned generation, was made by this plan.
Result<bool> moved_since(store::ObjectStore& store, const StoredChannel& planned);
/// All plans; objects that are not plans are left out. One read for each.
Result<std::vector<FoundPlan>> list_plans(store::ObjectStore& store);

} // namespace quarry::release
