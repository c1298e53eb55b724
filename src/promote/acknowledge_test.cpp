// Moves that lack a signature stay in the ledger for ever. Somebody who may can answer for them.
#include "promote/acknowledge.hpp"

#include "gate/testing/policies.hpp"
#include "promote/signed_moves.hpp"
#include "registry/testing/samples.hpp"
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using Key = std::optional<Ed25519PrivateKey>;

class Acknowledging : public ::testing::Test {
protected:
  void SetUp() override {
    set_ = registry::testing::sealed_sample(*store_, "1-linux/python/g", {{"a-1-py3-none-any.whl", "a", "1"}});
    ASSERT_TRUE(protect(*store_, "stable", policy(lead_), author(lead_)));
  }
  static gate::Policy policy(const Ed25519PrivateKey& lead, const std::string& more = "") {
    return gate::testing::parsed_policy("[[signer]]\nname = \"lead\"\nkey = \"" + lead.public_key().base64() +
                                        "\"\nsigns = [\"moves\"]\n" + more +
                                        "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\n"
                                        "suites=[\"smoke\"]\n");
  }
  Author author(const Key& key) const {
    return {"ann", *sys::Timestamp::parse("2026-11-20T12:00:00Z"), "a drill", key};
  }
  /// What somebody does who writes to the store without our commands.
  void by_hand(registry::Action action, const Key& key, const registry::PolicyDigest& binds) {
    publish::Reason reason;
    reason.action = action;
    reason.when = author({}).when;
    reason.key = key;
    if (action == registry::Action::protect) reason.policy = binds;
    reason.guard = registry::Guard{binds, {}, 0};
    auto view = registry::make_view({set_});
    ASSERT_TRUE(publish::move_channel(*store_, "stable", *registry::read_channel(*store_, "stable"), *view, reason));
  }
  registry::ChannelRecord channel() { return registry::require_channel(*store_, "stable")->record; }
  VerifiedMoves verified() {
    auto moves = verify_moves(*store_, channel());
    EXPECT_TRUE(moves) << render(moves.error());
    return moves.value_or(VerifiedMoves{});
  }
  std::string code(std::uint64_t generation, const Key& key) {
    auto done = acknowledge(*store_, {k_stable, generation}, author(key));
    return done ? "" : done.error().code;
  }

  const std::string k_stable = "stable";
  Ed25519PrivateKey lead_ = *Ed25519PrivateKey::create(), thief_ = *Ed25519PrivateKey::create();
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
  registry::SealedSet set_;
};

TEST_F(Acknowledging, OneWhoMayAnswersForAnUnsignedMove) {
  auto bound = channel().guard.policy;
  by_hand(registry::Action::promote, {}, bound);
  ASSERT_EQ(verified().findings.size(), 1u);
  const auto before = channel();
  EXPECT_EQ(code(1, lead_), "O052") << "that move is signed";
  EXPECT_EQ(code(9, lead_), "O052");
  EXPECT_EQ(code(2, {}), "O041");
  EXPECT_EQ(code(2, thief_), "O041");
  EXPECT_EQ(channel().generation, before.generation) << "nothing was changed";
  EXPECT_EQ(code(2, lead_), "");
  auto moves = verified();
  EXPECT_TRUE(moves.findings.empty());
  ASSERT_EQ(moves.acknowledged.size(), 1u);
  EXPECT_EQ(moves.acknowledged[0].severity, Severity::note);
  EXPECT_NE(moves.acknowledged[0].message.find("by lead: a drill"), std::string::npos);
  EXPECT_EQ(channel().view, before.view) << "what the move showed stays";
  EXPECT_TRUE(verify_last_move(*store_, channel()));
  EXPECT_EQ(code(2, lead_), "O052") << "once is enough";
}

// Whoever writes to the store lifts the protection, binds a policy with a key of their own, and answers for it.
TEST_F(Acknowledging, AForgedPolicyDoesNotSayWhoMay) {
  auto forged = policy(thief_);
  ASSERT_TRUE(registry::put_policy(*store_, {gate::canonical_json(forged)}));
  by_hand(registry::Action::unprotect, {}, {});
  by_hand(registry::Action::protect, thief_, *registry::PolicyDigest::parse(forged.digest));
  ASSERT_EQ(verified().findings.size(), 1u);
  EXPECT_EQ(code(2, thief_), "O041") << "the lawful policy does not know that key";
  publish::Reason reason;
  reason.action = registry::Action::acknowledge;
  reason.when = author({}).when;
  reason.key = thief_;
  reason.acknowledges = channel().ledger;
  auto chain = registry::ledger_chain(*store_, channel());
  for (const auto& move : *chain)
    if (move.record.generation == 2) reason.acknowledges = move.digest;
  auto view = registry::make_view({set_});
  ASSERT_TRUE(publish::move_channel(*store_, "stable", *registry::read_channel(*store_, "stable"), *view, reason));
  EXPECT_EQ(verified().findings.size(), 1u) << "it counts for nothing";
}

TEST_F(Acknowledging, TheLawMayHaveChangedLawfully) {
  auto next = *Ed25519PrivateKey::create();
  by_hand(registry::Action::promote, {}, channel().guard.policy);
  ASSERT_TRUE(protect(*store_, "stable", policy(next), author(lead_)));
  EXPECT_EQ(code(2, lead_), "O041") << "the old key";
  EXPECT_EQ(code(2, next), "");
  EXPECT_TRUE(verified().findings.empty());
}

} // namespace
} // namespace quarry::promote
