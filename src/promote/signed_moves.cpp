#include "promote/signed_moves.hpp"

#include "promote/bound.hpp"
#include "promote/planning.hpp"
#include "registry/bound.hpp"
#include "registry/verdicts.hpp"
#include "signature/stored.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::promote {

using registry::Action;
using registry::LedgerRecord;
using registry::PolicyDigest;
using store::ObjectReader;

Result<gate::SignedBy> signer_of(ObjectReader& store, const gate::Policy& policy, std::string_view what,
                                 const signature::Subject& subject) {
  std::vector<Ed25519PublicKey> keys;
  for (const auto& signer : policy.signers)
    if (auto key = Ed25519PublicKey::parse(signer.key)) keys.push_back(*key);
  TRY(auto envelopes, signature::load_of(store, subject.sha256, keys));
  return gate::signed_by(policy, what, envelopes, subject);
}

namespace {

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
      TRY(auto policy, stored_policy(store_, digest));
      known = known_.emplace(digest, std::move(policy)).first;
    }
    return &known->second;
  }
  /// The policy that demands a signature of a move.
  Result<const gate::Policy*> of_move(const PolicyDigest& bound, const LedgerRecord& entry) {
    TRY(const auto* before, find(bound));
    TRY(const auto* after, find(registry::bound_by(entry)));
    return demanding(before, after);
  }

private:
  ObjectReader& store_;
  std::map<PolicyDigest, gate::Policy> known_;
};

Result<std::string> misplaced_verdict(ObjectReader& store, const LedgerRecord& entry) {
  auto record = registry::load_verdict(store, entry.verdict);
  if (!record && is_lost(record.error())) return std::string("is not stored");
  if (!record) return fail(std::move(record).error());
  return misplaced(registry::read_verdict(*record).value_or(registry::VerdictDocument()), entry);
}

/// What a policy must let somebody sign for this move. Who may replace the law may answer for a breach of it.
std::string_view right_for(const Action& action) {
  return action == Action::acknowledge ? std::string_view("protect") : action.text();
}

/// Who signed a move; with the defect of its verdict if it is a promotion.
Result<gate::SignedBy> signer_of_move(ObjectReader& store, const gate::Policy& policy,
                                      const registry::LedgerDigest& digest, const LedgerRecord& entry) {
  TRY(auto by, signer_of(store, policy, right_for(entry.action), subject_of(digest)));
  if (!by.defect.empty() || entry.action != Action::promote || !gate::wants_signed_verdicts(policy)) return by;
  TRY(auto defect, unsigned_verdict(store, policy, entry.verdict));
  if (defect.empty()) {
    TRY(defect, misplaced_verdict(store, entry));
  }
  if (!defect.empty()) by.defect = "rests on a verdict that " + defect;
  return by;
}

std::string named(const PolicyDigest& policy) {
  return policy.empty() ? std::string("no policy") : "policy " + policy.short_hex();
}

std::string unsigned_text(const LedgerRecord& entry, const std::string& defect) {
  return fmt::format("{} of {}@{} {}", entry.action.text(), entry.channel, entry.generation, defect);
}

/// What makes a channel good after a move that lacks its signature.
std::string answer_for(const LedgerRecord& entry) {
  return fmt::format(
      "find out who moved the channel; then `quarry channel acknowledge {0} {1} --reason TEXT --sign KEY` "
      "answers for it, with the key of somebody who may sign `protect`; or go back: `quarry rollback {0} "
      "--to GENERATION --reason TEXT --sign KEY`",
      entry.channel, entry.generation);
}

Finding unsigned_finding(const registry::Stored<LedgerRecord>& move, std::string message, std::string fix) {
  return {"O044", Severity::error, registry::ledger_key(move.digest), std::move(message), std::move(fix)};
}

/// The ledger begins with a `protect` that answers for a lost move.
Finding begun_anew(const registry::Stored<LedgerRecord>& move) {
  const auto& entry = move.record;
  return {"O056", Severity::warning, registry::ledger_key(move.digest),
          fmt::format("the moves before {}@{} are lost; at {} {} took what it showed as let in: {}", entry.channel,
                      entry.generation, entry.when, entry.who.empty() ? "somebody" : entry.who, entry.why),
          "nothing proves who let these files in; a copy of the store from before shows whether they are the same"};
}

