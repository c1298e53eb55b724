#include "promote/withdraw.hpp"

#include "pages/projection.hpp"
#include "promote/promote.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>

namespace quarry::promote {
namespace {

using publish::testing::violations;
using registry::SealedSet;
using registry::testing::sealed_sample;
using store::testing::FaultyStore;
using ::testing::ElementsAre;

const Author k_withdrawer{"tester", *sys::Timestamp::parse("2026-11-20T12:00:00Z"), "broken"};

/// Run 1 has a and shared, run 2 has b and shared.
std::vector<SealedSet> two_sets(store::ObjectStore& store) {
  std::vector<SealedSet> sets = {
      sealed_sample(store, "1-linux/python/g", {{"a-1.tar.gz", "a", "1"}, {"shared-1.tar.gz", "shared", "1"}}),
      sealed_sample(store, "2-linux/python/g", {{"b-1.tar.gz", "b", "1"}, {"shared-1.tar.gz", "shared", "1"}})};
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_withdrawer.when;
  EXPECT_TRUE(publish::add_sets(store, "nightly", sets, reason));
  EXPECT_TRUE(pages::project_channel(store, "nightly"));
  return sets;
}

std::vector<std::string> shown(store::ObjectStore& store) {
  std::vector<std::string> names;
  auto resolved = registry::resolve_channel(store, "nightly");
  EXPECT_TRUE(resolved) << render(resolved.error());
  for (const auto& file : resolved->files) names.push_back(file.filename);
  return names;
}

TEST(Withdraw, ASetLeavesWithTheFilesThatNoOtherHas) {
  auto store = store::make_memory_store();
  auto sets = two_sets(*store);
  auto plan = plan_withdrawal(*store, "nightly", {"set:" + sets[0].digest.hex()});
  ASSERT_TRUE(plan) << render(plan.error());
  ASSERT_EQ(plan->blocked.size(), 1u);
  EXPECT_EQ(plan->blocked[0].filename, "a-1.tar.gz");
  auto moved = withdraw(*store, *plan, k_withdrawer);
  ASSERT_TRUE(moved) << render(moved.error());
  EXPECT_THAT(shown(*store), ElementsAre("b-1.tar.gz", "shared-1.tar.gz"));
  EXPECT_EQ(moved->channel.guard.blocked.at(0).reason, "broken");
  EXPECT_EQ(violations(*store), "");
}

// Whoever may sign rollbacks need not be somebody who may unblock.
TEST(Withdraw, ALaterRollbackDoesNotUndoIt) {
  auto store = store::make_memory_store();
  two_sets(*store);                                                                                 // 1
  ASSERT_TRUE(withdraw(*store, *plan_withdrawal(*store, "nightly", {"a-1.tar.gz"}), k_withdrawer)); // 2
  auto more = sealed_sample(*store, "3-linux/python/g", {{"c-1.tar.gz", "c", "1"}});
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_withdrawer.when;
  ASSERT_TRUE(publish::add_sets(*store, "nightly", {more}, reason)); // 3
  auto code = [&](std::optional<std::uint64_t> to) {
    Options options{"tester", k_withdrawer.when, "why", {}, false};
    options.to_generation = to;
    auto done = rollback(*store, "nightly", options);
    return done ? std::string() : done.error().code;
  };
  EXPECT_EQ(code(1), "O063");
  EXPECT_EQ(code({}), "") << "what the publish brought leaves";
  EXPECT_EQ(code(1), "O063");
  EXPECT_EQ(code(3), "") << "what a rollback took out comes back by its number";
  EXPECT_THAT(shown(*store), ElementsAre("b-1.tar.gz", "c-1.tar.gz", "shared-1.tar.gz"));
  ASSERT_TRUE(unblock(*store, "nightly", {"a-1.tar.gz"}, k_withdrawer));
  EXPECT_EQ(code(1), "");
  EXPECT_THAT(shown(*store), ElementsAre("a-1.tar.gz", "b-1.tar.gz", "shared-1.tar.gz"));
  ASSERT_TRUE(withdraw(*store, *plan_withdrawal(*store, "nightly", {"a-1.tar.gz"}), k_withdrawer));
  EXPECT_EQ(code({}), "") << "the rollback of the yank itself";
  EXPECT_THAT(shown(*store), ElementsAre("a-1.tar.gz", "b-1.tar.gz", "shared-1.tar.gz"));
}

TEST(Withdraw, ARollbackRightAfterItGoesBackToWhatWasShownThenAndNotFurther) {
  auto store = store::make_memory_store();
  two_sets(*store); // 1
  auto more = sealed_sample(*store, "3-linux/python/g", {{"c-1.tar.gz", "c", "1"}});
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_withdrawer.when;
  ASSERT_TRUE(publish::add_sets(*store, "nightly", {more}, reason));                                // 2
  ASSERT_TRUE(withdraw(*store, *plan_withdrawal(*store, "nightly", {"a-1.tar.gz"}), k_withdrawer)); // 3
  auto code = [&](std::uint64_t to) {
    Options options{"tester", k_withdrawer.when, "why", {}, false};
    options.to_generation = to;
    auto done = rollback(*store, "nightly", options);
    return done ? std::string() : done.error().code;
  };
  EXPECT_EQ(code(1), "O063") << "going back further than the state before the yank does not undo it";
  EXPECT_EQ(code(2), "");
  EXPECT_THAT(shown(*store), ElementsAre("a-1.tar.gz", "b-1.tar.gz", "c-1.tar.gz", "shared-1.tar.gz"));
}

TEST(Withdraw, AFileLeavesEverySet) {
  auto store = store::make_memory_store();
  auto sets = two_sets(*store);
  auto plan = plan_withdrawal(*store, "nightly", {"shared-1.tar.gz"});
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->derived.size(), 2u);
  ASSERT_TRUE(withdraw(*store, *plan, k_withdrawer));
  EXPECT_THAT(shown(*store), ElementsAre("a-1.tar.gz", "b-1.tar.gz"));
  auto twice = plan_withdrawal(*store, "nightly", {"shared-1.tar.gz"});
  ASSERT_TRUE(twice) << render(twice.error());
  EXPECT_FALSE(twice->moves());
  // The whole still names what is left of it.
  auto again = plan_withdrawal(*store, "nightly", {"set:" + sets[1].digest.hex()});
  ASSERT_TRUE(again) << render(again.error());
  ASSERT_TRUE(withdraw(*store, *again, k_withdrawer));
  EXPECT_THAT(shown(*store), ElementsAre("a-1.tar.gz"));
  EXPECT_EQ(violations(*store), "");
}

TEST(Withdraw, WhatSomebodyWroteIntoTheRecordIsNotTakenForAMoveOfBefore) {
  auto store = store::make_memory_store();
  two_sets(*store);
  ASSERT_TRUE(withdraw(*store, *plan_withdrawal(*store, "nightly", {"a-1.tar.gz"}), k_withdrawer));
  EXPECT_FALSE(plan_withdrawal(*store, "nightly", {"a-1.tar.gz"})->moves());
  auto now = *registry::require_channel(*store, "nightly");
  auto edited = now.record;
  edited.guard.blocked.push_back(
      {*registry::testing::digest_named<registry::SetDigest>("x").sha256(), "z-1.tar.gz", "", 1, {}});
  std::ranges::sort(edited.guard.blocked, {}, &registry::BlockedFile::sha256);
  ASSERT_TRUE(registry::swap_channel(*store, now, edited));
  for (const auto* word : {"a-1.tar.gz", "z-1.tar.gz"}) {
    auto again = plan_withdrawal(*store, "nightly", {word});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "O044");
  }
}

