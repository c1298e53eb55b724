#pragma once
// Which policy protects a channel according to the moves in its ledger. The channel's record names the same policy,
// unless somebody wrote to the store without Quarry. As thread-safe as the store.
#include "registry/registry.hpp"
#include <string>

namespace quarry::registry {

/// Whether the move is a `protect`, also one that binds the same policy again, or an `unprotect`. Pure.
bool binds(const LedgerRecord& move);
/// The policy that `protect` bound; empty for any other move. Pure.
PolicyDigest bound_by(const LedgerRecord& move);
/// Whether it is a `publish`, which a protected channel refuses. Pure.
bool breaks_protection(const LedgerRecord& move);
/// Whether the moves up to and including `last` protect a channel by this policy, which must not be empty: the last
/// `protect` bound it, and no later move was an `unprotect` or breaks_protection(). A forged promotion or rollback is
/// not recognised here; signatures of moves are for that (promote/signed_moves.hpp). What the moves say in `guard` does
/// not count, because whoever writes one can write any policy into it. False, and not an error, if a move is lost: then
/// nothing proves the protection. One read for each move, from `last` back to the first one that decides.
Result<bool> is_protected_by(ObjectReader& store, LedgerDigest last, const PolicyDigest& policy);
/// The policy that protected the channel after this move; empty: none did. No read if the move has a `guard` or
/// binds(). Older programs wrote moves without a `guard`. For such a move the moves before it are read, one by one,
/// back to one that has a `guard` or binds(), or to the first move. Fails as load_ledger() if one of these is lost.
Result<PolicyDigest> bound_after(ObjectReader& store, const LedgerRecord& move);
/// The policy that protected the channel before this move. Costs a read of the move before it, and what bound_after()
/// costs for that one. Empty, without a read, for the first move, and for a move that begins_anew(), because what was
/// bound before it is lost.
Result<PolicyDigest> bound_before(ObjectReader& store, const LedgerRecord& move);
/// What protects the channel by its moves. `ChannelRecord::previous` is not compared.
struct Bound {
  PolicyDigest policy;
  /// Text for people: how the channel's record differs from what its last move left, or that this move is lost
  /// (is_lost()). Empty: both agree in name, generation, view and policy. If the move has a `guard`, they also agree in
  /// the sha256 of the blocked files and in how far back the history is kept. Older programs do not write a `guard`.
  std::string differs;
  LedgerDigest lost = {}; ///< the last move, if it is lost
};
/// If the last move is lost, the call succeeds, and `policy` is what the channel's record names: `protect` must be able
/// to repair the channel. Reads the last move, unless the caller gives it as `last`. If it is not lost, the call also
/// costs what bound_after() costs, and fails as that does.
Result<Bound> bound_by_moves(ObjectReader& store, const ChannelRecord& channel, const LedgerRecord* last = nullptr);
/// The channel's last move. Fails with corrupt O044 if the move is lost or the record differs from it, and as
/// bound_by_moves(). Costs what bound_by_moves() costs; a lost move is read twice.
Result<LedgerRecord> last_move(ObjectReader& store, const ChannelRecord& channel);
/// Whether the channel shows what this move, its last one, left. Pure.
bool is_as_left(const ChannelRecord& channel, const LedgerRecord& last);
/// Returns this move if it changed the view, else the last one before it that did. A move such as `protect` leaves the
/// view as it is. One read for each move that it goes back. Fails as load_ledger().
Result<LedgerRecord> last_change_of_view(ObjectReader& store, LedgerRecord move);
/// Sets view and generation of `channel` to what its last move left, and `previous` to the view before it, or to none
/// if last_change_of_view() meets a lost move. Only the value in memory changes; `protect` then writes it. Returns
/// false and changes nothing if view and generation are right already, or if the last move is lost: then only the
/// record says what the channel shows. Fails with O044 if `channel.ledger` is a move of another channel. After an error
/// `channel` may be half changed. Costs one read; if it changes something, also what last_change_of_view() costs.
Result<bool> show_what_was_left(ObjectReader& store, ChannelRecord& channel);
/// Returns a hint: how to repair a channel whose record differs from what its last move left. Pure.
std::string bind_again(const std::string& channel);
/// Fails with corrupt O044 if the record differs. The channel must not be moved then, except by a `protect`, which
/// binds the policy again. Pure.
Result<void> check_bound(const Bound& bound, const std::string& channel);

} // namespace quarry::registry
