// A channel becomes protected only with files that a verdict of its policy has let in, or that somebody answers for.
#include "promote/guard.hpp"

#include "gate/testing/policies.hpp"
#include "promote/promote.hpp"
#include "promote/withdraw.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const auto k_time_of_untested = *sys::Timestamp::parse("2026-11-20T12:00:00Z");

gate::Policy smoke_rules(const std::string& more = "") {
  return gate::testing::parsed_policy(more + "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\n"
                                             "suites=[\"smoke\"]\n");
}

class Untested : public ::testing::Test {
protected:
  registry::SealedSet set(const std::string& run, const std::string& name) {
    return registry::testing::sealed_sample(
        *store_, run + "-linux/python/g",
        {{name + "-1-py3-none-any.whl", name, "1"}, {name + "_more-1-py3-none-any.whl", name + "-more", "1"}});
  }
  void publish_set(const registry::SealedSet& sealed) {
    publish::Reason reason;
    reason.action = registry::Action::publish;
    reason.when = k_time_of_untested;
    ASSERT_TRUE(publish::add_sets(*store_, "stable", {sealed}, reason));
  }
  void pass(const registry::SealedSet& sealed) { pass(sealed, sealed.set.files); }
  void pass(const registry::SealedSet& sealed, const std::vector<registry::FileRecord>& files) {
    registry::EvidenceRecord e;
    e.subjects = files;
    e.cell = {Platform::linux, "", "3.12", ""};
    e.suite = "smoke";
    e.result = registry::Outcome::passed;
    e.passed = 1;
    e.started = e.ended = k_time_of_untested;
    e.set = sealed.digest;
    e.sealed = true;
    ASSERT_TRUE(registry::put_evidence(*store_, e));
  }
  void promote_set(const registry::SealedSet& sealed, const gate::Policy& policy) {
    registry::Resolved source;
    source.source = "set";
    source.sets = {sealed};
    auto done = promote::promote(*store_, {source, "stable", policy, false, k_time_of_untested.us()},
                                 {"ann", k_time_of_untested, "why", {}, false});
    ASSERT_TRUE(done) << render(done.error());
    ASSERT_TRUE(done->moved);
  }
  /// The code of the refusal; "" if the channel is protected then.
  std::string protect(const std::vector<std::string>& trusted = {}, const gate::Policy& policy = smoke_rules()) {
    Binding binding;
    binding.trusted = trusted;
    auto done = promote::protect(*store_, "stable", policy, {"ann", k_time_of_untested, "why"}, binding);
    details_ = done ? std::vector<std::string>() : done.error().details;
    return done ? "" : done.error().code;
  }
  /// What somebody who may write `ledger/` and the channel's record adds to the channel's last move.
  template <class Change> void forge(const Change& change) {
    auto channel = registry::require_channel(*store_, "stable");
    ASSERT_TRUE(channel);
    auto entry = registry::load_ledger(*store_, channel->record.ledger);
    ASSERT_TRUE(entry);
    entry->previous = channel->record.ledger;
    entry->from_view = entry->to_view;
    ++entry->generation;
    change(*entry);
    auto digest = registry::put_ledger(*store_, *entry);
    ASSERT_TRUE(digest);
    auto next = channel->record;
    next.ledger = *digest;
    next.generation = entry->generation;
    if (entry->guard) next.guard.policy = entry->guard->policy;
    ASSERT_TRUE(registry::swap_channel(*store_, *channel, next));
  }
  bool is_protected() { return !registry::require_channel(*store_, "stable")->record.guard.policy.empty(); }

  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
  std::vector<std::string> details_;
};

TEST_F(Untested, WhatWasPublishedIsNamed) {
  auto tested = set("1", "a"), untested = set("2", "b");
  pass(tested);
  promote_set(tested, smoke_rules());
  publish_set(untested);
  EXPECT_EQ(protect(), "O061");
  EXPECT_FALSE(is_protected());
  EXPECT_THAT(details_,
              ElementsAre(HasSubstr("b-1-py3-none-any.whl  sha256 "), HasSubstr("b_more-1-py3-none-any.whl")));
  Binding all;
  all.trust_shown = true;
  ASSERT_TRUE(promote::protect(*store_, "stable", smoke_rules(), {"ann", k_time_of_untested, "why"}, all));
  EXPECT_TRUE(is_protected());
}

TEST_F(Untested, SomebodyAnswersForFilesByName) {
  auto sealed = set("1", "a");
  publish_set(sealed);
  EXPECT_EQ(protect({"a-1-py3-none-any.whl"}), "O061");
  EXPECT_THAT(details_, ElementsAre(HasSubstr("a_more-1")));
  EXPECT_EQ(protect({"a-1-py3-none-any.whl", "b-1-py3-none-any.whl"}), "O024") << "a typing error";
  EXPECT_FALSE(is_protected());
  EXPECT_EQ(protect({"a-1-py3-none-any.whl", sealed.set.files[1].sha256.hex()}), "");
  ASSERT_TRUE(unprotect(*store_, "stable", {"ann", k_time_of_untested, "why"}));
  EXPECT_EQ(protect(), "O061") << "who answered once is asked again";
  EXPECT_EQ(protect({"set:" + sealed.digest.short_hex(), "a-1-py3-none-any.whl"}), "");
}

TEST_F(Untested, WhatThePolicyLetInIsNotAskedFor) {
  auto sealed = set("1", "a");
  pass(sealed);
  promote_set(sealed, smoke_rules());
  EXPECT_EQ(protect(), "");
  EXPECT_EQ(protect({}, smoke_rules("approvers = [\"lead\"]\n")), "") << "all was let in under the policy before";
}