TEST(Withdraw, ASetWhoseFilesOthersKeepIsNotTakenOut) {
  auto store = store::make_memory_store();
  two_sets(*store);
  auto same = sealed_sample(*store, "3-linux/python/g", {{"shared-1.tar.gz", "shared", "1"}});
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_withdrawer.when;
  ASSERT_TRUE(publish::add_sets(*store, "nightly", {same}, reason));
  auto plan = plan_withdrawal(*store, "nightly", {"set:" + same.digest.hex()});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, "O026");
  EXPECT_EQ(plan.error().details.size(), 2u);
}

TEST(Withdraw, AWordMayBeSaidTwice) {
  auto store = store::make_memory_store();
  two_sets(*store);
  auto plan = plan_withdrawal(*store, "nightly", {"a-1.tar.gz", "a-1.tar.gz"});
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->blocked.size(), 1u);
}

TEST(Withdraw, WhatTheChannelDoesNotShowIsRefused) {
  auto store = store::make_memory_store();
  two_sets(*store);
  EXPECT_EQ(plan_withdrawal(*store, "nightly", {"a-1.tar.gz", "c-1.tar.gz"}).error().code, "O024");
  EXPECT_EQ(plan_withdrawal(*store, "other", {"a-1.tar.gz"}).error().code, "R015");
}

