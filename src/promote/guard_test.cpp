// What a channel shows when it becomes protected counts as let in, so it must be what was sealed.
#include "promote/guard.hpp"

#include "gate/testing/policies.hpp"
#include "pages/projection.hpp"
#include "promote/promote.hpp"
#include "promote/signed_moves.hpp"
#include "publish/garbage.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <algorithm>
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

const Author k_author{"tester", *sys::Timestamp::parse("2026-11-20T12:00:00Z"), "why"};
constexpr std::string_view k_rule =
    "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n";

class Protection : public ::testing::Test {
protected:
  void SetUp() override {
    set_ = registry::testing::sealed_sample(*store_, "1-linux/python/g", {{"a-1-py3-none-any.whl", "a", "1"}});
    publish::Reason reason;
    reason.action = registry::Action::publish;
    reason.when = k_author.when;
    ASSERT_TRUE(publish::add_sets(*store_, "stable", {set_}, reason));
  }
  Result<publish::Guarded> protect(const std::string& more = "") {
    Binding binding;
    binding.trust_shown = true;
    return protect(binding, more);
  }
  Result<publish::Guarded> protect(const Binding& binding, const std::string& more = "") {
    return promote::protect(*store_, "stable", gate::testing::parsed_policy(more + std::string(k_rule)), k_author,
                            binding);
  }
  void overwrite(const std::string& bytes) {
    store::PutOptions options;
    options.sha256 = sha256(bytes);
    ASSERT_TRUE(store_->put(set_.set.files[0].key, content::Rope::literal(bytes), options));
  }
  /// What channel dev shows: a file that no gate has judged.
  registry::ViewDigest view_of_untested() {
    auto set = registry::testing::sealed_sample(*store_, "2-linux/python/g", {{"b-1-py3-none-any.whl", "b", "1"}});
    publish::Reason reason;
    reason.action = registry::Action::publish;
    reason.when = k_author.when;
    EXPECT_TRUE(publish::add_sets(*store_, "dev", {set}, reason));
    return registry::require_channel(*store_, "dev")->record.view;
  }
  std::string page(const std::string& name) { return store_->get("channels/stable/" + name, 1u << 20)->value_or(""); }

  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
  registry::SealedSet set_;
};

TEST_F(Protection, ReadsWhatTheChannelShows) {
  auto good = store_->get(set_.set.files[0].key, 1u << 20)->value_or("");
  overwrite(std::string(good.size(), 'x'));
  auto refused = protect();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O003");
  EXPECT_TRUE(registry::require_channel(*store_, "stable")->record.guard.policy.empty()) << "nothing was changed";
  overwrite(good);
  ASSERT_TRUE(protect());
  // Under another policy nothing new is let in: what the first one found is not read again.
  overwrite(std::string(good.size(), 'x'));
  EXPECT_TRUE(protect("approvers = [\"lead\"]\n"));
}

TEST_F(Protection, IsNotLiftedByWhoWritesTheRecord) {
  ASSERT_TRUE(protect());
  auto now = *registry::require_channel(*store_, "stable");
  auto lifted = now.record;
  lifted.guard = {};
  ASSERT_TRUE(registry::swap_channel(*store_, now, lifted));
  auto more = registry::testing::sealed_sample(*store_, "2-linux/python/g", {{"b-1-py3-none-any.whl", "b", "1"}});
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_author.when;
  auto refused = publish::add_sets(*store_, "stable", {more}, reason);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O044") << render(refused.error());
  auto unchanged = promote::unprotect(*store_, "stable", k_author);
  ASSERT_FALSE(unchanged) << "as if it had never been protected";
  EXPECT_EQ(unchanged.error().code, "O044") << render(unchanged.error());
  ASSERT_TRUE(protect()) << "the way back";
  EXPECT_EQ(publish::add_sets(*store_, "stable", {more}, reason).error().code, "P083");
}

