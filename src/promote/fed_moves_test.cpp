#include "promote/fed_moves.hpp"

#include "gate/testing/policies.hpp"
#include "promote/withdraw_from.hpp"
#include "publish/distribute.hpp"
#include "registry/testing/samples.hpp"
#include "signature/stored.hpp"
#include "store/testing/faulty_store.hpp"
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

const std::string k_there = "v2/all";
const auto k_fed_at = *sys::Timestamp::parse("2026-11-20T12:00:00Z");

/// A store with two sets, and a distribution in another one.
struct Line {
  std::unique_ptr<store::ObjectStore> source = store::make_memory_store(), other = store::make_memory_store();
  registry::SealedSet untested = registry::testing::sealed_sample(
      *source, "1-linux/python/g", {{"bad-1.tar.gz", "bad", "1"}, {"more-1.tar.gz", "more", "1"}});
  registry::SealedSet tested =
      registry::testing::sealed_sample(*source, "2-linux/python/g", {{"a-1.tar.gz", "a", "1"}});
  registry::SealedSet newer = registry::testing::sealed_sample(*source, "3-linux/python/g", {{"b-1.tar.gz", "b", "1"}});
  Ed25519PrivateKey lead = *Ed25519PrivateKey::create(), stranger = *Ed25519PrivateKey::create();