/// The last move, by what it was made under. `kept` is for hints: what the caller has not done.
Result<SignedMove> look_at_last(ObjectReader& store, const registry::ChannelRecord& channel, std::string_view kept) {
  TRY(auto entry, registry::load_ledger(store, channel.ledger),
      "while reading the last move of channel " + channel.name);
  SignedMove found{entry.generation, std::string(entry.action.text()), {}};
  bool same = registry::is_as_left(channel, entry);
  bool same_guard = !entry.guard || *entry.guard == registry::summary_of(channel.guard);
  TRY(auto bound, registry::bound_before(store, entry));
  auto after = registry::binds(entry) ? registry::bound_by(entry) : bound;
  if (!same || !same_guard || after != channel.guard.policy)
    return fail(ErrorKind::corrupt, "O044",
                fmt::format("channel {}@{} is not what its last move made: {} of {}@{}", channel.name,
                            channel.generation, entry.action.text(), entry.channel, entry.generation),
                fmt::format("{}; `quarry channel verify {}` looks at every move; {}", kept, channel.name,
                            registry::bind_again(channel.name)));
  Policies policies(store);
  TRY(const auto* policy, policies.of_move(bound, entry), "while reading the last move of channel " + channel.name);
  if (!policy) return found;
  TRY(auto by, signer_of_move(store, *policy, channel.ledger, entry));
  if (!by.defect.empty())
    return fail(ErrorKind::corrupt, "O044", unsigned_text(entry, by.defect),
                fmt::format("{}; {}", kept, answer_for(entry)));
  found.by = std::move(by.name);
  return found;
}

/// These answer for a move that lacks its signature, or take it back.
bool follows_any_move(const Action& action) {
  return action == Action::protect || action == Action::acknowledge || action == Action::rollback;
}

} // namespace

// A verdict lets in one promotion: the one after the move that it names. Otherwise a rollback could be undone with the
// signature of before.
std::string misplaced(const registry::VerdictDocument& verdict, const LedgerRecord& promotion) {
  if (verdict.channel != promotion.channel) return "is about another channel";
  if (verdict.after != promotion.previous) return "was made before another move of the channel";
  return "";
}

Result<std::string> unsigned_verdict(ObjectReader& store, const gate::Policy& policy,
                                     const registry::VerdictDigest& verdict) {
  if (!gate::wants_signed_verdicts(policy)) return std::string();
  TRY(auto by, signer_of(store, policy, "verdicts", {"verdict", verdict.sha256().value_or(Sha256())}));
  return by.defect;
}

signature::Subject subject_of(const registry::LedgerDigest& entry) {
  return {"move", entry.sha256().value_or(Sha256())};
}

Result<void> check_signer(ObjectReader& store, const std::optional<registry::Channel>& from, const Move& move,
                          const std::optional<Ed25519PrivateKey>& key) {
  registry::Bound now;
  if (from) {
    TRY(now, registry::bound_by_moves(store, from->record, move.last));
  }
  if (move.action != Action::protect) TRY_DO(registry::check_bound(now, move.channel)); // protect makes them agree
  Policies policies(store);
  TRY(const auto* bound, policies.find(now.policy), "which protects channel " + move.channel);
  const auto* policy = demanding(bound, move.binds);
  if (!policy) return {};
  auto defect =
      gate::defect_of_key(*policy, right_for(move.action), key ? std::optional(key->public_key()) : std::nullopt);
  if (defect.empty()) {
    // A move that nobody signed must not become the ground of one that is signed.
    if (from && !follows_any_move(move.action)) TRY_DO(look_at_last(store, from->record, "nothing was changed"));
    return {};
  }
  return fail(
      ErrorKind::held, "O041",
      fmt::format("channel {} takes only signed moves, and this {} {}", move.channel,
                  move.called.empty() ? move.action.text() : move.called, defect),
      gate::has_signer(*policy, right_for(move.action))
          ? fmt::format("nothing was changed; sign it: --sign KEY, with the key of a [[signer]] that policy {} names "
                        "for it",
                        policy->name)
          : fmt::format("nothing was changed; policy {0} has no key that counts for it: bind a policy that has one: "
                        "`quarry channel protect {1} --policy FILE --reason TEXT --sign KEY`",
                        policy->name, move.channel));
}

