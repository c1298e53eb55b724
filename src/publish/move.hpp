#pragma once
// Moving a channel: records first, then the one swap that makes them real. Used by publish, promote and rollback.
#include "base/result.hpp"
#include "pages/projection.hpp"
#include "registry/registry.hpp"
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
};

/// Swaps `channel` from `expected` to `view`, whose records are written before: shards, view, ledger entry, then the
/// channel if-match. Returns what the channel is now. precondition_failed R003 when somebody was faster; then only
/// unreferenced records are left.
Result<registry::ChannelRecord> move_channel(store::ObjectStore& store, const std::string& channel,
                                             const std::optional<registry::Channel>& expected,
                                             const registry::View& view, const Reason& reason);

struct Added {
  registry::ChannelRecord channel;
  bool moved = false;      ///< false: all the sets were in already
  pages::KnownViews views; ///< before and after
};
/// Adds sets to a channel, which is made when there is none. Re-bases and tries again when rivals are faster,
/// `k_rebase_max` times. R018 when a file's name is taken by other bytes.
Result<Added> add_sets(store::ObjectStore& store, const std::string& channel,
                       const std::vector<registry::SealedSet>& sets, const Reason& reason);

} // namespace quarry::publish
