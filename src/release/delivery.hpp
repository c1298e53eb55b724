#pragma once
// The second half of a promotion: the promoted sets are copied to a distribution, the store that people install from.
// These functions say which sets that are, and whether they may be copied.
#include "base/result.hpp"
#include "promote/plan.hpp"
#include "publish/history.hpp"
#include "registry/registry.hpp"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quarry::release {

/// Where the promoted sets are copied to. Without a store they are not copied.
struct Destination {
  std::string locator, prefix;
  std::shared_ptr<store::ObjectStore> store;
  bool hash_bytes = false; ///< a protected channel feeds it (publish/distribute.hpp)
  /// The channels of the source that bring a set, by its digest or that of the set that it is a part of; those of the
  /// empty digest bring all. None: the packages come from no channel.
  std::map<registry::SetDigest, std::vector<std::string>> channels = {};
  std::vector<std::string> let_go = {}; ///< names of packages of other tools whose links may be lost
  /// The packages of other tools that the check found there before the channel moved. The copy afterwards uses them.
  std::shared_ptr<publish::Histories> found = std::make_shared<publish::Histories>();
};

/// What would be taken over, for the digest of a plan: who reviews it has seen these packages and no others. Empty if
/// nothing would be. Pure.
std::string described(const publish::Histories& found);

/// A promotion: the request and its plan.
struct Moved {
  const promote::Request& request;
  const promote::Plan& plan;
};

/// Whether a policy protects the channel; a channel that does not exist is not protected. One read.
Result<bool> is_protected(store::ObjectStore& store, const std::string& channel);
/// Returns the sets of the source that the channel shows, whole or in part: those that this plan adds, and those that
/// an earlier run added before it was killed. Costs a few requests, and two for each set of the channel.
Result<std::vector<registry::SealedSet>> promoted_sets(store::ObjectReader& store, const Moved& moved);
/// Asks the gate about the sets that the other store lacks. The plan has judged the sets that it moves; a set that the
/// channel showed before may have come there without a verdict. Returns findings that the plan does not have: evidence
/// that does not count (R021, G024) and suspect machines (G030). Fails with held O017, which names the cells, and with
/// O029 as gate::load_for_policy() does.
Result<Findings> judge_delivery(store::ObjectReader& store, const Moved& moved, const Destination& to,
                                const std::vector<registry::SealedSet>& sets);

} // namespace quarry::release
