#pragma once
// Takes back a release that moved to the channels of a pattern such as `stable-{family}`: by one plan, channel after
// channel, each with its distributions.
#include "release/carry.hpp"

namespace quarry::release {

struct RolledBack { ///< one channel
  std::string channel;
  registry::PlanDigest digest; ///< of its part of the plan; of the rollback's plan if an earlier run rolled it back
  /// Unset: an earlier run rolled it back with everything that follows it.
  std::optional<CarriedRollback> carried = {};
};

struct ReleaseRollback {
  std::string source;            ///< what was promoted
  registry::PlanDigest promoted; ///< the plan that promoted it
  std::vector<RolledBack> parts; ///< sorted by channel
  registry::PlanDigest digest;   ///< sha256 of what would move; equal as long as nobody else moves something
  bool moves() const;            ///< whether at least one channel or distribution moves, or would
};

struct ChannelPattern {
  std::string text; ///< "stable-{family}"
  Destination to;   ///< whose copies come along; without a store: the channels alone
};
/// Rolls back each channel that the last release of this pattern moved, as rollback_with() or promote::rollback() does.
/// The last release is the one whose move is the newest among the last changes of what the channels show; a rollback
/// of that move counts as part of it. A channel that this move made shows nothing then. All parts are planned, and
/// their signatures looked at, before the first channel moves. The same command completes a run that was killed.
///
/// Fails with not_found O058 if no release of this pattern is left to take back, and with precondition_failed O059 if
/// one of its channels was changed since by another move: then nothing moves. O007 if all of it is rolled back already;
/// O002 if `execute` names another plan. precondition_failed O060 if a channel could not be rolled back after others
/// were: it names them. Else as rollback_with(). Costs a read for each stored plan, a few for each channel, and what
/// rollback_with() costs, twice.
Result<ReleaseRollback> rollback_release(store::ObjectStore& store, const ChannelPattern& pattern,
                                         const promote::Options& options);

} // namespace quarry::release