  gate::Policy law(bool is_signed, const std::string& signs = "\"moves\"") const {
    return gate::testing::parsed_policy(
        (is_signed
             ? "[[signer]]\nname = \"lead\"\nkey = \"" + lead.public_key().base64() + "\"\nsigns = [" + signs + "]\n"
             : "") +
        "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  }
  /// By a channel with this policy; without one by nobody's.
  void feed(const registry::SealedSet& set, const std::optional<gate::Policy>& law) {
    auto planned = publish::plan_distribution({set}, k_there);
    ASSERT_TRUE(planned);
    publish::DistributeOptions options{k_fed_at, 1};
    options.feeders[k_there] = {{"stable", {}, {}}};
    if (law) {
      auto policy = registry::put_policy(*source, {gate::canonical_json(*law)});
      ASSERT_TRUE(policy) << render(policy.error());
      options.feeders[k_there] = {{"stable", *policy, registry::LedgerDigest(sha256(std::string("a move")))}};
    }
    auto done = publish::distribute(*source, *other, *planned, options);
    ASSERT_TRUE(done) << render(done.error());
  }
  Options options(std::optional<std::uint64_t> to, const std::optional<Ed25519PrivateKey>& key = {}) const {
    Options options{"tester", k_fed_at, "why", {}, false};
    options.to_generation = to;
    options.key = key;
    return options;
  }
  /// The code of the refusal; empty: it moved, or had nothing to do.
  std::string rollback(std::optional<std::uint64_t> to, const std::optional<Ed25519PrivateKey>& key = {}) {
    auto done = rollback_distribution(*other, k_there, options(to, key));
    return done ? "" : done.error().code;
  }
  std::string yank(const std::string& file, const std::optional<Ed25519PrivateKey>& key = {}) {
    auto plan = plan_distribution_withdrawal(*other, k_there, {file});
    if (!plan) return plan.error().code;
    auto done = withdraw_from_distribution(*other, *plan, {"tester", k_fed_at, "why", key});
    return done ? "" : done.error().code;
  }
  std::string unblock(const std::string& file, const std::optional<Ed25519PrivateKey>& key = {}) {
    auto done = unblock_distribution(*other, k_there, {file}, options({}, key));
    return done ? "" : done.error().code;
  }
  registry::DistributionRecord now() { return registry::require_distribution(*other, k_there)->record; }
};

TEST(FedMoves, AStateFromBeforeItWasFedDoesNotComeBack) {
  Line line;
  line.feed(line.untested, std::nullopt); // generation 1
  ASSERT_EQ(line.rollback(0), "");
  line.feed(line.tested, line.law(false)); // 3
  auto before = line.now();
  EXPECT_EQ(line.rollback(1), "O018");
  EXPECT_EQ(registry::to_json(line.now()), registry::to_json(before));
  auto dry = line.options(1);
  dry.dry_run = true;
  EXPECT_EQ(rollback_distribution(*line.other, k_there, dry).error().code, "O018") << "the plan says it already";
  line.feed(line.newer, line.law(false)); // 4
  EXPECT_EQ(line.rollback({}), "") << "what leaves needs no verdict";
  EXPECT_EQ(line.rollback(4), "") << "what the channel has brought comes back";
}

TEST(FedMoves, WhatWasThereBeforeStaysAndDoesNotComeBackOnceItHasLeft) {
  Line line;
  line.feed(line.untested, std::nullopt);
  line.feed(line.tested, line.law(false)); // 2: shows both
  EXPECT_EQ(line.now().shown.sets.size(), 2u);
  ASSERT_EQ(line.yank("bad-1.tar.gz"), "");
  EXPECT_EQ(line.rollback(2), "O018");
  ASSERT_EQ(line.yank("a-1.tar.gz"), "");
  EXPECT_EQ(line.rollback(3), "") << "of the untested set nothing comes back";
  EXPECT_EQ(line.now().shown.sets.size(), 2u);
}

TEST(FedMoves, TheHintLetsItInAgain) {
  Line line;
  line.feed(line.untested, std::nullopt);
  line.feed(line.tested, line.law(true));   // 2: shows both
  line.feed(line.untested, line.law(true)); // shown already, so this promotion adds nothing
  ASSERT_EQ(line.rollback(0, line.lead), "");
  auto refused = rollback_distribution(*line.other, k_there, line.options(2, line.lead));
  ASSERT_FALSE(refused);
  auto text = render(refused.error());
  EXPECT_NE(text.find("no promotion has added it since"), std::string::npos) << text;
  EXPECT_NE(text.find("/v2/all more-1.tar.gz --reason TEXT --sign KEY`"), std::string::npos) << text;
  ASSERT_EQ(line.unblock("bad-1.tar.gz", line.lead), "");
  ASSERT_EQ(line.unblock("more-1.tar.gz", line.lead), "");
  line.feed(line.untested, line.law(true));
  EXPECT_EQ(line.now().shown.sets.size(), 1u);
}

TEST(FedMoves, APartOfASetComesBackAsTheSetWouldHave) {
  Line line;
  line.feed(line.untested, line.law(false));
  ASSERT_EQ(line.yank("bad-1.tar.gz"), "");  // 2: a part of the set
  ASSERT_EQ(line.yank("more-1.tar.gz"), ""); // 3
  EXPECT_EQ(line.rollback(2), "");
  EXPECT_EQ(line.rollback(1), "");
}

TEST(FedMoves, AnOpenDistributionLetsNothingInForLater) {
  Line line;
  line.feed(line.tested, line.law(false)); // 1
  auto opened = registry::require_distribution(*line.other, k_there);
  opened->record.fed_by.clear(); // as a promotion of the channel does that is not protected any more
  ASSERT_TRUE(registry::move_distribution(*line.other, *opened, {}, {registry::Action::promote, {}, "", k_fed_at, ""}));
  EXPECT_EQ(line.rollback(1), "") << "nobody guards it";
  ASSERT_EQ(line.rollback(0), "");
  line.feed(line.newer, line.law(false));
  EXPECT_EQ(line.rollback(1), "O018") << "another policy may have let that in";
}

TEST(FedMoves, MovesOfOlderProgramsLetNothingIn) {
  Line line;
  line.feed(line.tested, line.law(false)); // 1
  line.feed(line.newer, line.law(false));  // 2
  auto now = line.now();
  auto moves = registry::distribution_moves(*line.other, now, 9);
  ASSERT_TRUE(moves);
  registry::DistributionViewDigest previous;
  for (auto move : {moves->at(1), moves->at(0)}) { // as they wrote them: the pointer alone says who fed it
    EXPECT_EQ(move.fed_by, now.fed_by);
    move.fed_by.clear();
    move.previous = previous;
    auto text = registry::to_json(move);
    EXPECT_EQ(text.find("fed_by"), text.npos);
    previous = registry::DistributionViewDigest(sha256(text));
    ASSERT_TRUE(line.other->put(registry::distribution_view_key(k_there, previous), content::Rope::literal(text), {}));
  }
  now.view = previous;
  ASSERT_TRUE(line.other->put(registry::distribution_key(k_there), content::Rope::literal(registry::to_json(now)), {}));
  EXPECT_EQ(line.rollback({}), "") << "what leaves needs no verdict";
  EXPECT_EQ(line.rollback(2), "O018");
  line.feed(line.tested, line.law(false));
  ASSERT_EQ(line.unblock("b-1.tar.gz"), "");
  line.feed(line.newer, line.law(false));
  EXPECT_EQ(line.now().shown.sets.size(), 2u) << "a promotion brings it";
}

TEST(FedMoves, MovesAreSignedAsThoseOfTheChannel) {
  Line line;
  line.feed(line.tested, line.law(true)); // 1
  line.feed(line.newer, line.law(true));  // 2
  auto before = line.now();
  for (const auto& key : {std::optional<Ed25519PrivateKey>(), std::optional(line.stranger)}) {
    EXPECT_EQ(line.rollback(1, key), "O041");
    EXPECT_EQ(line.rollback({}, key), "O041");
    EXPECT_EQ(line.yank("b-1.tar.gz", key), "O041");
    EXPECT_EQ(registry::to_json(line.now()), registry::to_json(before));
  }
  ASSERT_EQ(line.yank("b-1.tar.gz", line.lead), "");
  EXPECT_EQ(line.unblock("b-1.tar.gz"), "O041");
  EXPECT_EQ(line.rollback(2), "O041") << "nor does it bring back what was taken out";
  ASSERT_EQ(line.unblock("b-1.tar.gz", line.lead), "");
  ASSERT_EQ(line.rollback(2, line.lead), "");
  auto moves = registry::distribution_moves(*line.other, line.now(), 3);
  auto digest = line.now().view;
  for (const auto& move : *moves) { // rollback, unblock, yank
    auto envelopes = signature::load_of(*line.other, *digest.sha256(), {line.lead.public_key()});
    ASSERT_TRUE(envelopes);
    EXPECT_EQ(envelopes->size(), 1u) << move.generation;
    digest = move.previous;
  }
  EXPECT_EQ(line.rollback(2), "") << "what moves nothing needs no key";
}

TEST(FedMoves, TheStateThatMovesIsTheOneWhoseSignersAreAsked) {
  std::size_t asked = 0;
  for (std::uint64_t at = 1; at < 40; ++at) { // a protected channel feeds it between two requests
    Line line;
    line.feed(line.untested, std::nullopt);
    store::testing::FaultyStore watched(*line.other);
    bool fed = false;
    watched.after_call = [&](std::uint64_t call) {
      if (call == at) line.feed(line.tested, line.law(true)), fed = true;
    };
    auto done = rollback_distribution(watched, k_there, line.options(0));
    if (!fed) break;
    auto last = registry::distribution_moves(*line.other, line.now(), 1)->front();
    bool undone = last.move.action == registry::Action::rollback && !last.fed_by.empty();
    EXPECT_FALSE(undone) << at << ": an unsigned move of what a protected channel feeds";
    if (!done && done.error().code == "O041") ++asked;
  }
  EXPECT_GE(asked, 1u);
}

TEST(FedMoves, EveryPolicyThatFeedsItIsAsked) {
  auto signer = [](const std::string& name, const Ed25519PrivateKey& key) {
    return "[[signer]]\nname = \"" + name + "\"\nkey = \"" + key.public_key().base64() + "\"\nsigns = [\"moves\"]\n";
  };
  for (bool both : {false, true}) {
    Line line;
    line.feed(line.tested, line.law(true)); // by stable, with the key of the lead
    auto second = gate::testing::parsed_policy(
        signer("second", line.stranger) + (both ? signer("lead", line.lead) : "") +
        "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
    auto now = registry::require_distribution(*line.other, k_there);
    auto feeder = now->record.fed_by.front();
    feeder.channel = "weekly"; // behind stable
    feeder.policy = *registry::put_policy(*line.other, {gate::canonical_json(second)});
    now->record.fed_by.push_back(feeder);
    ASSERT_TRUE(registry::move_distribution(*line.other, *now, now->record.shown,
                                            {registry::Action::promote, {}, "", k_fed_at, ""}));
    EXPECT_EQ(line.yank("a-1.tar.gz"), "O041");
    EXPECT_EQ(line.yank("a-1.tar.gz", line.stranger), "O041") << "stable's policy does not name that key";
    EXPECT_EQ(line.yank("a-1.tar.gz", line.lead), both ? "" : "O041");
  }
}

TEST(FedMoves, ThePolicySaysWhoMaySignWhichMove) {
  Line line;
  line.feed(line.tested, line.law(true, "\"yank\""));
  EXPECT_EQ(line.rollback(0, line.lead), "O041");
  EXPECT_EQ(line.yank("a-1.tar.gz", line.lead), "");
  EXPECT_EQ(line.unblock("a-1.tar.gz", line.lead), "O041");
}

TEST(FedMoves, APolicyThatIsNotThereStopsThem) {
  Line line;
  line.feed(line.tested, line.law(true));
  auto policy = line.now().fed_by.front().policy;
  ASSERT_TRUE(line.other->remove(registry::policy_key(policy))); // as where an earlier version fed it
  auto refused = rollback_distribution(*line.other, k_there, line.options(0, line.lead));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R010");
  EXPECT_NE(render(refused.error()).find("promote --to-store"), std::string::npos) << render(refused.error());
  line.feed(line.tested, line.law(true));
  EXPECT_EQ(line.rollback(0, line.lead), "") << "the same promotion brings the policy";
}

TEST(FedMoves, NobodyAsksWhereNoProtectedChannelFeeds) {
  Line line;
  line.feed(line.untested, std::nullopt);
  EXPECT_EQ(line.rollback(0), "");
  EXPECT_EQ(line.rollback(1), "");
  EXPECT_EQ(line.yank("bad-1.tar.gz", line.lead), "");
  EXPECT_EQ(line.unblock("bad-1.tar.gz"), "");
  auto signatures = line.other->list("signatures/");
  ASSERT_TRUE(signatures);
  EXPECT_TRUE(signatures->empty());
}

} // namespace
} // namespace quarry::promote
