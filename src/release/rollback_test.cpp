#include "release/rollback.hpp"

#include "gate/testing/policies.hpp"
#include "promote/guard.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/testing/samples.hpp"
#include "release/plan.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::release {
namespace {

using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::int64_t k_undo_now_us = *sys::parse_rfc3339("2026-11-20T12:00:00Z");
const std::vector<std::string> k_undo_families = {"gfx110X-all", "gfx94X-dcgpu"};
const std::string k_all = "stable-gfx110x-all", k_dcgpu = "stable-gfx94x-dcgpu";

gate::Policy open_policy() {
  return gate::testing::parsed_policy("mode = \"report_only\"\n[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\n"
                                      "pythons=[\"*\"]\nsuites=[\"smoke\"]\n");
}

promote::Options undo_options(int minute = 30) {
  return {"tester", sys::Timestamp::from_us(k_undo_now_us + minute * 60'000'000ll), "why", {}, false};
}

/// A store whose channels `stable-{family}` got releases.
struct Released {
  std::unique_ptr<store::ObjectStore> own = store::make_memory_store();
  store::ObjectStore& store = *own;
  int minute = 0;

  std::vector<registry::SealedSet> sets_of(const std::string& version, const std::vector<std::string>& families) {
    std::vector<registry::SealedSet> sets;
    for (const auto& family : families) {
      auto digest = registry::testing::put_sample_set(
          store, version + "-linux/python/" + family,
          {{"rocm-" + version + ".tar.gz", "rocm", version, "families: " + family}}, family);
      EXPECT_TRUE(registry::seal(store, digest, sys::Timestamp::from_us(k_undo_now_us)));
      sets.push_back(*registry::load_sealed(store, digest));
    }
    return sets;
  }
  void promote(const std::string& version, const std::vector<std::string>& families = k_undo_families) {
    Request request;
    request.source.resolved.source = "release:" + version;
    request.source.resolved.sets = sets_of(version, families);
    request.pattern = "stable-{family}";
    request.policy_of = [](const std::string&) -> Result<gate::Policy> { return open_policy(); };
    request.now_us = k_undo_now_us;
    auto done = promote_all(store, request, {undo_options(++minute), {}});
    ASSERT_TRUE(done) << render(done.error());
  }
  Result<ReleaseRollback> undo(const promote::Options& options = undo_options()) {
    return rollback_release(store, {"stable-{family}", {}}, options);
  }
  std::vector<std::string> shown(const std::string& channel) {
    auto now = registry::require_channel(store, channel);
    std::vector<std::string> names;
    for (const auto& file : registry::files_of(*registry::load_whole_view(store, now->record.view)))
      names.push_back(file.filename);
    return names;
  }
};

const std::vector<std::string> k_both = {"rocm-7.0.tar.gz", "rocm-7.1.tar.gz"}, k_first = {"rocm-7.0.tar.gz"};

TEST(RollbackOfARelease, EveryChannelThatItMovedGoesBackByOnePlan) {
  Released line;
  line.promote("7.0");
  line.promote("7.1");
  auto look = undo_options();
  look.dry_run = true;
  auto planned = line.undo(look);
  ASSERT_TRUE(planned) << render(planned.error());
  EXPECT_TRUE(planned->moves());
  EXPECT_EQ(planned->source, "release:7.1");
  for (const auto& channel : {k_all, k_dcgpu}) EXPECT_EQ(line.shown(channel), k_both) << "a dry run changes nothing";
  auto other = undo_options();
  other.execute = *registry::ReviewedPlan::parse(std::string(64, '0'));
  EXPECT_EQ(line.undo(other).error().code, "O002");
  auto execute = undo_options();
  execute.execute = registry::ReviewedPlan(planned->digest);
  auto done = line.undo(execute);
  ASSERT_TRUE(done) << render(done.error());
  for (const auto& channel : {k_all, k_dcgpu}) EXPECT_EQ(line.shown(channel), k_first);
  EXPECT_TRUE(line.undo(execute)) << "the same digest is done once";
  for (const auto& channel : {k_all, k_dcgpu}) EXPECT_EQ(line.shown(channel), k_first);
  EXPECT_EQ(line.undo().error().code, "O007") << "a script that runs twice brings nothing back";
}

TEST(RollbackOfARelease, OnlyTheChannelsOfTheLastReleaseGoBack) {
  Released line;
  line.promote("7.0");
  line.promote("7.1", {"gfx94X-dcgpu"});
  auto done = line.undo();
  ASSERT_TRUE(done) << render(done.error());
  ASSERT_EQ(done->parts.size(), 1u);
  EXPECT_EQ(line.shown(k_dcgpu), k_first);
  EXPECT_EQ(line.shown(k_all), k_first);
  EXPECT_EQ(line.undo().error().code, "O007") << "the release before stays";
}

TEST(RollbackOfARelease, AChannelThatItMadeShowsNothing) {
  Released line;
  line.promote("7.0", {"gfx94X-dcgpu"});
  line.promote("7.1");
  ASSERT_TRUE(line.undo());
  EXPECT_EQ(line.shown(k_dcgpu), k_first);
  EXPECT_THAT(line.shown(k_all), ElementsAre());
}

TEST(RollbackOfARelease, MovesThatKeepTheViewDoNotHideIt) {
  Released line;
  line.promote("7.0");
  line.promote("7.1");
  auto policy =
      gate::testing::parsed_policy("openly = [\"nothing_expected\", \"unsigned\"]\n[[require]]\nplatforms=[\"*\"]"
                                   "\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  auto bound = promote::protect(line.store, k_all, policy, {"tester", undo_options(10).when, "why"}, {{}, true});
  ASSERT_TRUE(bound) << render(bound.error());
  ASSERT_TRUE(line.undo());
  for (const auto& channel : {k_all, k_dcgpu}) EXPECT_EQ(line.shown(channel), k_first);
}

TEST(RollbackOfARelease, AnotherMoveSinceIsNotTakenBackWithIt) {
  Released line;
  EXPECT_EQ(line.undo().error().code, "O058") << "nothing was promoted to the pattern";
  line.promote("7.0");
  line.promote("7.1");
  ASSERT_TRUE(promote::rollback(line.store, k_all, undo_options(5)));
  auto again = undo_options(6);
  again.to_generation = 2;
  ASSERT_TRUE(promote::rollback(line.store, k_all, again)); // somebody wants 7.1 there after all
  auto refused = line.undo();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O059");
  EXPECT_THAT(refused.error().message, HasSubstr(k_all));
  EXPECT_EQ(line.shown(k_dcgpu), k_both) << "nothing was changed";
  ASSERT_TRUE(promote::rollback(line.store, k_dcgpu, undo_options(7)));
  again.to_generation = 1;
  ASSERT_TRUE(promote::rollback(line.store, k_dcgpu, again));
  auto done_before = line.undo();
  EXPECT_EQ(done_before.error().code, "O059") << "7.1 is back in one of them by another move";
}

TEST(RollbackOfARelease, EveryChannelIsLookedAtBeforeTheFirstMoves) {
  Released line;
  line.promote("7.0");
  line.promote("7.1");
  auto yanked = registry::require_channel(line.store, k_dcgpu)->record.ledger;
  auto entry = registry::load_ledger(line.store, yanked);
  ASSERT_TRUE(entry);
  ASSERT_TRUE(line.store.remove("views/" + entry->from_view.hex() + ".json")); // of the channel that comes last
  auto refused = line.undo();
  ASSERT_FALSE(refused);
  EXPECT_EQ(line.shown(k_all), k_both);
}

class InterruptedUndo : public ::testing::TestWithParam<FaultyStore::Fault> {};
INSTANTIATE_TEST_SUITE_P(All, InterruptedUndo,
                         ::testing::Values(FaultyStore::Fault::refuse, FaultyStore::Fault::lose_reply,
                                           FaultyStore::Fault::die_before, FaultyStore::Fault::die_after));

TEST_P(InterruptedUndo, TheSameCommandCompletesIt) {
  std::size_t half = 0, deaths = 0;
  for (std::uint64_t at = 1;; at += store::testing::moment_step()) {
    Released line;
    line.promote("7.0");
    line.promote("7.1");
    FaultyStore faulty(line.store, {GetParam(), at, false});
    auto first = rollback_release(faulty, {"stable-{family}", {}}, undo_options());
    if (!faulty.fired()) break;
    SCOPED_TRACE(at);
    ++deaths;
    if (line.shown(k_all) == k_first && line.shown(k_dcgpu) == k_both) {
      ++half;
      bool is_told = GetParam() == FaultyStore::Fault::refuse; // a dead store does not say that it has moved
      if (!first && is_told) {
        EXPECT_EQ(first.error().code, "O060") << render(first.error());
      }
    }
    auto again = line.undo();
    EXPECT_TRUE(again || again.error().code == "O007") << render(again.error());
    for (const auto& channel : {k_all, k_dcgpu}) EXPECT_EQ(line.shown(channel), k_first);
    EXPECT_EQ(publish::testing::violations(line.store), "");
  }
  EXPECT_GT(deaths, 8u);
  EXPECT_GT(half, 0u) << "some runs end between the two channels";
}

} // namespace
} // namespace quarry::release
