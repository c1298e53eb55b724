#pragma once
// Signed moves of a channel: what is signed is the entry of the ledger, which names the channel, its generation, both
// views, the verdict and the entry before. So a signature fits one move of one channel, and no other.
#include "base/finding.hpp"
#include "digest/ed25519.hpp"
#include "gate/policy.hpp"
#include "publish/move.hpp"
#include "registry/registry.hpp"
#include "signature/envelope.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::promote {

/// What is signed of a move.
signature::Subject subject_of(const registry::LedgerDigest& entry);

struct Move {
  const std::string& channel;
  registry::Action action;
  const gate::Policy* binds = nullptr; ///< of `protect`
};
/// Whether this key may sign the move, by the policy that binds the channel `from`. Where none demands signatures yet,
/// the one that the move binds counts. held O041 if a signature is demanded and the key may not give it. One read.
Result<void> check_signer(store::ObjectReader& store, const std::optional<registry::Channel>& from, const Move& move,
                          const std::optional<Ed25519PrivateKey>& key);
/// Makes move_channel() check the key before it writes anything, and sign the entry before the swap.
void sign_with(store::ObjectReader& store, const std::optional<Ed25519PrivateKey>& key, publish::Reason& reason);

/// A policy that protects a channel must leave a way to bind another one: invalid_argument O043 if it demands signed
/// moves and nobody whose key counts may sign `protect`. Pure.
Result<void> check_rebindable(const gate::Policy& policy);
/// held O042 if the policy that protects the channel wants signed verdicts and nobody who may has signed this one. Two
/// reads, and one for each signer.
Result<void> check_verdict_signed(store::ObjectReader& store, const registry::ChannelRecord& channel,
                                  const registry::VerdictDigest& verdict);

struct SignedMove {
  std::uint64_t generation = 0;
  std::string action;
  std::string by; ///< the signer's name in the policy that was bound then; empty: no signature was demanded
};
struct VerifiedMoves {
  std::vector<SignedMove> moves; ///< newest first
  Findings findings;             ///< O044: a move without the signature that its policy demanded, or a policy that no
                                 ///< move bound
};
/// Each move of the channel by the policy that was bound when it was made: a key that was revoked later does not undo
/// what it signed before, because later entries name the earlier ones. A read for each move, and one for each signer
/// and move. Fails with R017 if the ledger is broken, and as policy_of() does.
Result<VerifiedMoves> verify_moves(store::ObjectReader& store, const registry::ChannelRecord& channel);
/// The last move alone, for clients: that the ledger's entry says what the channel's record says, and who signed it.
/// corrupt O044 if it was demanded and is missing. A few reads; more if the last move bound a policy, to find the one
/// before.
Result<SignedMove> verify_last_move(store::ObjectReader& store, const registry::ChannelRecord& channel);

} // namespace quarry::promote
