#pragma once
// Moving a channel: records first, then the one swap that makes them real. Used by publish, promote and rollback.
#include "base/result.hpp"
#include "pages/projection.hpp"
#include "registry/registry.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::publish {

/// What the ledger will say about a move.
struct Reason {
  registry::Action action;
  registry::PlanDigest plan;       ///< may be none
  registry::VerdictDigest verdict; ///< may be none
  std::string who;
  sys::Timestamp when;
  std::string why;
  std::string request = {};                  ///< sha256 of what was asked for; may be empty
  registry::PolicyDigest policy = {};        ///< that judged the move, or that it bound
  std::optional<registry::Guard> guard = {}; ///< of the channel from now on; nullopt: as it is
};

/// Swaps `channel` from `expected` to `view`, whose records are written before: shards, view, ledger entry, then the
/// channel if-match. Returns what the channel is now. precondition_failed R003 when somebody was faster; then only
/// unreferenced records are left.
Result<registry::ChannelRecord> move_channel(store::ObjectStore& store, const std::string& channel,
                                             const std::optional<registry::Channel>& expected,
                                             const registry::View& view, const Reason& reason);

/// Whether sets may be published straight into this channel: held P083 if it is protected, R022 if it blocks a file of
/// theirs. Pure.
Result<void> refuse_guarded(const registry::ChannelRecord& channel, const std::vector<registry::SealedSet>& sets);

/// Changes the guard of a channel and nothing else: a move of its own, with the same view. A channel that is not there
/// is made, with an empty view. `change` gets the present guard and returns the new one, or an error; it is asked again
/// when somebody was faster. An equal guard moves nothing.
using ChangeGuard = std::function<Result<registry::Guard>(const registry::Guard&)>;
struct Guarded {
  registry::ChannelRecord channel;
  bool moved = false;
};
Result<Guarded> change_guard(store::ObjectStore& store, const std::string& channel, const ChangeGuard& change,
                             const Reason& reason);

struct Added {
  registry::ChannelRecord channel;
  bool moved = false;      ///< false: all the sets were in already
  pages::KnownViews views; ///< before and after
};
/// Adds sets to a channel, which is made when there is none. Re-bases and tries again when rivals are faster,
/// `k_rebase_max` times. R018 when a file's name is taken by other bytes; held P083 and R022 as refuse_guarded() says.
Result<Added> add_sets(store::ObjectStore& store, const std::string& channel,
                       const std::vector<registry::SealedSet>& sets, const Reason& reason);

} // namespace quarry::publish
