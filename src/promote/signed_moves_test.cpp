// Moves that must be signed, and generated attacks on what signs them. The usual run tries some; QUARRY_LONG=1 tries
// 10,000 (docs/campaigns.md). QUARRY_SEED chooses others.
#include "promote/signed_moves.hpp"

#include "base/json.hpp"
#include "gate/testing/policies.hpp"
#include "promote/promote.hpp"
#include "promote/withdraw.hpp"
#include "registry/testing/samples.hpp"
#include "signature/stored.hpp"
#include "sys/clock.hpp"
#include <cstdlib>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace quarry::promote {
namespace {

using registry::SealedSet;
using Random = std::mt19937_64;
using Key = std::optional<Ed25519PrivateKey>;

const std::int64_t k_noon = *sys::parse_rfc3339("2026-11-20T12:00:00Z");

std::uint64_t from_environment(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Keys {
  Ed25519PrivateKey lead = *Ed25519PrivateKey::create(), oncall = *Ed25519PrivateKey::create(),
                    old = *Ed25519PrivateKey::create(), stranger = *Ed25519PrivateKey::create();
};

std::string signer(const char* name, const Ed25519PrivateKey& key, const char* signs, const char* more = "") {
  return fmt::format("[[signer]]\nname = \"{}\"\nkey = \"{}\"\nsigns = [{}]\n{}", name, key.public_key().base64(),
                     signs, more);
}

/// Everything is waived for want of a machine: only signatures can hold.
gate::Policy policy_with(const std::string& signers) {
  return gate::testing::parsed_policy("[states]\nno_runner = \"waive\"\n" + signers +
                                      "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\n"
                                      "suites=[\"smoke\"]\n[[family]]\nfamilies=[\"*\"]\nstate=\"no_runner\"\n"
                                      "reason=\"a test of signatures\"\n");
}

gate::Policy signed_policy(const Keys& keys) {
  return policy_with(signer("lead", keys.lead, "\"moves\"") + signer("oncall", keys.oncall, "\"rollback\", \"yank\"") +
                     signer("old", keys.old, "\"moves\"", "revoked = \"leaked\"\n"));
}

class SignedMoves : public ::testing::Test {
protected:
  void SetUp() override { start(); }
  void start() {
    store_ = store::make_memory_store();
    sets_.clear();
    for (const auto* version : {"7.0", "7.1"}) {
      auto name = fmt::format("rocm_sdk_core-{}-py3-none-linux_x86_64.whl", version);
      sets_.push_back(registry::testing::sealed_sample(*store_, fmt::format("{}-linux/python/g", sets_.size() + 1),
                                                       {{name, "rocm-sdk-core", version}}));
    }
  }
  Author author(const Key& key) const { return {"ann", sys::Timestamp::from_us(k_noon), "why", key}; }
  void protect(const gate::Policy& policy, const Key& key) {
    auto done = promote::protect(*store_, "stable", policy, author(key));
    ASSERT_TRUE(done) << render(done.error());
  }
  Result<Receipt> promote_set(std::size_t which, const gate::Policy& policy, const Key& key,
                              const std::string& channel = "stable") {
    registry::Resolved source;
    source.source = "set";
    source.sets = {sets_.at(which)};
    Options options{"ann", sys::Timestamp::from_us(k_noon), "why", {}, false, {}};
    options.key = key;
    return promote::promote(*store_, {source, channel, policy, false, k_noon}, options);
  }
  Result<Receipt> roll_back(const Key& key) {
    Options options{"ann", sys::Timestamp::from_us(k_noon), "why", {}, false, {}};
    options.key = key;
    return promote::rollback(*store_, "stable", options);
  }
  registry::ChannelRecord channel(const std::string& name = "stable") {
    return registry::require_channel(*store_, name)->record;
  }
  std::string code_of_last() {
    auto last = verify_last_move(*store_, channel());
    return last ? "" : last.error().code;
  }
  std::size_t bad_moves() {
    auto verified = verify_moves(*store_, channel());
    EXPECT_TRUE(verified) << render(verified.error());
    return verified ? verified->findings.size() : 0;
  }
  /// What somebody does who writes to the store without our commands: the swap without a check.
  void move_by_hand(const registry::View& view, registry::Action action, const Key& key,
                    std::optional<registry::Guard> guard = {}) {
    publish::Reason reason;
    reason.action = action;
    reason.when = sys::Timestamp::from_us(k_noon);
    reason.key = key;
    reason.guard = std::move(guard);
    auto moved =
        publish::move_channel(*store_, "stable", registry::read_channel(*store_, "stable").value(), view, reason);
    ASSERT_TRUE(moved) << render(moved.error());
  }

  Keys keys_;
  std::unique_ptr<store::ObjectStore> store_;
  std::vector<SealedSet> sets_;
};

template <class T> std::string code(const Result<T>& result) { return result ? "" : result.error().code; }

TEST_F(SignedMoves, EachMoveNeedsWhoMayMakeIt) {
  auto policy = signed_policy(keys_);
  for (const auto& key : {Key(), Key(keys_.oncall), Key(keys_.old), Key(keys_.stranger)})
    EXPECT_EQ(code(promote::protect(*store_, "stable", policy, author(key))), "O041");
  EXPECT_FALSE(*store_->head("channels/stable.json"));
  EXPECT_TRUE(store_->list("policies/")->empty()) << "nothing was written";
  protect(policy, keys_.lead);
  for (const auto& key : {Key(), Key(keys_.oncall), Key(keys_.old), Key(keys_.stranger)})
    EXPECT_EQ(code(promote_set(0, policy, key)), "O041");
  EXPECT_TRUE(store_->list("verdicts/")->empty());
  EXPECT_TRUE(promote_set(0, policy, keys_.lead));
  EXPECT_TRUE(promote_set(1, policy, keys_.lead));
  EXPECT_EQ(code(roll_back({})), "O041");
  EXPECT_EQ(code(roll_back(keys_.stranger)), "O041");
  auto rolled = roll_back(keys_.oncall);
  ASSERT_TRUE(rolled) << render(rolled.error());
  auto word = "rocm_sdk_core-7.1-py3-none-linux_x86_64.whl";
  EXPECT_EQ(code(unblock(*store_, "stable", {word}, author(keys_.oncall))), "O041");
  EXPECT_TRUE(unblock(*store_, "stable", {word}, author(keys_.lead)));
  auto yank = plan_withdrawal(*store_, "stable", {"rocm_sdk_core-7.0-py3-none-linux_x86_64.whl"});
  ASSERT_TRUE(yank) << render(yank.error());
  EXPECT_EQ(code(withdraw(*store_, *yank, author({}))), "O041");
  EXPECT_TRUE(withdraw(*store_, *yank, author(keys_.oncall)));
  EXPECT_EQ(code(prune(*store_, "stable", LastViews{2}, author(keys_.oncall), false)), "O041");
  EXPECT_TRUE(prune(*store_, "stable", LastViews{2}, author({}), true)) << "a dry run moves nothing";
  EXPECT_TRUE(prune(*store_, "stable", LastViews{2}, author(keys_.lead), false));
  EXPECT_EQ(code(unprotect(*store_, "stable", author(keys_.oncall))), "O041");
  EXPECT_EQ(code(promote::protect(*store_, "stable", policy_with(""), author({}))), "O041") << "the old law judges";
  auto moves = verify_moves(*store_, channel());
  ASSERT_TRUE(moves);
  EXPECT_TRUE(moves->findings.empty()) << moves->findings.front().message;
  std::string said;
  for (const auto& move : moves->moves) said += fmt::format("{} {}, ", move.action, move.by);
  EXPECT_EQ(said, "prune lead, yank oncall, unblock lead, rollback oncall, promote lead, promote lead, protect lead, ");
  EXPECT_EQ(verify_last_move(*store_, channel())->by, "lead");
  EXPECT_TRUE(unprotect(*store_, "stable", author(keys_.lead)));
  EXPECT_EQ(verify_last_move(*store_, channel())->by, "lead") << "by the policy before it";
  EXPECT_EQ(bad_moves(), 0u);
}

TEST_F(SignedMoves, WithoutSignersNothingIsAsked) {
  auto policy = policy_with(signer("lead", keys_.lead, "\"evidence\", \"waivers\""));
  protect(policy, {});
  ASSERT_TRUE(promote_set(0, policy, {}));
  EXPECT_EQ(code_of_last(), "");
  EXPECT_EQ(bad_moves(), 0u);
  auto only_revoked = signed_policy(keys_);
  std::erase_if(only_revoked.signers, [](const gate::Signer& one) { return one.name != "old"; });
  EXPECT_EQ(code(promote::protect(*store_, "stable", only_revoked, author(keys_.old))), "O043")
      << "nobody could bind another policy";
  auto only_verdicts = policy_with(signer("judge", keys_.oncall, "\"verdicts\""));
  EXPECT_EQ(code(promote::protect(*store_, "fresh", only_verdicts, author(keys_.oncall))), "O043")
      << "an unsigned unprotect would end the demand";
}

// Rotation: the new policy no longer has the key that bound it. What it signed stays valid in the chain.
TEST_F(SignedMoves, ARevokedKeyDoesNotUndoWhatItSigned) {
  auto policy = signed_policy(keys_);
  protect(policy, keys_.lead);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  auto next = policy_with(signer("lead", keys_.lead, "\"moves\"", "revoked = \"leaked\"\n") +
                          signer("new", keys_.oncall, "\"moves\""));
  protect(next, keys_.lead);
  EXPECT_EQ(code_of_last(), "");
  EXPECT_EQ(bad_moves(), 0u);
  EXPECT_EQ(code(promote_set(1, next, keys_.lead)), "O041");
  EXPECT_EQ(code(promote::protect(*store_, "stable", policy, author(keys_.oncall))), "O046") << "the old file";
  ASSERT_TRUE(promote_set(1, next, keys_.oncall));
  auto put = [&](const registry::ChannelRecord& record) {
    ASSERT_TRUE(store_->put("channels/stable.json", content::Rope::literal(registry::to_json(record)), {}));
  };
  const auto good = channel();
  auto edited = good;
  edited.guard.policy = *registry::PolicyDigest::parse(policy.digest);
  put(edited);
  EXPECT_EQ(code(promote::protect(*store_, "stable", policy, author(keys_.oncall))), "O046")
      << "the thief wrote it back";
  auto borrowed = good;
  ASSERT_TRUE(promote_set(1, next, {}, "fresh"));
  borrowed.ledger = channel("fresh").ledger;
  put(borrowed);
  EXPECT_EQ(code(promote::protect(*store_, "stable", next, author(keys_.oncall))), "O044")
      << "a move of another channel";
  put(good);
  EXPECT_EQ(bad_moves(), 0u);
}

TEST_F(SignedMoves, AVerdictIsSignedForOneChannelAndOneCase) {
  auto policy = policy_with(signer("judge", keys_.oncall, "\"verdicts\"") + signer("lead", keys_.lead, "\"moves\""));
  protect(policy, keys_.lead);
  registry::Resolved source;
  source.source = "set";
  source.sets = {sets_[0]};
  auto plan_for = [&](const std::string& channel) {
    auto plan = plan_promotion(*store_, {source, channel, policy, false, k_noon});
    EXPECT_TRUE(plan) << render(plan.error());
    return *plan;
  };
  EXPECT_EQ(code(promote_set(0, policy, keys_.oncall)), "O041");
  EXPECT_EQ(code(promote_set(0, policy, keys_.lead)), "O042") << "signing the move is another thing";
  auto sign = [&](const registry::VerdictDigest& verdict, const Ed25519PrivateKey& key) {
    ASSERT_TRUE(signature::sign(*store_, {"verdict", *verdict.sha256()}, key));
  };
  auto here = plan_for("stable"), elsewhere = plan_for("rehearsal");
  EXPECT_NE(here.judgement.digest, elsewhere.judgement.digest) << "a verdict names its channel";
  sign(elsewhere.judgement.digest, keys_.oncall);
  sign(here.judgement.digest, keys_.stranger);
  EXPECT_EQ(code(promote_set(0, policy, keys_.lead)), "O042");
  sign(here.judgement.digest, keys_.oncall);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  EXPECT_EQ(code(promote_set(1, policy, keys_.lead)), "O042") << "another set has another verdict";
  EXPECT_EQ(code_of_last(), "");
  EXPECT_EQ(bad_moves(), 0u);
  // Who signs moves wrote a promotion by hand that the judge has not signed.
  auto place = fmt::format("signatures/{}/{}.json", here.judgement.digest.hex(), keys_.oncall.public_key().id());
  ASSERT_TRUE(store_->remove(place));
  EXPECT_EQ(code_of_last(), "O044");
  EXPECT_EQ(bad_moves(), 1u);
}

// A rollback and an unblock later, the sets and the results are what they were. The signature must not count again.
TEST_F(SignedMoves, ASignedVerdictLetsInOnePromotion) {
  auto policy = policy_with(signer("judge", keys_.oncall, "\"verdicts\"") + signer("lead", keys_.lead, "\"moves\""));
  protect(policy, keys_.lead);
  registry::VerdictDigest signed_first;
  auto judge_and_sign = [&](std::size_t which) {
    registry::Resolved source;
    source.sets = {sets_[which]};
    auto plan = plan_promotion(*store_, {source, "stable", policy, false, k_noon});
    ASSERT_TRUE(plan) << render(plan.error());
    signed_first = plan->judgement.digest;
    ASSERT_TRUE(registry::put_verdict(*store_, plan->judgement.document));
    ASSERT_TRUE(signature::sign(*store_, {"verdict", *plan->judgement.digest.sha256()}, keys_.oncall));
  };
  judge_and_sign(0);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  judge_and_sign(1);
  ASSERT_TRUE(promote_set(1, policy, keys_.lead));
  const auto used = signed_first;
  ASSERT_TRUE(roll_back(keys_.lead));
  ASSERT_TRUE(unblock(*store_, "stable", {"rocm_sdk_core-7.1-py3-none-linux_x86_64.whl"}, author(keys_.lead)));
  EXPECT_EQ(code(promote_set(1, policy, keys_.lead)), "O042") << "the verdict of before the rollback";
  judge_and_sign(1);
  EXPECT_NE(signed_first, used);
  EXPECT_TRUE(promote_set(1, policy, keys_.lead));
  EXPECT_EQ(bad_moves(), 0u);
  // Who may sign moves writes one by hand that rests on the verdict of before.
  ASSERT_TRUE(roll_back(keys_.lead));
  publish::Reason reason;
  reason.action = registry::Action(registry::Action::promote);
  reason.when = sys::Timestamp::from_us(k_noon);
  reason.verdict = used;
  reason.key = keys_.lead;
  auto view = registry::make_view({sets_[0], sets_[1]});
  ASSERT_TRUE(
      publish::move_channel(*store_, "stable", registry::read_channel(*store_, "stable").value(), *view, reason));
  EXPECT_EQ(code_of_last(), "O044");
  EXPECT_EQ(bad_moves(), 1u);
}

// Somebody took the policy, or what is blocked, out of the channel's record. Its moves say what was there.
TEST_F(SignedMoves, TheMovesSayWhatProtectsTheChannel) {
  auto policy = signed_policy(keys_);
  protect(policy, keys_.lead);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  ASSERT_TRUE(promote_set(1, policy, keys_.lead));
  ASSERT_TRUE(roll_back(keys_.lead));
  const auto good = channel();
  auto put = [&](const registry::ChannelRecord& record) {
    ASSERT_TRUE(store_->put("channels/stable.json", content::Rope::literal(registry::to_json(record)), {}));
  };
  auto stripped = good;
  stripped.guard = {};
  auto unblocked = good;
  unblocked.guard.blocked.clear();
  for (const auto& record : {stripped, unblocked}) {
    put(record);
    EXPECT_EQ(code(promote_set(1, policy, {})), "O044");
    EXPECT_EQ(code(roll_back(keys_.lead)), "O044");
    EXPECT_EQ(code(unblock(*store_, "stable", {sets_[1].set.files[0].filename}, author(keys_.lead))).substr(0, 1), "O");
    EXPECT_EQ(code_of_last(), "O044");
    EXPECT_EQ(bad_moves(), 1u);
    EXPECT_EQ(channel().generation, good.generation) << "nothing moved";
  }
  put(stripped);
  EXPECT_EQ(code(promote::protect(*store_, "stable", policy, author(keys_.stranger))), "O041")
      << "the law of its moves";
  protect(policy, keys_.lead);
  EXPECT_EQ(code_of_last(), "");
  EXPECT_EQ(bad_moves(), 0u) << "the record and the moves agree again";
}

/// A move that a signer made, or would make, and one thing about it that is wrong.
std::string attack_once(store::ObjectStore& store, const registry::LedgerDigest& entry, const Keys& keys,
                        Random& random) {
  auto subject = subject_of(entry);
  auto place = [&](const Ed25519PrivateKey& key) {
    return fmt::format("signatures/{}/{}.json", entry.hex(), key.public_key().id());
  };
  auto put = [&](const std::string& bytes) {
    EXPECT_TRUE(store.put(place(keys.lead), content::Rope::literal(bytes), {}));
  };
  auto valid = signature::envelope(subject, keys.lead);
  switch (random() % 9) {
  case 0: return "not signed";
  case 1: EXPECT_TRUE(signature::sign(store, subject, keys.stranger)); return "by a stranger";
  case 2: EXPECT_TRUE(signature::sign(store, subject, keys.old)); return "by a revoked key";
  case 3: EXPECT_TRUE(signature::sign(store, subject, keys.oncall)); return "by who may only roll back";
  case 4: put(signature::envelope({"move", sha256(fmt::format("{}", random()))}, keys.lead)); return "another move";
  case 5: {
    const char* kinds[] = {"evidence", "waiver", "verdict", "ledger", ""};
    put(signature::envelope({kinds[random() % 5], subject.sha256}, keys.lead));
    return "another kind of record";
  }
  case 6: put(valid.substr(0, random() % valid.size())); return "cut";
  case 7: {
    auto part = valid.find(random() % 2 ? "\"payload\":\"" : "\"sig\":\"");
    auto at = valid.find(":\"", part) + 2 + random() % 80;
    valid[at] = valid[at] == 'A' ? 'B' : 'A';
    put(valid);
    return "altered";
  }
  default: {
    auto json = Json::parse(valid);
    json["signatures"][0]["sig"] = base64(std::string(64, static_cast<char>(random() % 256)));
    put(json.dump());
    return "another signature";
  }
  }
}

TEST_F(SignedMoves, NoForgedMoveIsAccepted) {
  Random random(from_environment("QUARRY_SEED", 1));
  auto attacks = from_environment("QUARRY_LONG", 0) ? 10'000u : 100u;
  auto policy = signed_policy(keys_);
  protect(policy, keys_.lead);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  const auto good = *registry::read_channel(*store_, "stable");
  auto view = registry::make_view({sets_[1]});
  ASSERT_TRUE(view);
  for (unsigned i = 0; i < attacks; ++i) {
    auto now = registry::require_channel(*store_, "stable");
    ASSERT_TRUE(now);
    // Back to the state that was signed, as the owner of the store restores it.
    ASSERT_TRUE(store_->put("channels/stable.json", content::Rope::literal(registry::to_json(good->record)), {}));
    ASSERT_EQ(code_of_last(), "");
    auto action =
        random() % 2 ? registry::Action(registry::Action::promote) : registry::Action(registry::Action::protect);
    publish::Reason reason;
    reason.action = action;
    reason.why = fmt::format("attack {}", i);
    reason.when = sys::Timestamp::from_us(k_noon);
    if (action == registry::Action::protect) reason.policy = good->record.guard.policy;
    auto moved = publish::move_channel(*store_, "stable", *registry::read_channel(*store_, "stable"), *view, reason);
    ASSERT_TRUE(moved) << render(moved.error());
    auto done = attack_once(*store_, moved->record.ledger, keys_, random);
    ASSERT_EQ(code_of_last(), "O044") << i << " " << action.text() << ": " << done;
    ASSERT_EQ(bad_moves(), 1u) << i << " " << action.text() << ": " << done;
  }
}

// Otherwise the signature of the next promotion would make good what nobody signed.
TEST_F(SignedMoves, AMoveWithoutItsSignatureIsNotBuiltOn) {
  auto policy = signed_policy(keys_);
  protect(policy, keys_.lead);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  auto good = registry::read_channel(*store_, "stable").value();
  move_by_hand(*registry::make_view({sets_[1]}), registry::Action(registry::Action::promote), {});
  auto refused = promote_set(0, policy, keys_.lead);
  ASSERT_EQ(code(refused), "O044");
  EXPECT_NE(refused.error().hint.find("channel acknowledge stable 3"), std::string::npos) << refused.error().hint;
  EXPECT_EQ(code(prune(*store_, "stable", LastViews{2}, author(keys_.lead), false)), "O044");
  EXPECT_EQ(channel().generation, 3u);
  auto rolled = roll_back(keys_.oncall);
  ASSERT_TRUE(rolled) << render(rolled.error());
  EXPECT_EQ(channel().view, good->record.view);
  EXPECT_TRUE(unblock(*store_, "stable", {sets_[1].set.files.front().filename}, author(keys_.lead)));
  EXPECT_TRUE(promote_set(1, policy, keys_.lead));
}

// The entry and its signature are those of another channel, of an older move, or the policy is left out.
TEST_F(SignedMoves, WhatWasSignedElsewhereOrBeforeIsRefused) {
  auto policy = signed_policy(keys_);
  protect(policy, keys_.lead);
  ASSERT_TRUE(promote_set(0, policy, keys_.lead));
  const auto first = channel();
  ASSERT_TRUE(promote::protect(*store_, "nightly", policy, author(keys_.lead)));
  ASSERT_TRUE(promote_set(1, policy, keys_.lead, "nightly"));
  auto put = [&](const registry::ChannelRecord& record) {
    ASSERT_TRUE(store_->put("channels/stable.json", content::Rope::literal(registry::to_json(record)), {}));
  };
  auto replayed = channel("nightly");
  replayed.name = "stable";
  put(replayed);
  EXPECT_EQ(code_of_last(), "O044");
  EXPECT_EQ(code(verify_moves(*store_, channel())), "R017");
  auto other_view = first;
  other_view.view = replayed.view;
  put(other_view);
  EXPECT_EQ(code_of_last(), "O044");
  auto later = first;
  ++later.generation;
  put(later);
  EXPECT_EQ(code_of_last(), "O044");
  auto unbound = first;
  unbound.guard.policy = {};
  put(unbound);
  EXPECT_EQ(bad_moves(), 1u) << "its moves bound a policy";
  put(first);
  EXPECT_EQ(bad_moves(), 0u);
  auto view = registry::make_view({sets_[1]});
  move_by_hand(*view, registry::Action(registry::Action::unprotect), keys_.stranger, registry::Guard());
  EXPECT_EQ(code_of_last(), "O044") << "lifted by somebody who may not";
  EXPECT_EQ(bad_moves(), 1u);
}

} // namespace
} // namespace quarry::promote