void sign_with(ObjectReader& store, const std::optional<Ed25519PrivateKey>& key, publish::Reason& reason,
               const std::string& called) {
  reason.key = key;
  reason.before_writing = [&store, key, called](const std::optional<registry::Channel>& from,
                                                const LedgerRecord& entry) -> Result<void> {
    Policies policies(store);
    TRY(const auto* binds, policies.find(registry::bound_by(entry)));
    return check_signer(store, from, {entry.channel, entry.action, binds, nullptr, called}, key);
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
  TRY(auto policy, stored_policy(store, channel.guard.policy), "which protects channel " + channel.name);
  TRY(auto defect, unsigned_verdict(store, policy, verdict));
  if (defect.empty()) return {};
  return fail(
      Error::of(ErrorKind::held, "O042",
                fmt::format("channel {} takes only signed verdicts, and this one {}", channel.name, defect))
          .with_detail("verdict  " + verdict.hex())
          .with_hint(fmt::format("nothing was changed; `quarry gate --from … --to {} --sign KEY` signs it; what "
                                 "was recorded since, and each move of the channel, makes another verdict",
                                 channel.name)));
}

Findings signatures_not_asked_for(const gate::Case& input, const gate::Policy& policy) {
  if (!input.bound.empty() || !gate::wants_signed_moves(policy)) return {};
  return {{"O050", Severity::warning, input.channel,
           fmt::format("policy {} names signers of moves or verdicts, and channel {} is not protected: it takes "
                       "unsigned ones",
                       policy.name, input.channel),
           fmt::format("bind the policy: `quarry channel protect {} --policy FILE --reason TEXT --sign KEY`",
                       input.channel)}};
}

namespace {

/// Walks the moves from the oldest to the newest.
class Walk {
public:
  Walk(ObjectReader& store, PolicyDigest bound) : store_(store), policies_(store), bound_(bound), lawful_(bound) {}

  Result<SignedMove> look_at(const registry::Stored<LedgerRecord>& move) {
    const auto& entry = move.record;
    SignedMove found{entry.generation, std::string(entry.action.text()), {}};
    TRY(const auto* policy, policies_.of_move(bound_, entry), "while reading the moves of channel " + entry.channel);
    gate::SignedBy by;
    if (policy) {
      TRY(by, signer_of_move(store_, *policy, move.digest, entry));
    }
    if (!by.defect.empty())
      findings_.push_back(unsigned_finding(move, unsigned_text(entry, by.defect), answer_for(entry)));
    found.by = by.name;
    if (entry.action == Action::acknowledge && by.defect.empty()) TRY_DO(note_acknowledgement(move));
    if (registry::binds(entry)) TRY_DO(bind(move, by.defect.empty()));
    if (entry.guard && entry.guard->policy != bound_)
      findings_.push_back(unsigned_finding(
          move,
          unsigned_text(entry, fmt::format("says that {} protected the channel, and the moves before bound {}",
                                           named(entry.guard->policy), named(bound_))),
          answer_for(entry)));
    return found;
  }

  void finish(VerifiedMoves& verified) {
    for (auto& finding : findings_) {
      auto known = acknowledged_.find(finding.place);
      if (known == acknowledged_.end()) {
        verified.findings.push_back(std::move(finding));
        continue;
      }
      finding.severity = Severity::note;
      finding.message += "; " + known->second;
      finding.fix.clear();
      verified.acknowledged.push_back(std::move(finding));
    }
    verified.lawful = lawful_;
  }

private:
  /// Who may bind another policy by the lawful one. A forged `protect` brings a policy with keys of its own, so the one
  /// that it replaced stays the lawful one.
  Result<gate::SignedBy> by_law(const registry::Stored<LedgerRecord>& move) {
    TRY(const auto* policy, policies_.find(lawful_));
    if (!policy || !gate::wants_signed_moves(*policy)) return gate::SignedBy{};
    return signer_of(store_, *policy, right_for(move.record.action), subject_of(move.digest));
  }

  Result<void> bind(const registry::Stored<LedgerRecord>& move, bool is_valid) {
    if (is_valid && bound_ != lawful_) {
      TRY(auto by, by_law(move));
      is_valid = by.defect.empty();
    }
    bound_ = registry::bound_by(move.record);
    if (is_valid) lawful_ = bound_;
    return {};
  }

  Result<void> note_acknowledgement(const registry::Stored<LedgerRecord>& move) {
    TRY(auto by, by_law(move));
    if (by.name.empty() || move.record.acknowledges.empty()) return {}; // nobody who may has signed it
    acknowledged_[registry::ledger_key(move.record.acknowledges)] =
        fmt::format("acknowledged at {} by {}: {}", move.record.when, by.name, move.record.why);
    return {};
  }

  ObjectReader& store_;
  Policies policies_;
  PolicyDigest bound_, lawful_;
  Findings findings_;
  std::map<std::string, std::string> acknowledged_; ///< by the key of the move
};

} // namespace

Result<VerifiedMoves> verify_moves(ObjectReader& store, const registry::ChannelRecord& channel, std::size_t newest) {
  VerifiedMoves verified;
  TRY(auto chain, registry::ledger_chain(store, channel, newest));
  PolicyDigest before;
  if (!chain.empty()) {
    TRY(before, registry::bound_before(store, chain.back().record));
  }
  Walk walk(store, before);
  for (auto move = chain.rbegin(); move != chain.rend(); ++move) {
    TRY(auto found, walk.look_at(*move));
    verified.moves.insert(verified.moves.begin(), std::move(found));
  }
  walk.finish(verified);
  if (!chain.empty() && registry::begins_anew(chain.back().record))
    verified.acknowledged.push_back(begun_anew(chain.back()));
  TRY(auto now, registry::bound_by_moves(store, channel));
  if (!now.differs.empty())
    verified.findings.push_back(unsigned_finding(chain.front(), now.differs, registry::bind_again(channel.name)));
  return verified;
}

Result<SignedMove> verify_last_move(ObjectReader& store, const registry::ChannelRecord& channel) {
  return look_at_last(store, channel, "nothing was installed");
}

} // namespace quarry::promote
