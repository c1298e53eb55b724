#pragma once
// Moving a channel: records first, then the one swap that makes them real. Every move of a channel goes through here.
#include "base/result.hpp"
#include "digest/ed25519.hpp"
#include "pages/projection.hpp"
#include "registry/registry.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::publish {

struct Clocks { ///< microseconds since 1970
  std::int64_t ours_us = 0;
  std::int64_t store_us = 0; ///< 0: the store gives no times
};
/// held O057 if they differ by more than five minutes. With a clock that is behind, results count that are too old, and
/// waivers that have ended; with one that is ahead, a machine that is set aside counts again. Pure.
Result<void> refuse_wrong_clock(const store::ObjectReader& store, const Clocks& clocks);

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
  std::optional<Ed25519PrivateKey> key = {}; ///< signs the ledger entry before the swap makes it count
  /// Called with the channel as it was read and the entry, before anything is written; an error stops the move.
  std::function<Result<void>(const std::optional<registry::Channel>&, const registry::LedgerRecord&)> before_writing =
      {};
  registry::LedgerDigest acknowledges = {}; ///< for the entry
  bool answers_for_lost = false; ///< of `protect`: if the channel's last move is lost, the entry begins_anew()
  std::optional<registry::Identity> identity = {}; ///< of this job, for the entry
  /// Called when everything is written but the signature, right before the swap; an error stops the move, and what was
  /// written is unreferenced.
  std::function<Result<void>()> before_swap = {};
  /// The clock that judged the move; it is compared with the time that the store gives the entry. Without it: not.
  std::function<std::int64_t()> clock_us = {};
};

/// Swaps `channel` from `expected` to `view`, whose records are written before: shards, view, ledger entry and its
/// signature, then the channel if-match. Returns what swap_channel() does; the pages are the caller's task. A channel
/// is not made anew where pages of one are: R026 of registry::refuse_lost(). Fails with the errors of
/// registry::swap_channel(): precondition_failed R003 if another writer was faster (then only unreferenced records are
/// left), R004, R031. Held O057 if `reason.clock_us` and the store differ by more than five minutes; the records are
/// written by then, and unreferenced. An error with the context "after channel … has moved" means that it has.
/// Costs a read and a head per shard at hand, a write per new one, and about eight requests.
Result<registry::Channel> move_channel(store::ObjectStore& store, const std::string& channel,
                                       const std::optional<registry::Channel>& expected, const registry::View& view,
                                       const Reason& reason);

/// Fails if these sets may not be published straight into this channel: with held P083 if it is protected, with corrupt
/// O044 if it is not what its last move left (registry::check_bound()), and with R022 if it blocks a file of theirs.
/// Costs what registry::bound_by_moves() does.
Result<void> refuse_guarded(store::ObjectReader& store, const registry::ChannelRecord& channel,
                            const std::vector<registry::SealedSet>& sets);

/// Changes the guard of a channel and nothing else: a move of its own, with the same view; then writes the channel's
/// pages. A channel that does not exist is made, with an empty view. `change` gets the present guard and returns the
/// new one, or an error, which is returned; it is called again if another writer was faster. An equal guard moves
/// nothing, unless the channel's record is not what its moves left: that fails with O044, and `protect` moves then.
/// After any error the same call completes it. Fails with R016, R031, R004 after k_unknown_outcomes_max
/// unknown outcomes, and P010 if other writers kept moving the channel or writing its pages.
using ChangeGuard = std::function<Result<registry::Guard>(const registry::Guard&)>;
struct Guarded {
  registry::ChannelRecord channel;
  bool moved = false;
  bool put_back = false; ///< by `protect`: the record showed something else than its last move had left
};
Result<Guarded> change_guard(store::ObjectStore& store, const std::string& channel, const ChangeGuard& change,
                             const Reason& reason);

struct Added {
  registry::Channel channel;
  bool moved = false;      ///< false: all the sets were in already
  pages::KnownViews views; ///< before and after; none if it did not move
};
/// Adds sets to a channel, which is made if it does not exist; its pages are the caller's task. Starts over if other
/// writers are faster, `k_rebase_max` times, then fails with precondition_failed P010. Fails with R018 if a file's name
/// is taken by other bytes, as refuse_guarded() does, with R031, and with R004 after k_unknown_outcomes_max unknown
/// outcomes. A round costs a read for the last move, one for each project of the sets, and what move_channel() does; it
/// does not grow with the rest of the channel.
Result<Added> add_sets(store::ObjectStore& store, const std::string& channel,
                       const std::vector<registry::SealedSet>& sets, const Reason& reason);

} // namespace quarry::publish
