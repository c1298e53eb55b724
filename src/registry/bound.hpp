#pragma once
// Which policy protects a channel according to the moves in its ledger. The channel's record names the same policy,
// unless somebody wrote to the store without Quarry. As thread-safe as the store.
#include "registry/registry.hpp"
#include <string>

namespace quarry::registry {

/// Whether the move changed which policy protects the channel. Pure.
bool binds(const LedgerRecord& move);
/// The policy that `protect` bound; empty for any other move. Pure.
PolicyDigest bound_by(const LedgerRecord& move);
/// The policy that protected the channel after this move; empty: none did. No read if the entry says it. Older programs
/// wrote entries that do not: then the moves before are read, back to one that says it, binds a policy or lifts the
/// protection. Fails as load_ledger() if one of these is lost.
Result<PolicyDigest> bound_after(ObjectReader& store, const LedgerRecord& move);
/// The policy before this move: that of the entry before it, which costs one read more. Empty for a move that
/// begins_anew(), because what was bound before it is lost.
Result<PolicyDigest> bound_before(ObjectReader& store, const LedgerRecord& move);
/// What protects the channel by its moves. `ChannelRecord::previous` is not compared: no move goes by it.
struct Bound {
  PolicyDigest policy;
  /// Text for people: how the channel's record differs from what its last move left, or that this move is lost
  /// (is_lost()). Empty: the record is as the move left it. Compared are name, generation, view and policy; with a
  /// `guard` in the move, which older programs do not write, also the blocked files and how far back the history is
  /// kept.
  std::string differs;
  LedgerDigest lost = {}; ///< the last move, if it is lost
};
/// If the last move is lost, the record says which policy it is: a channel must not get stuck, and `protect` is the way
/// back. Reads the last move, unless the caller gives it as `last`, and then what bound_after() reads, with its errors.
Result<Bound> bound_by_moves(ObjectReader& store, const ChannelRecord& channel, const LedgerRecord* last = nullptr);
/// The channel's last move. Fails with corrupt O044 if the move is lost or the record differs from it, and as
/// bound_by_moves(), whose cost it has.
Result<LedgerRecord> last_move(ObjectReader& store, const ChannelRecord& channel);
/// Whether the channel shows what this move, its last one, left. Pure.
bool is_as_left(const ChannelRecord& channel, const LedgerRecord& last);
/// This move, or the last one before it that changed the view: others, such as `protect`, leave the view as it is. One
/// read for each of those. Fails as load_ledger().
Result<LedgerRecord> last_change_of_view(ObjectReader& store, LedgerRecord move);
/// Sets view and generation of `channel` to what its last move left, and `previous` to the view before that. It changes
/// the value in memory alone; its caller, `protect`, then writes it. Returns false and changes nothing if view and
/// generation are right already, or if the last move is lost: then only the record says what the channel shows.
/// `previous` becomes empty if the move that would name it is lost. Fails with O044 if the last move that `channel`
/// names is one of another channel. One read; if it changes something, also what last_change_of_view() costs.
Result<bool> show_what_was_left(ObjectReader& store, ChannelRecord& channel);
/// Returns a hint: how to repair a channel whose record differs from what its last move left. Pure.
std::string bind_again(const std::string& channel);
/// Fails with corrupt O044 if the record differs. The channel must not be moved then, except by a `protect`, which
/// binds the policy again. Pure.
Result<void> check_bound(const Bound& bound, const std::string& channel);

} // namespace quarry::registry
