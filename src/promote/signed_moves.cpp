#include "promote/signed_moves.hpp"

#include "gate/signers.hpp"
#include "promote/guard.hpp"
#include "signature/stored.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::promote {

using registry::Action;
using registry::LedgerRecord;
using registry::PolicyDigest;
using store::ObjectReader;

namespace {

Result<gate::Policy> policy_at(ObjectReader& store, const PolicyDigest& digest) {
  TRY(auto record, registry::load_policy(store, digest));
  return gate::parse_stored_policy(record.json, registry::policy_key(digest));
}

bool binds(const LedgerRecord& entry) { return entry.action == Action::protect || entry.action == Action::unprotect; }

PolicyDigest bound_by(const LedgerRecord& entry) {
  return entry.action == Action::protect ? entry.policy : PolicyDigest();
}

/// The policy that demands a signature of a move: the one that was bound before it, else the one that it binds.
/// nullptr: nobody demands one.
const gate::Policy* demanding(const gate::Policy* before, const gate::Policy* after) {
  if (before && gate::wants_signed_moves(*before)) return before;
  return after && gate::wants_signed_moves(*after) ? after : nullptr;
}

/// Policies by digest, each read once; nullopt where none is bound.
class Policies {
public:
  explicit Policies(ObjectReader& store) : store_(store) {}
  Result<const gate::Policy*> find(const PolicyDigest& digest) {
    if (digest.empty()) return static_cast<const gate::Policy*>(nullptr);
    auto known = known_.find(digest);
    if (known == known_.end()) {
      TRY(auto policy, policy_at(store_, digest));
      known = known_.emplace(digest, std::move(policy)).first;
    }
    return &known->second;
  }
  /// The policy that demands a signature of a move.
  Result<const gate::Policy*> of_move(const PolicyDigest& bound, const LedgerRecord& entry) {
    TRY(const auto* before, find(bound));
    TRY(const auto* after, find(bound_by(entry)));
    return demanding(before, after);
  }

private:
  ObjectReader& store_;
  std::map<PolicyDigest, gate::Policy> known_;
};

/// The policy that was bound before this entry. A read for each move since it was.
Result<PolicyDigest> bound_before(ObjectReader& store, const LedgerRecord& entry) {
  for (auto digest = entry.previous; !digest.empty();) {
    TRY(auto earlier, registry::load_ledger(store, digest), "while reading the moves of channel " + entry.channel);
    if (binds(earlier)) return bound_by(earlier);
    digest = earlier.previous;
  }
  return PolicyDigest();
}

Result<gate::SignedBy> signer_of(ObjectReader& store, const gate::Policy& policy, std::string_view what,
                                 const signature::Subject& subject) {
  std::vector<Ed25519PublicKey> keys;
  for (const auto& signer : policy.signers)
    if (auto key = Ed25519PublicKey::parse(signer.key)) keys.push_back(*key);
  TRY(auto envelopes, signature::load_of(store, subject.sha256, keys));
  return gate::signed_by(policy, what, envelopes, subject);
}

/// Why the verdict of a promotion does not count; empty if it does, or if nobody need sign it.
Result<std::string> defect_of_verdict(ObjectReader& store, const gate::Policy& policy,
                                      const registry::VerdictDigest& verdict) {
  if (!gate::wants_signed_verdicts(policy)) return std::string();
  TRY(auto by, signer_of(store, policy, "verdicts", {"verdict", verdict.sha256().value_or(Sha256())}));
  return by.defect;
}

/// Who signed a move; with the defect of its verdict if it is a promotion.
Result<gate::SignedBy> signer_of_move(ObjectReader& store, const gate::Policy& policy,
                                      const registry::LedgerDigest& digest, const LedgerRecord& entry) {
  TRY(auto by, signer_of(store, policy, entry.action.text(), subject_of(digest)));
  if (!by.defect.empty() || entry.action != Action::promote) return by;
  TRY(auto defect, defect_of_verdict(store, policy, entry.verdict));
  if (!defect.empty()) by.defect = "rests on a verdict that " + defect;
  return by;
}

std::string unsigned_text(const LedgerRecord& entry, const std::string& defect) {
  return fmt::format("{} of {}@{} {}", entry.action.text(), entry.channel, entry.generation, defect);
}

Finding unsigned_finding(const registry::Stored<LedgerRecord>& move, std::string message) {
  return {"O044", Severity::error, registry::ledger_key(move.digest), std::move(message),
          "find out who moved the channel; roll back to a generation whose moves are signed"};
}

} // namespace

signature::Subject subject_of(const registry::LedgerDigest& entry) {
  return {"move", entry.sha256().value_or(Sha256())};
}

