#include "promote/fed_moves.hpp"

#include "gate/testing/policies.hpp"
#include "promote/verify_fed.hpp"
#include "promote/withdraw_from.hpp"
#include "publish/adoption.hpp"
#include "publish/distribute.hpp"
#include "registry/testing/samples.hpp"
#include "signature/stored.hpp"
#include "store/testing/faulty_store.hpp"
#include <fmt/core.h>
#include <functional>
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
  void feed(const registry::SealedSet& set, const std::optional<gate::Policy>& law,
            const std::optional<Ed25519PrivateKey>& key = {}) {
    auto planned = publish::plan_distribution({set}, k_there);
    ASSERT_TRUE(planned);
    publish::DistributeOptions options{k_fed_at, 1};
    options.key = key;
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
  EXPECT_EQ(line.rollback(2), "") << "takes back the yank itself";
  EXPECT_EQ(line.rollback(1), "O063") << "an earlier yank needs somebody who may unblock";
  ASSERT_EQ(line.unblock("bad-1.tar.gz"), "");
  EXPECT_EQ(line.rollback(1), "");
}

TEST(FedMoves, AYankIsTakenBackToWhatWasShownThenAndNotFurther) {
  Line line;
  line.feed(line.tested, line.law(false)); // 1
  line.feed(line.newer, line.law(false));  // 2
  ASSERT_EQ(line.yank("a-1.tar.gz"), "");  // 3
  EXPECT_EQ(line.rollback(1), "O063");
  EXPECT_EQ(line.rollback(2), "");
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

/// What verify_moves_there() finds: code and message of each.
std::vector<std::string> found_there(Line& line) {
  auto verified = verify_moves_there(*line.other, line.now());
  if (!verified) return {render(verified.error())};
  std::vector<std::string> found;
  for (const auto& one : verified->findings) found.push_back(one.code + " " + one.message);
  return found;
}

/// A move of somebody who can write to the bucket and has no key.
void forge(Line& line, registry::Action action, const std::function<void(registry::Distribution&)>& change,
           const std::optional<Ed25519PrivateKey>& key = {}) {
  auto now = registry::require_distribution(*line.other, k_there);
  ASSERT_TRUE(now) << render(now.error());
  auto expected = *now;
  change(expected);
  auto done = registry::move_distribution(*line.other, expected, expected.record.shown, {action, {}, "x", k_fed_at, ""},
                                          [&](const registry::DistributionViewDigest& digest) -> Result<void> {
                                            if (key)
                                              TRY_DO(signature::sign(*line.other, {"move", *digest.sha256()}, *key));
                                            return {};
                                          });
  ASSERT_TRUE(done) << render(done.error());
}

TEST(VerifyFedMoves, EachMoveIsSignedByWhomThePolicyNames) {
  Line line;
  line.feed(line.tested, line.law(true), line.lead); // 1
  line.feed(line.newer, line.law(true), line.lead);  // 2
  ASSERT_EQ(line.yank("b-1.tar.gz", line.lead), ""); // 3
  ASSERT_EQ(line.unblock("b-1.tar.gz", line.lead), "");
  ASSERT_EQ(line.rollback(2, line.lead), "");
  EXPECT_TRUE(found_there(line).empty()) << found_there(line).front();
  auto moves = verify_moves_there(*line.other, line.now())->moves;
  ASSERT_EQ(moves.size(), 5u);
  EXPECT_EQ(moves[0].action, "rollback");
  for (const auto& move : moves) EXPECT_EQ(move.by, "lead") << move.generation;
}

TEST(VerifyFedMoves, AMoveThatNobodySignedWhoMayIsFound) {
  for (const auto* word : {"rollback", "promote", "yank", "adopt", "found"})
    for (bool by_stranger : {false, true}) {
      Line line;
      line.feed(line.tested, line.law(true), line.lead);
      line.feed(line.newer, line.law(true), line.lead);
      forge(
          line, registry::Action::read(word), [](auto& now) { now.record.shown.sets.pop_back(); },
          by_stranger ? std::optional(line.stranger) : std::nullopt);
      auto found = found_there(line);
      ASSERT_EQ(found.size(), 1u) << word;
      EXPECT_TRUE(found[0].starts_with(fmt::format("O044 {} of v2/all@3 is not signed by ", word))) << found[0];
      line.feed(line.untested, line.law(true), line.lead); // a signed one after it does not hide it
      EXPECT_EQ(found_there(line), found);
    }
}

TEST(VerifyFedMoves, APolicyThatSomebodyBroughtDoesNotCountByItself) {
  Line line;
  line.feed(line.tested, line.law(true), line.lead);
  auto own = gate::testing::parsed_policy(
      "[[signer]]\nname = \"me\"\nkey = \"" + line.stranger.public_key().base64() + "\"\nsigns = [\"moves\"]\n" +
      "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  auto digest = *registry::put_policy(*line.other, {gate::canonical_json(own)});
  forge(line, registry::Action::promote, [&](auto& now) { now.record.fed_by[0].policy = digest; }, line.stranger);
  ASSERT_EQ(line.rollback(0, line.stranger), "") << "the commands believe the pointer";
  auto found = found_there(line);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("promote of v2/all@2 is not signed by lead; it says that channel stable is protected by"),
            std::string::npos)
      << found[0];
  EXPECT_NE(found[1].find("rollback of v2/all@3 is not signed by lead"), std::string::npos) << found[1];
}

TEST(VerifyFedMoves, AnOpenedDirectoryIsFound) {
  Line line;
  line.feed(line.tested, line.law(true), line.lead);
  forge(line, registry::Action::promote, [](auto& now) { now.record.fed_by.clear(); });
  ASSERT_EQ(found_there(line).size(), 1u);
  EXPECT_NE(found_there(line)[0].find("no protected channel feeds it"), std::string::npos);
}

TEST(VerifyFedMoves, APointerThatWasWrittenByHandIsFound) {
  Line line;
  line.feed(line.tested, line.law(true), line.lead);
  auto now = line.now();
  now.shown.sets.clear();
  auto write = [&] {
    ASSERT_TRUE(
        line.other->put(registry::distribution_key(k_there), content::Rope::literal(registry::to_json(now)), {}));
  };
  write();
  EXPECT_EQ(found_there(line), std::vector<std::string>{"O044 v2/all@1 shows or blocks something else than its last "
                                                        "move left: somebody wrote to the store without Quarry"});
  now = line.now();
  auto cut = registry::distribution_moves(*line.other, now, 1)->front();
  cut.generation = now.generation = 5;
  auto text = registry::to_json(cut);
  now.shown = cut.shown, now.view = registry::DistributionViewDigest(sha256(text));
  ASSERT_TRUE(line.other->put(registry::distribution_view_key(k_there, now.view), content::Rope::literal(text), {}));
  write();
  ASSERT_EQ(found_there(line).size(), 3u) << "nobody signed that record, and it does not lead to the first one";
  EXPECT_NE(found_there(line)[2].find("promote of v2/all@5 names no move before it"), std::string::npos);
  const std::string first = R"("directory":"v2/all","schema":"quarry.distribution/1","sets":[]})"; // the first format
  const auto own = R"({"digest":")" + sha256("{" + first).hex() + "\"," + first;
  ASSERT_TRUE(line.other->put(registry::distribution_key(k_there), content::Rope::literal(own), {}));
  auto read = registry::read_distribution(*line.other, k_there);
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(found_there(line).size(), 1u);
  EXPECT_NE(found_there(line)[0].find("R010 v2/all@1 names no move"), std::string::npos) << found_there(line)[0];
}

TEST(VerifyFedMoves, WhereNothingNeedsToBeSignedNothingIsFound) {
  Line line;
  line.feed(line.untested, std::nullopt);
  line.feed(line.tested, line.law(false));
  ASSERT_EQ(line.rollback(0), "");
  EXPECT_TRUE(found_there(line).empty());
}

TEST(VerifyFedMoves, FilesThatNoMoveTookOverAreFound) {
  for (bool is_signed : {false, true}) {
    Line line;
    line.feed(line.tested, line.law(is_signed), line.lead);
    registry::HistoryFile file;
    file.filename = "demo-1.tar.gz", file.project = "demo", file.version = "1", file.key = k_there + "/demo-1.tar.gz";
    auto later = sys::Timestamp::from_us(k_fed_at.us() + 1'000'000);
    auto taken = registry::put_history(*line.other, {k_there, {file}, later, "x", "", "quarry"});
    ASSERT_TRUE(taken);
    auto verified = verify_moves_there(*line.other, line.now());
    ASSERT_TRUE(verified && verified->findings.size() == 1u);
    EXPECT_EQ(verified->findings[0].code, "P125");
    EXPECT_EQ(verified->findings[0].severity, is_signed ? Severity::error : Severity::warning);
    ASSERT_TRUE(publish::record_adoptions(*line.other, k_there, {line.lead}));
    EXPECT_EQ(found_there(line).size(), 1u) << "nobody has confirmed the record";
    ASSERT_TRUE(publish::record_adoptions(*line.other, k_there, {line.lead, {*taken}}));
    EXPECT_TRUE(found_there(line).empty()) << found_there(line).front();
  }
}

TEST(VerifyFedMoves, SomebodyMayAnswerForAMove) {
  Line line;
  line.feed(line.tested, line.law(true), line.lead);
  forge(line, registry::Action::rollback, [](auto& now) { now.record.shown.sets.clear(); });
  auto code = [&](std::uint64_t generation, const std::optional<Ed25519PrivateKey>& key) {
    auto done = acknowledge_there(*line.other, k_there, generation, {"lead", k_fed_at, "looked at", key});
    return done ? std::string() : done.error().code;
  };
  EXPECT_EQ(code(1, line.lead), "O052");
  EXPECT_EQ(code(9, line.lead), "O052");
  EXPECT_EQ(code(2, std::nullopt), "O041");
  EXPECT_EQ(code(2, line.stranger), "O041");
  ASSERT_EQ(found_there(line).size(), 1u);
  EXPECT_EQ(code(2, line.lead), "");
  EXPECT_TRUE(found_there(line).empty()) << found_there(line).front();
  auto verified = verify_moves_there(*line.other, line.now());
  ASSERT_EQ(verified->acknowledged.size(), 1u);
  EXPECT_NE(verified->acknowledged[0].message.find("by lead: looked at"), std::string::npos);
}

/// A move after which the directory is at generation 4.
struct Moving {
  const char* name;
  std::function<bool(Line&, store::ObjectStore&, const sys::Timestamp&)> run;
};

std::vector<Moving> moves_to_kill() {
  auto options = [](Line& line, const sys::Timestamp& when) {
    auto by_lead = line.options({}, line.lead);
    by_lead.when = when;
    return by_lead;
  };
  return {{"promote",
           [](Line& line, store::ObjectStore& store, const sys::Timestamp& when) {
             publish::DistributeOptions copying{when, 1};
             copying.who = "tester", copying.key = line.lead;
             copying.feeders[k_there] = line.now().fed_by;
             auto planned = publish::plan_distribution({line.untested}, k_there);
             return planned && publish::distribute(*line.source, store, *planned, copying).has_value();
           }},
          {"rollback",
           [=](Line& line, store::ObjectStore& store, const sys::Timestamp& when) {
             return rollback_distribution(store, k_there, options(line, when)).has_value();
           }},
          {"yank",
           [](Line& line, store::ObjectStore& store, const sys::Timestamp& when) {
             auto plan = plan_distribution_withdrawal(store, k_there, {"b-1.tar.gz"});
             return plan && withdraw_from_distribution(store, *plan, {"tester", when, "why", line.lead}).has_value();
           }},
          {"unblock", [=](Line& line, store::ObjectStore& store, const sys::Timestamp& when) {
             return unblock_distribution(store, k_there, {"a-1.tar.gz"}, options(line, when)).has_value();
           }}};
}

void prepare_to_kill(Line& line) {
  line.feed(line.tested, line.law(true), line.lead);
  line.feed(line.newer, line.law(true), line.lead);
  ASSERT_EQ(line.yank("a-1.tar.gz", line.lead), "");
}

// The record and its signature are written before the pointer: without the record of the killed run a signed one would
// stay behind that nobody can explain.
TEST(VerifyFedMoves, AKilledMoveIsCompletedByTheSameCommand) {
  using store::testing::FaultyStore;
  const auto later = sys::Timestamp::from_us(k_fed_at.us() + 60'000'000);
  for (const auto& moving : moves_to_kill()) {
    bool whole = false;
    for (std::uint64_t at = 1; !whole; ++at) {
      Line line;
      prepare_to_kill(line);
      FaultyStore dying(*line.other, {FaultyStore::Fault::die_before, at, false});
      whole = moving.run(line, dying, k_fed_at) && !dying.fired();
      moving.run(line, *line.other, later); // where only its last page was missing, there is nothing to do any more
      SCOPED_TRACE(fmt::format("{} killed at {}: {}", moving.name, at, dying.log().back()));
      EXPECT_EQ(line.now().generation, 4u);
      EXPECT_EQ(found_there(line), std::vector<std::string>());
    }
  }
}

TEST(VerifyFedMoves, ARecordOfSomebodyElseIsNotTakenForThatOfAKilledRun) {
  for (bool is_signed : {false, true}) {
    Line line;
    prepare_to_kill(line);
    auto now = *registry::require_distribution(*line.other, k_there);
    auto next = plan_distribution_rollback(*line.other, k_there, {});
    ASSERT_TRUE(next) << render(next.error());
    auto far = *sys::Timestamp::parse("2099-01-01T00:00:00Z");
    registry::DistributionView forged{k_there,
                                      now.record.generation + 1,
                                      now.record.view,
                                      next->next,
                                      {registry::Action::rollback, next->digest, "tester", far, "why"},
                                      now.record.fed_by};
    auto text = registry::to_json(forged);
    registry::DistributionViewDigest digest(sha256(text));
    ASSERT_TRUE(line.other->put(registry::distribution_view_key(k_there, digest), content::Rope::literal(text), {}));
    if (is_signed) {
      ASSERT_TRUE(signature::sign(*line.other, {"move", *digest.sha256()}, line.stranger));
    }
    ASSERT_EQ(line.rollback({}, line.lead), "");
    EXPECT_EQ(registry::distribution_moves(*line.other, line.now(), 1)->front().move.when, k_fed_at);
  }
}

TEST(FedMoves, AnUndoIsNamedOnlyIfItWillBeTaken) {
  Line line;
  line.feed(line.untested, std::nullopt);
  line.feed(line.tested, line.law(false)); // 2: shows both
  ASSERT_EQ(line.yank("a-1.tar.gz"), "");
  EXPECT_TRUE(check_undo_there(*line.other, k_there));
  ASSERT_EQ(line.yank("bad-1.tar.gz"), "");
  EXPECT_EQ(check_undo_there(*line.other, k_there).error().code, "O018");
  Line other;
  other.feed(other.tested, other.law(true, "\"yank\""));
  ASSERT_EQ(other.yank("a-1.tar.gz", other.lead), "");
  EXPECT_EQ(check_undo_there(*other.other, k_there).error().code, "O041");
}

} // namespace
} // namespace quarry::promote
