#pragma once
// The second half of a promotion: the promoted sets are copied to a distribution, the store that people install from.
// These functions say which sets that are, and whether they may be copied.
#include "base/result.hpp"
#include "promote/promote.hpp"
#include "publish/history.hpp"
#include "registry/registry.hpp"
#include <functional>
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
  bool let_go_elsewhere = false; ///< channels of one release share `let_go`: a name may fit nothing of one of them
  /// The packages of other tools that the check found there before the channel moved. The copy afterwards uses them.
  std::shared_ptr<publish::Histories> found = std::make_shared<publish::Histories>();
  /// Asked when everything is copied, before a directory shows it; an error leaves it as it is.
  std::function<Result<void>()> before_showing = {};
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
/// What the gate said about the sets that the channel showed before and the distribution lacks.
struct CopyVerdict {
  Findings notes;            ///< that the plan does not have: R021, G024, G030
  std::string document = {}; ///< quarry.verdict/1; empty: no set was judged
  std::vector<registry::SetDigest> sets = {};
  std::vector<registry::SetDigest> asked = {}; ///< whose evidence was read
  std::vector<std::string> records = {};       ///< keys of evidence and waivers that were read, sorted
};
/// Asks the gate about the sets that the other store lacks. The plan has judged the sets that it moves; a set that the
/// channel showed before may have come there without a verdict. Fails with held O017, which names the cells, and with
/// O029 as gate::load_for_policy() does.
Result<CopyVerdict> judge_delivery(store::ObjectReader& store, const Moved& moved, const Destination& to,
                                   const std::vector<registry::SealedSet>& sets);
/// Stores the verdict on a copy, which is held to what a move is held to: O057 for a wrong clock, O041 and O042 where
/// the channel's policy demands signatures (a key that may sign verdicts signs this one), and still_judged(). Does
/// nothing where no set was judged. Else about six requests, and a write for each set.
Result<void> accept_copies(store::ObjectStore& store, const Moved& moved, const CopyVerdict& judged,
                           const promote::Options& options);
/// precondition_failed O016 if a result or a waiver has come or gone since. Costs a listing for each set.
Result<void> still_judged(store::ObjectReader& store, const CopyVerdict& judged);
/// The same of the sets that this plan has moved, if it moved any.
Result<void> still_judged(store::ObjectReader& store, const promote::Plan& plan);

} // namespace quarry::release