TEST_F(Protection, WhatSomebodyWroteIntoTheRecordIsNotLetInByTheNextMove) {
  ASSERT_TRUE(protect());
  auto now = *registry::require_channel(*store_, "stable");
  auto edited = now.record;
  edited.view = view_of_untested();
  ASSERT_TRUE(registry::swap_channel(*store_, now, edited));
  registry::Resolved source;
  source.sets = {registry::testing::sealed_sample(*store_, "3-linux/python/g", {{"c-1-py3-none-any.whl", "c", "1"}})};
  auto policy = gate::testing::parsed_policy(std::string(k_rule));
  auto plan = promote::plan_promotion(*store_, {source, "stable", policy, false, k_author.when.us()});
  ASSERT_FALSE(plan) << "the untested file would be there below what was tested";
  EXPECT_EQ(plan.error().code, "O044") << render(plan.error());
  EXPECT_EQ(promote::unprotect(*store_, "stable", k_author).error().code, "O044");
  auto put_back = protect();
  ASSERT_TRUE(put_back) << "the way back";
  EXPECT_TRUE(put_back->put_back);
  auto back = *registry::require_channel(*store_, "stable");
  EXPECT_EQ(back.record.view, now.record.view);
  EXPECT_EQ(back.record.generation, now.record.generation + 1);
  EXPECT_EQ(back.record.previous, now.record.previous) << "`protect` was the last move, and changed no view";
  EXPECT_TRUE(registry::ledger_chain(*store_, back.record));
  EXPECT_TRUE(promote::plan_promotion(*store_, {source, "stable", policy, false, k_author.when.us()}));
}

/// A move that somebody wrote into the ledger: it says that the channel is protected, and no `protect` did that.
void forge_move(store::ObjectStore& store, const registry::PolicyDigest& policy, const registry::ViewDigest& view,
                bool behind_the_last) {
  auto now = *registry::require_channel(store, "stable");
  auto forged = now.record;
  forged.guard.policy = policy;
  forged.view = view;
  forged.generation = now.record.generation + 1;
  registry::LedgerRecord move;
  move.channel = "stable";
  move.action = registry::Action::publish;
  if (behind_the_last) move.previous = now.record.ledger;
  move.from_view = now.record.view;
  move.to_view = view;
  move.when = k_author.when;
  move.generation = forged.generation;
  move.guard = registry::summary_of(forged.guard);
  forged.ledger = *registry::put_ledger(store, move);
  ASSERT_TRUE(registry::swap_channel(store, now, forged));
}

TEST_F(Protection, AMoveThatSaysItIsProtectedProtectsNothing) {
  auto policy = *registry::PolicyDigest::parse(gate::testing::parsed_policy(std::string(k_rule)).digest);
  for (bool was_protected : {false, true})
    for (bool behind_the_last : {false, true}) {
      SCOPED_TRACE(::testing::Message() << was_protected << behind_the_last);
      store_ = store::make_memory_store();
      SetUp();
      if (was_protected) {
        ASSERT_TRUE(protect());
      }
      forge_move(*store_, policy, view_of_untested(), behind_the_last);
      auto refused = protect(Binding{});
      ASSERT_FALSE(refused) << "unchanged: as if somebody had let in what it shows";
      EXPECT_EQ(refused.error().code, "O061") << render(refused.error());
      auto answered = protect();
      ASSERT_TRUE(answered) << render(answered.error());
      EXPECT_TRUE(answered->moved);
      auto again = protect(Binding{});
      ASSERT_TRUE(again) << render(again.error());
      EXPECT_FALSE(again->moved) << "bound by a move, and nothing came after it";
    }
}

TEST_F(Protection, ARollbackGoesByTheMovesAndNotByTheRecord) {
  ASSERT_TRUE(protect());
  auto now = *registry::require_channel(*store_, "stable");
  auto edited = now.record;
  edited.previous = view_of_untested();
  ASSERT_TRUE(registry::swap_channel(*store_, now, edited));
  auto plan = promote::plan_rollback(*store_, "stable", std::nullopt);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, "O001") << "the moves show one view only";
}

TEST_F(Protection, ARollbackOfAnyChannelGoesByTheMoves) {
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_author.when;
  auto more = registry::testing::sealed_sample(*store_, "2-linux/python/g", {{"b-1-py3-none-any.whl", "b", "1"}});
  ASSERT_TRUE(publish::add_sets(*store_, "dev", {more}, reason));
  auto first = registry::require_channel(*store_, "stable")->record.view;
  ASSERT_TRUE(publish::add_sets(*store_, "stable", {more}, reason));
  auto now = *registry::require_channel(*store_, "stable");
  auto edited = now.record;
  edited.previous = registry::require_channel(*store_, "dev")->record.view;
  ASSERT_TRUE(registry::swap_channel(*store_, now, edited));
  auto plan = promote::plan_rollback(*store_, "stable", std::nullopt);
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->view.digest, first);
}