TEST_F(Untested, WhatAnotherPolicyLetInIs) {
  auto sealed = set("1", "a");
  pass(sealed);
  promote_set(sealed, smoke_rules("approvers = [\"anybody\"]\n"));
  EXPECT_EQ(protect(), "O061");
  EXPECT_EQ(details_.size(), 2u);
}

TEST_F(Untested, AReportThatHoldsNothingLetsNothingIn) {
  promote_set(set("1", "a"), smoke_rules("mode = \"report_only\"\n"));
  EXPECT_EQ(protect(), "O061");
}

TEST_F(Untested, WhatStaysOfAJudgedSetWasLetIn) {
  auto sealed = set("1", "a");
  pass(sealed);
  promote_set(sealed, smoke_rules());
  auto plan = plan_withdrawal(*store_, "stable", {"a_more-1-py3-none-any.whl"});
  ASSERT_TRUE(plan) << render(plan.error());
  ASSERT_TRUE(withdraw(*store_, *plan, {"ann", k_time_of_untested, "why"}));
  EXPECT_EQ(protect(), "");
}

TEST_F(Untested, APartThatIsNotOfTheSetThatItNamesWasNot) {
  auto sealed = set("1", "a");
  pass(sealed);
  promote_set(sealed, smoke_rules());
  auto plan = plan_withdrawal(*store_, "stable", {"set:" + sealed.digest.hex()});
  ASSERT_TRUE(withdraw(*store_, *plan, {"ann", k_time_of_untested, "why"}));
  registry::SetRecord forged;
  forged.directory = "9-linux/python/g";
  forged.subset_of = sealed.digest;
  forged.files = {sealed.set.files[0]};
  forged.files[0].sha256 = sha256("something else");
  forged.files[0].key = "9-linux/python/g/dist/" + forged.files[0].filename;
  auto digest = registry::put_set(*store_, forged);
  ASSERT_TRUE(digest);
  ASSERT_TRUE(registry::seal(*store_, *digest, k_time_of_untested));
  publish_set(*registry::load_sealed(*store_, *digest));
  EXPECT_EQ(protect(), "O061");
}

TEST_F(Untested, AVerdictOnAPartLetsInThatPart) {
  auto whole = set("1", "a");
  auto part = whole.set;
  part.subset_of = whole.digest;
  part.files.pop_back();
  auto digest = registry::put_set(*store_, part);
  ASSERT_TRUE(digest && registry::seal(*store_, *digest, k_time_of_untested));
  pass(whole, part.files);
  promote_set(*registry::load_sealed(*store_, *digest), smoke_rules());
  publish_set(whole);
  EXPECT_EQ(protect(), "O061");
  EXPECT_THAT(details_, ElementsAre(HasSubstr("a_more-1")));
}

TEST_F(Untested, AVerdictOfAnotherChannelOrMoveLetsNothingIn) {
  auto sealed = set("1", "a");
  pass(sealed);
  publish_set(sealed);
  registry::Resolved source;
  source.source = "set";
  source.sets = {sealed};
  ASSERT_TRUE(promote::promote(*store_, {source, "other", smoke_rules(), false, k_time_of_untested.us()},
                               {"ann", k_time_of_untested, "why", {}, false}));
  auto taken = registry::load_ledger(*store_, registry::require_channel(*store_, "other")->record.ledger)->verdict;
  forge([&](registry::LedgerRecord& entry) {
    entry.action = registry::Action::promote;
    entry.verdict = taken;
  });
  EXPECT_EQ(protect(), "O061");
}

TEST_F(Untested, AMoveThatOnlySaysThatAPolicyIsBoundIsNotOneThatBoundIt) {
  publish_set(set("1", "a"));
  auto policy = registry::put_policy(*store_, {gate::canonical_json(smoke_rules())});
  ASSERT_TRUE(policy);
  forge([&](registry::LedgerRecord& entry) {
    entry.guard = registry::GuardAfter{};
    entry.guard->policy = *policy;
  });
  EXPECT_EQ(protect({}, smoke_rules("approvers = [\"lead\"]\n")), "O061");
}

TEST_F(Untested, NamesAreLookedAtAlsoWhereNobodyAsks) {
  EXPECT_EQ(protect({"a-1-py3-none-any.whl"}), "O024") << "a channel that does not exist";
  auto sealed = set("1", "a");
  publish_set(sealed);
  EXPECT_EQ(protect({"set:" + sealed.digest.hex()}), "");
  EXPECT_EQ(protect({"b"}, smoke_rules("approvers = [\"lead\"]\n")), "O024") << "one that is protected already";
}

TEST_F(Untested, ALostVerdictLetsNothingInAndBlocksNobody) {
  auto sealed = set("1", "a");
  pass(sealed);
  promote_set(sealed, smoke_rules());
  auto verdict = registry::load_ledger(*store_, registry::require_channel(*store_, "stable")->record.ledger)->verdict;
  ASSERT_TRUE(store_->remove("verdicts/" + verdict.hex() + ".json"));
  EXPECT_EQ(protect(), "O061");
  EXPECT_EQ(protect({"set:" + sealed.digest.hex()}), "");
}

TEST_F(Untested, AnEmptyChannelIsNotAsked) {
  EXPECT_EQ(protect(), "");
  EXPECT_THAT(details_, IsEmpty());
}

} // namespace
} // namespace quarry::promote
