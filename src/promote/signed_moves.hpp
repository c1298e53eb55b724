#pragma once
// Signed moves of a channel: what is signed is the entry of the ledger, which names the channel, its generation, both
// views, the verdict and the entry before. So a signature fits one move of one channel, and no other.
#include "base/finding.hpp"
#include "digest/ed25519.hpp"
#include "gate/gate.hpp"
#include "gate/policy.hpp"
#include "gate/signers.hpp"
#include "publish/move.hpp"
#include "registry/registry.hpp"
#include "registry/verdicts.hpp"
#include "signature/envelope.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::promote {

/// What is signed of a move.
signature::Subject subject_of(const registry::LedgerDigest& entry);

/// Which signer of the policy that may sign `what` has signed a record of the store. One read for each signer.
Result<gate::SignedBy> signer_of(store::ObjectReader& store, const gate::Policy& policy, std::string_view what,
                                 const signature::Subject& subject);

struct Move {
  const std::string& channel;
  registry::Action action;
  const gate::Policy* binds = nullptr;          ///< of `protect`
  const registry::LedgerRecord* last = nullptr; ///< the channel's last move, if the caller has read it
  std::string_view called = {};                 ///< by messages; empty: as the action
};
/// Whether this key may sign the move, by the policy that the moves of the channel bound; what its record says does not
/// count. Where none demands signatures yet, the one that the move binds counts. held O041 if a signature is demanded
/// and the key may not give it; corrupt O044 if the record is not what the last move left: only `protect` may follow
/// then. O044, too, if the last move lacks the signature that it needed: only `protect`, `acknowledge` and `rollback`
/// may follow. Two reads, and where signatures are demanded those of verify_last_move(); for entries of older programs
/// one more for each move since a policy was bound.
Result<void> check_signer(store::ObjectReader& store, const std::optional<registry::Channel>& from, const Move& move,
                          const std::optional<Ed25519PrivateKey>& key);
/// Makes move_channel() check the key before it writes anything, and sign the entry before the swap. `called` as in
/// Move.
void sign_with(store::ObjectReader& store, const std::optional<Ed25519PrivateKey>& key, publish::Reason& reason,
               const std::string& called = {});

/// A policy that protects a channel must leave a way to bind another one: invalid_argument O043 if it demands signed
/// moves and nobody whose key counts may sign `protect`. Pure.
Result<void> check_rebindable(const gate::Policy& policy);
/// Why the verdict that a promotion names does not let in this promotion: it is about another channel, or was made
/// before another move of the channel. Empty if it does. Pure.
std::string misplaced(const registry::VerdictDocument& verdict, const registry::LedgerRecord& promotion);
/// Why nobody who may has signed this verdict; empty if somebody has, or if the policy does not demand it. One read for
/// each signer.
Result<std::string> unsigned_verdict(store::ObjectReader& store, const gate::Policy& policy,
                                     const registry::VerdictDigest& verdict);
/// held O042 if the policy that protects the channel wants signed verdicts and nobody who may has signed this one. A
/// verdict names the move after which it was made, so one from before a rollback is another one. Two reads, and one for
/// each signer.
Result<void> check_verdict_signed(store::ObjectReader& store, const registry::ChannelRecord& channel,
                                  const registry::VerdictDigest& verdict);

/// Warning O050 if the policy that judges demands signatures of moves or verdicts and the channel is not protected:
/// then nobody asks for them. Pure.
Findings signatures_not_asked_for(const gate::Case& input, const gate::Policy& policy);

struct SignedMove {
  std::uint64_t generation = 0;
  std::string action;
  std::string by; ///< the signer's name in the policy that was bound then; empty: no signature was demanded
};
struct VerifiedMoves {
  std::vector<SignedMove> moves; ///< newest first
  Findings acknowledged;         ///< what somebody has answered for since: notes (acknowledge.hpp), and warning O056 if
                                 ///< the ledger begins anew after a lost move
  registry::PolicyDigest lawful; ///< the last policy that was bound by somebody who might
  Findings findings;             ///< O044: a move without the signature that its policy demanded, or that rests on a
                                 ///< verdict about another state; a policy that no move bound
};
/// Each move of the channel, or only the newest, by the policy that was bound when it was made: a key that was revoked
/// later does not undo what it signed before, because later entries name the earlier ones. A read for each move, and
/// one for each signer and move. Fails with R017 if the ledger is broken, and as policy_of() does.
Result<VerifiedMoves> verify_moves(store::ObjectReader& store, const registry::ChannelRecord& channel,
                                   std::size_t newest = registry::k_whole_chain);
/// The last move alone, for clients: that the ledger's entry says what the channel's record says, and who signed it.
/// corrupt O044 if it was demanded and is missing. A few reads.
Result<SignedMove> verify_last_move(store::ObjectReader& store, const registry::ChannelRecord& channel);

} // namespace quarry::promote
