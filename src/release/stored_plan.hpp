#pragma once
// Private to the room.
// A plan for several channels, as it is stored before the first channel moves: `plans/{digest}.json`,
// `quarry.release-plan/1` (docs/formats/releases.md).
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "registry/reviewed.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::release {

struct StoredChannel {
  std::string name;
  registry::PlanDigest plan;    ///< of this channel's part; the channel's ledger names it once the channel has moved
  std::string request;          ///< promote::digest_of() of the request
  std::uint64_t generation = 0; ///< of the channel when it was planned; 0: it did not exist
  bool moves = false;           ///< false: the channel has everything already
};
struct StoredPlan {
  std::string source, pattern;
  std::vector<StoredChannel> channels; ///< sorted by name
  /// What the request had besides, as flags of `promote`; older programs did not write it.
  std::map<std::string, std::vector<std::string>> flags = {};
};
struct FoundPlan {
  registry::PlanDigest digest;
  StoredPlan plan;
};

/// Returns the canonical JSON of the plan, whose sha256 is the plan's digest.
std::string to_json(const StoredPlan& plan);
/// The part of a channel; nullptr if the plan does not have it. Pure.
const StoredChannel* channel_of(const StoredPlan& plan, const std::string& name);
/// Stores the document unless the store has it. Costs one read, and one write if it is new.
Result<void> put_plan(store::ObjectStore& store, const std::string& document);
/// Returns the plan; nullopt if the store does not have it. Fails with corrupt R011 if the stored plan was altered.
Result<std::optional<FoundPlan>> find_plan(store::ObjectReader& store, const registry::ReviewedPlan& reviewed);
/// Whether one of the channel's last 64 moves, after the planned generation, was made by this plan.
Result<bool> moved_since(store::ObjectReader& store, const StoredChannel& planned);
/// All plans; objects that are not plans are left out. One read for each.
Result<std::vector<FoundPlan>> list_plans(store::ObjectReader& store);

} // namespace quarry::release
