#pragma once
// Who may sign what by a policy's [[signer]] entries. Pure.
#include "digest/ed25519.hpp"
#include "gate/policy.hpp"
#include "signature/stored.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gate {

/// The moves of a channel that a signer may be named for: promote, rollback, yank, protect, unprotect, unblock, prune.
extern const std::vector<std::string> k_signed_moves;
constexpr std::string_view k_every_move = "moves"; ///< in a policy: all of them

/// Whether the policy names a signer for any move, or for verdicts. Then every move must be signed, also one that
/// nobody is named for: an unsigned `unprotect` must not open a channel whose promotions or verdicts are signed. A
/// revoked key counts as named.
bool wants_signed_moves(const Policy& policy);
/// Whether the policy names a signer of verdicts; a revoked key counts as named.
bool wants_signed_verdicts(const Policy& policy);
/// Whether somebody whose key is not revoked may sign `what`: "evidence", "waivers", "verdicts", or a move.
bool has_signer(const Policy& policy, std::string_view what);

/// Whether this key may sign `what`. Returns why not; empty if it may. nullopt: there is no key.
std::string defect_of_key(const Policy& policy, std::string_view what, const std::optional<Ed25519PublicKey>& key);

struct SignedBy {
  std::string name;   ///< of the signer; empty if there is a defect
  std::string defect; ///< "is not signed by lead or release-bot"
};
/// Which signer of the policy that may sign `what` has signed the record.
SignedBy signed_by(const Policy& policy, std::string_view what, const signature::Envelopes& envelopes,
                   const signature::Subject& record);

} // namespace quarry::gate
