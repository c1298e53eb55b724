#pragma once
// What a distribution, the store that people install from, gets of a promotion.
#include "base/result.hpp"
#include "promote/plan.hpp"
#include "publish/history.hpp"
#include "registry/registry.hpp"
#include <memory>
#include <string>
#include <vector>

namespace quarry::release {

/// Where the promoted sets go besides; no store: nowhere.
struct Destination {
  std::string locator, prefix;
  std::shared_ptr<store::ObjectStore> store;
  std::vector<std::string> let_go = {}; ///< packages of other tools whose links may be lost, by name
  /// What the check before the move found of other tools, for the copy after it.
  std::shared_ptr<publish::Histories> found = std::make_shared<publish::Histories>();
};

/// What was asked for, and what came of it.
struct Moved {
  const promote::Request& request;
  const promote::Plan& plan;
};

/// What the channel shows of the source's sets, whole or in part: the plan's new ones, and those of an earlier run that
/// died. A few requests, and two for each set of the channel.
Result<std::vector<registry::SealedSet>> promoted_sets(store::ObjectReader& store, const Moved& moved);
/// Whether the gate lets everything go that the other store lacks. What the plan moves was judged with it; what the
/// channel showed before may have come there without a verdict. held O017, which names the cells;
/// O029 as gate::load_for_policy(). Returns what counted for nothing (R021, G024) and suspect machines (G030), without
/// what the plan has noted.
Result<Findings> judge_delivery(store::ObjectReader& store, const Moved& moved, const Destination& to,
                                const std::vector<registry::SealedSet>& sets);

} // namespace quarry::release