TEST_F(Protection, AClockThatIsBehindIsNoticed) {
  registry::Resolved source;
  source.sets = {set_};
  auto notes_at = [&](std::int64_t ahead_us) {
    auto policy = gate::testing::parsed_policy(std::string(k_rule));
    auto plan = promote::plan_promotion(*store_, {source, "stable", policy, false, k_author.when.us() + ahead_us});
    std::vector<std::string> codes;
    for (const auto& note : plan->notes) codes.push_back(note.code);
    return codes;
  };
  EXPECT_EQ(notes_at(-6ll * 60 * 1'000'000), std::vector<std::string>{"O054"});
  EXPECT_TRUE(notes_at(-4ll * 60 * 1'000'000).empty());
}

TEST_F(Protection, IsNotGoneWithTheRecord) {
  ASSERT_TRUE(protect());
  ASSERT_TRUE(pages::project_channel(*store_, "stable"));
  auto record = store_->get("channels/stable.json", 1u << 20)->value_or("");
  ASSERT_TRUE(store_->remove("channels/stable.json"));
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_author.when;
  auto refused = publish::add_sets(*store_, "stable", {set_}, reason);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R026");
  EXPECT_EQ(registry::require_channel(*store_, "stable").error().code, "R026");
  auto kept = publish::collect_garbage(*store_, {});
  ASSERT_FALSE(kept) << "what the channel named is not known";
  EXPECT_EQ(kept.error().code, "R026");
  ASSERT_TRUE(store_->put("channels/stable.json", content::Rope::literal(record), {}));
  EXPECT_EQ(publish::add_sets(*store_, "stable", {set_}, reason).error().code, "P083");
}

TEST(LostChannel, IsNotOneThatAnotherWriterHasJustMade) {
  auto store = store::make_memory_store();
  auto one = registry::testing::sealed_sample(*store, "1-linux/python/g", {{"a-1-py3-none-any.whl", "a", "1"}});
  auto two = registry::testing::sealed_sample(*store, "2-linux/python/g", {{"b-1-py3-none-any.whl", "b", "1"}});
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_author.when;
  store::testing::FaultyStore racing(*store);
  bool made = false;
  racing.after_call = [&](std::uint64_t) { // the first writer has read that there is no channel
    if (made || racing.log().back() != "get channels/stable.json") return;
    made = true;
    ASSERT_TRUE(publish::add_sets(*store, "stable", {one}, reason));
    ASSERT_TRUE(pages::project_channel(*store, "stable"));
  };
  auto added = publish::add_sets(racing, "stable", {two}, reason);
  ASSERT_TRUE(added) << render(added.error());
  EXPECT_TRUE(made);
  EXPECT_EQ(added->channel.record.generation, 2u);
}

TEST_F(Protection, PagesSayWhatThePolicyLacks) {
  ASSERT_TRUE(pages::project_channel(*store_, "stable"));
  const auto open_root = page("index.html"), open_project = page("simple/a/index.html");
  EXPECT_EQ(open_root.find("Unsigned"), open_root.npos);
  ASSERT_TRUE(protect("openly = [\"unsigned\", \"nothing_expected\"]\n"));
  for (const auto* name : {"index.html", "simple/a/index.html"}) {
    EXPECT_NE(page(name).find("Unsigned: the policy of this channel lets results count"), std::string::npos) << name;
    EXPECT_NE(page(name).find("does not say which packages a release must bring"), std::string::npos) << name;
  }
  ASSERT_TRUE(unprotect(*store_, "stable", k_author));
  EXPECT_EQ(page("index.html"), open_root);
  EXPECT_EQ(page("simple/a/index.html"), open_project);
}

// Pages that say nothing would look like those of a policy that lacks nothing.
TEST_F(Protection, PagesSayWhenThePolicyCannotBeRead) {
  ASSERT_TRUE(protect("openly = [\"unsigned\", \"nothing_expected\"]\n"));
  auto key = registry::policy_key(registry::require_channel(*store_, "stable")->record.guard.policy);
  auto record = *store_->get(key, 1u << 20);
  ASSERT_TRUE(store_->remove(key));
  ASSERT_TRUE(pages::project_channel(*store_, "stable", pages::Extent::whole));
  for (const auto* name : {"index.html", "simple/a/index.html"})
    EXPECT_NE(page(name).find("The policy of this channel could not be read"), std::string::npos) << name;
  ASSERT_TRUE(store_->put(key, content::Rope::literal(*record), {}));
  ASSERT_TRUE(pages::project_channel(*store_, "stable"));
  for (const auto* name : {"index.html", "simple/a/index.html"})
    EXPECT_NE(page(name).find("Unsigned: the policy of this channel lets results count"), std::string::npos) << name;
}