TEST(Withdraw, AMoveInBetweenIsNotOverwritten) {
  auto store = store::make_memory_store();
  two_sets(*store);
  auto first = plan_withdrawal(*store, "nightly", {"a-1.tar.gz"}),
       second = plan_withdrawal(*store, "nightly", {"b-1.tar.gz"});
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(withdraw(*store, *first, k_withdrawer));
  auto late = withdraw(*store, *second, k_withdrawer);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "R003");
  EXPECT_THAT(shown(*store), ElementsAre("b-1.tar.gz", "shared-1.tar.gz"));
}

TEST(Withdraw, KilledAnywhereTheChannelIsWholeAndTheSameCommandEndsIt) {
  auto counting_store = store::make_memory_store();
  two_sets(*counting_store);
  FaultyStore counting(*counting_store);
  auto plan = plan_withdrawal(counting, "nightly", {"shared-1.tar.gz"});
  ASSERT_TRUE(plan && withdraw(counting, *plan, k_withdrawer));
  for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
    SCOPED_TRACE(counting.log()[n - 1]);
    auto store = store::make_memory_store();
    two_sets(*store);
    FaultyStore faulty(*store, {FaultyStore::Fault::die_after, n, false});
    auto planned = plan_withdrawal(faulty, "nightly", {"shared-1.tar.gz"});
    bool done = planned && withdraw(faulty, *planned, k_withdrawer);
    ASSERT_EQ(violations(*store), "");
    if (done) continue;
    auto again = plan_withdrawal(*store, "nightly", {"shared-1.tar.gz"});
    ASSERT_TRUE(again) << render(again.error());
    ASSERT_TRUE(withdraw(*store, *again, k_withdrawer));
    EXPECT_EQ(registry::require_channel(*store, "nightly")->record.generation,
              again->expected.record.generation + (again->moves() ? 1 : 0));
    EXPECT_THAT(shown(*store), ElementsAre("a-1.tar.gz", "b-1.tar.gz"));
    ASSERT_EQ(violations(*store), "");
  }
}

// What stays is a part of the run's set. A run, and so a release or a lock of it, has the whole.
TEST(Withdraw, WhatStaysIsNotAnOutputOfTheRun) {
  auto store = store::make_memory_store();
  auto sets = two_sets(*store);
  auto plan = plan_withdrawal(*store, "nightly", {"shared-1.tar.gz"});
  ASSERT_TRUE(plan && withdraw(*store, *plan, k_withdrawer));
  auto run = registry::resolve_run(*store, "1-linux");
  ASSERT_TRUE(run) << render(run.error());
  ASSERT_EQ(run->sets.size(), 1u);
  EXPECT_EQ(run->sets[0].digest, sets[0].digest);
  EXPECT_EQ(registry::sealed_sets_below(*store, "1-linux")->size(), 2u) << "the part is sealed all the same";
}

TEST(Withdraw, SaysWhatCannotBeInstalledAnyMore) {
  auto store = store::make_memory_store();
  registry::testing::SampleFile needs{"app-1.0-py3-none-any.whl", "app", "1.0"}, free = needs;
  needs.requires_dist = {"lib==1.0", "elsewhere"};
  free.filename = "tool-1.0-py3-none-any.whl";
  free.project = "tool";
  free.bytes = "another wheel";
  free.requires_dist = {"lib>=1.0"};
  auto set = sealed_sample(
      *store, "1-linux/python/g",
      {needs, free, {"lib-1.0-py3-none-any.whl", "lib", "1.0"}, {"lib-1.1-py3-none-any.whl", "lib", "1.1"}});
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = k_withdrawer.when;
  ASSERT_TRUE(publish::add_sets(*store, "nightly", {set}, reason));
  auto broken = [&](const std::vector<std::string>& what) {
    auto plan = plan_withdrawal(*store, "nightly", what);
    EXPECT_TRUE(plan) << render(plan.error());
    auto found = broken_by(*store, *plan);
    EXPECT_TRUE(found) << render(found.error());
    std::vector<std::string> files;
    for (const auto& finding : *found) files.push_back(finding.code + " " + finding.place);
    return files;
  };
  EXPECT_THAT(broken({"lib-1.0-py3-none-any.whl"}), ElementsAre("O051 app-1.0-py3-none-any.whl"));
  EXPECT_THAT(broken({"lib-1.1-py3-none-any.whl"}), ElementsAre()) << "1.0 is good enough for both";
  EXPECT_THAT(broken({"app-1.0-py3-none-any.whl"}), ElementsAre());
  EXPECT_THAT(broken({"lib-1.0-py3-none-any.whl", "lib-1.1-py3-none-any.whl"}),
              ElementsAre("O051 app-1.0-py3-none-any.whl", "O051 tool-1.0-py3-none-any.whl"));
}

} // namespace
} // namespace quarry::promote