Result<void> check_signer(ObjectReader& store, const std::optional<registry::Channel>& from, const Move& move,
                          const std::optional<Ed25519PrivateKey>& key) {
  Policies policies(store);
  TRY(const auto* bound, policies.find(from ? from->record.guard.policy : PolicyDigest()),
      "which protects channel " + move.channel);
  const auto* policy = demanding(bound, move.binds);
  if (!policy) return {};
  auto defect = gate::defect_of_key(*policy, move.action.text(), key ? std::optional(key->public_key()) : std::nullopt);
  if (defect.empty()) return {};
  return fail(
      ErrorKind::held, "O041",
      fmt::format("channel {} takes only signed moves, and this {} {}", move.channel, move.action.text(), defect),
      fmt::format("nothing was changed; sign it: --sign KEY, with the key of a [[signer]] that policy {} names "
                  "for it",
                  policy->name));
}

void sign_with(ObjectReader& store, const std::optional<Ed25519PrivateKey>& key, publish::Reason& reason) {
  reason.key = key;
  reason.before_writing = [&store, key](const std::optional<registry::Channel>& from,
                                        const LedgerRecord& entry) -> Result<void> {
    Policies policies(store);
    TRY(const auto* binds, policies.find(bound_by(entry)));
    return check_signer(store, from, {entry.channel, entry.action, binds}, key);
  };
}

Result<void> check_rebindable(const gate::Policy& policy) {
  if (!gate::wants_signed_moves(policy) || gate::has_signer(policy, "protect")) return {};
  return fail(
      ErrorKind::invalid_argument, "O043",
      fmt::format("policy {} demands signed moves, and nobody could sign that another policy is bound", policy.name),
      "let a [[signer]] whose key is not revoked sign \"protect\", or \"moves\"");
}

Result<void> check_verdict_signed(ObjectReader& store, const registry::ChannelRecord& channel,
                                  const registry::VerdictDigest& verdict) {
  if (channel.guard.policy.empty()) return {};
  TRY(auto policy, policy_at(store, channel.guard.policy), "which protects channel " + channel.name);
  TRY(auto defect, defect_of_verdict(store, policy, verdict));
  if (defect.empty()) return {};
  return fail(
      Error::of(ErrorKind::held, "O042",
                fmt::format("channel {} takes only signed verdicts, and this one {}", channel.name, defect))
          .with_detail("verdict  " + verdict.hex())
          .with_hint(fmt::format("nothing was changed; `quarry gate --from … --to {} --sign KEY` signs it; what "
                                 "was recorded since makes another verdict",
                                 channel.name)));
}

Result<VerifiedMoves> verify_moves(ObjectReader& store, const registry::ChannelRecord& channel) {
  VerifiedMoves verified;
  TRY(auto chain, registry::ledger_chain(store, channel));
  Policies policies(store);
  PolicyDigest bound;
  for (auto move = chain.rbegin(); move != chain.rend(); ++move) {
    const auto& entry = move->record;
    SignedMove found{entry.generation, std::string(entry.action.text()), {}};
    TRY(const auto* policy, policies.of_move(bound, entry), "while reading the moves of channel " + channel.name);
    if (policy) {
      TRY(auto by, signer_of_move(store, *policy, move->digest, entry));
      if (!by.defect.empty()) verified.findings.push_back(unsigned_finding(*move, unsigned_text(entry, by.defect)));
      found.by = by.name;
    }
    if (binds(entry)) bound = bound_by(entry);
    verified.moves.insert(verified.moves.begin(), std::move(found));
  }
  if (bound != channel.guard.policy)
    verified.findings.push_back(unsigned_finding(
        chain.front(), fmt::format("channel {} is bound to {}, and its moves bound {}", channel.name,
                                   channel.guard.policy.empty() ? "no policy" : channel.guard.policy.short_hex(),
                                   bound.empty() ? "none" : bound.short_hex())));
  return verified;
}

Result<SignedMove> verify_last_move(ObjectReader& store, const registry::ChannelRecord& channel) {
  TRY(auto entry, registry::load_ledger(store, channel.ledger),
      "while reading the last move of channel " + channel.name);
  SignedMove found{entry.generation, std::string(entry.action.text()), {}};
  bool same = entry.channel == channel.name && entry.generation == channel.generation && entry.to_view == channel.view;
  bool same_policy = !binds(entry) || bound_by(entry) == channel.guard.policy;
  if (!same || !same_policy)
    return fail(ErrorKind::corrupt, "O044",
                fmt::format("channel {}@{} is not what its last move made: {} of {}@{}", channel.name,
                            channel.generation, entry.action.text(), entry.channel, entry.generation),
                "somebody changed the store by hand: `quarry channel verify` looks at every move");
  auto bound = channel.guard.policy;
  if (binds(entry)) {
    TRY(bound, bound_before(store, entry));
  }
  Policies policies(store);
  TRY(const auto* policy, policies.of_move(bound, entry), "while reading the last move of channel " + channel.name);
  if (!policy) return found;
  TRY(auto by, signer_of_move(store, *policy, channel.ledger, entry));
  if (!by.defect.empty())
    return fail(
        ErrorKind::corrupt, "O044", unsigned_text(entry, by.defect),
        "nothing was installed; find out who moved the channel: `quarry channel log` and `quarry channel verify`");
  found.by = std::move(by.name);
  return found;
}

} // namespace quarry::promote