// A number or an age; nothing is not an amount to keep.
TEST(HowMuchIsKept, IsANumberOfViewsOrAnAge) {
  constexpr std::int64_t k_hour_us = 3'600'000'000, k_now_us = 1'000'000 * k_hour_us;
  auto views = parse_keep("5", k_now_us);
  ASSERT_TRUE(views && std::holds_alternative<LastViews>(*views));
  EXPECT_EQ(std::get<LastViews>(*views).count, 5u);
  auto since = parse_keep("36h", k_now_us);
  ASSERT_TRUE(since && std::holds_alternative<ViewsSince>(*since));
  EXPECT_EQ(std::get<ViewsSince>(*since).time.us(), k_now_us - 36 * k_hour_us);
  struct Row {
    const char* text;
    const char* why;
  };
  for (const auto& row : {Row{"0d", "an age of zero keeps nothing"}, Row{"00h", "an age of zero keeps nothing"},
                          Row{"0", "a rollback needs the view before the last move"},
                          Row{"1", "a rollback needs the view before the last move"},
                          Row{"", "neither a number nor an age"}, Row{"-1", "neither a number nor an age"},
                          Row{"d", "neither a number nor an age"}, Row{"5 d", "neither a number nor an age"}}) {
    auto bad = parse_keep(row.text, k_now_us);
    ASSERT_FALSE(bad) << row.text;
    EXPECT_EQ(bad.error().code, "O048");
    EXPECT_NE(bad.error().message.find(row.why), std::string::npos) << bad.error().message;
  }
}

// Signers of moves are asked for by the policy that protects a channel, and by no other.
TEST(SignaturesNotAskedFor, AreTold) {
  auto key = Ed25519PrivateKey::create()->public_key().base64();
  auto with = [&](const char* signs) {
    return gate::testing::parsed_policy("[[signer]]\nname = \"lead\"\nkey = \"" + key + "\"\nsigns = [\"" + signs +
                                        "\"]\n" + std::string(k_rule));
  };
  gate::Case open, guarded;
  open.channel = guarded.channel = "stable";
  guarded.bound = registry::PolicyDigest(sha256("a policy"));
  for (const auto* signs : {"moves", "verdicts"}) {
    auto notes = signatures_not_asked_for(open, with(signs));
    ASSERT_EQ(notes.size(), 1u) << signs;
    EXPECT_EQ(notes[0].code, "O050");
    EXPECT_TRUE(signatures_not_asked_for(guarded, with(signs)).empty());
  }
  EXPECT_TRUE(signatures_not_asked_for(open, with("evidence")).empty()) << "results are judged in any case";
}

/// The requests of a rollback to the channel before its last set.
std::uint64_t requests_of_rollback(int sets) {
  auto store = store::make_memory_store();
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_author.when;
  // More files than the front page lists; every page of a smaller channel is looked at by each move.
  std::vector<registry::testing::SampleFile> many;
  for (int i = 0; i < 1001; ++i) {
    auto version = "1." + std::to_string(i);
    many.push_back({"big-" + version + "-py3-none-any.whl", "big", version});
  }
  EXPECT_TRUE(publish::add_sets(*store, "nightly", {registry::testing::sealed_sample(*store, "0-linux/python/g", many)},
                                reason));
  for (int i = 0; i < sets; ++i) {
    auto name = "p" + std::to_string(i);
    auto set = registry::testing::sealed_sample(*store, std::to_string(i + 1) + "-linux/python/g",
                                                {{name + "-1-py3-none-any.whl", name, "1"}});
    EXPECT_TRUE(publish::add_sets(*store, "nightly", {set}, reason));
    EXPECT_TRUE(pages::project_channel(*store, "nightly"));
  }
  store::testing::FaultyStore counting(*store);
  auto rolled = rollback(counting, "nightly", {"tester", k_author.when, "why", {}, false});
  EXPECT_TRUE(rolled) << render(rolled.error());
  auto log = counting.log();
  return static_cast<std::uint64_t>(
      std::count_if(log.begin(), log.end(), [](const auto& call) { return call.find("/simple") == call.npos; }));
}

TEST(Rollback, CostsTheSameHoweverManySetsTheChannelHas) {
  auto few = requests_of_rollback(3);
  EXPECT_EQ(requests_of_rollback(30), few);
  EXPECT_LE(few, 27u) << "calls of the store, beside the pages of the changed project";
}

} // namespace
} // namespace quarry::promote
