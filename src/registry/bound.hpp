#pragma once
// Which policy protects a channel by its moves. Its record says the same unless somebody wrote to the store without
// Quarry. As thread-safe as the store.
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
  /// How the channel's record differs from what its last move left: in view, generation, policy, blocked files or how
  /// far back its history is kept; or that this move is lost (is_lost()). Empty: the record is as the move left it. A
  /// move that an older program wrote says nothing of what was blocked and kept.
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
/// Puts back view and generation as the last move left them, and the view before, in memory: for `protect`, which then
/// writes them. False if view and generation are as it left them, and if it is lost: then nobody knows better than the
/// record. The view before is empty if a move that would tell it is lost. Fails with O044 if it is a move of another
/// channel. One read; if it puts something back, also what last_change_of_view() costs.
Result<bool> show_what_was_left(ObjectReader& store, ChannelRecord& channel);
/// What makes a record good that is not what the last move left, for hints. Pure.
std::string bind_again(const std::string& channel);
/// Fails with corrupt O044 if the record differs: nothing may move then but what binds the policy again. Pure.
Result<void> check_bound(const Bound& bound, const std::string& channel);

} // namespace quarry::registry
