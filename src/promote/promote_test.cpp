#include "promote/promote.hpp"

#include "gate/testing/policies.hpp"
#include "pages/projection.hpp"
#include "promote/guard.hpp"
#include "publish/move.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::promote {
namespace {

using publish::testing::differences;
using publish::testing::snapshot;
using publish::testing::violations;
using registry::SealedSet;
using registry::testing::sealed_sample;
using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::int64_t k_now_us = *sys::parse_rfc3339("2026-11-20T12:00:00Z");

gate::Policy policy(const std::string& extra = "") {
  return gate::testing::parsed_policy(
      "approvers = [\"lead\"]\nwaiver_max_age = \"30d\"\n" + extra +
      "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
}

SealedSet release(store::ObjectStore& store, const std::string& version,
                  const std::vector<std::string>& families = {"gfx94x_dcgpu"}) {
  std::vector<registry::testing::SampleFile> files = {
      {"rocm-" + version + ".tar.gz", "rocm", version},
      {"rocm_sdk_core-" + version + "-py3-none-linux_x86_64.whl", "rocm-sdk-core", version}};
  for (const auto& family : families) {
    auto project =
        "rocm-sdk-libraries-" + (family == "gfx94x_dcgpu" ? std::string("gfx94x-dcgpu") : std::string("gfx110x-all"));
    files.push_back({"rocm_sdk_libraries_" + family + "-" + version + "-py3-none-linux_x86_64.whl", project, version});
  }
  auto digits = version;
  std::erase(digits, '.');
  return sealed_sample(store, digits + "-linux/python/g", files);
}

Options options(std::optional<std::string> execute = {}, bool dry_run = false) {
  Options made{"tester", sys::Timestamp::from_us(k_now_us), "why", {}, dry_run};
  if (execute) made.execute = *registry::ReviewedPlan::parse(*execute);
  return made;
}

class Promote : public ::testing::Test {
protected:
  /// Evidence that the cells of this family (all, when empty) passed, for the sets that `request` would move.
  void pass(store::ObjectStore& store, const Request& request, const std::string& family = {}) {
    auto plan = plan_promotion(store, request);
    ASSERT_TRUE(plan) << render(plan.error());
    for (const auto& cell : plan->judgement.verdict.cells) {
      if (!family.empty() && cell.cell.family != family) continue;
      registry::EvidenceRecord evidence;
      for (const auto& sealed : request.source.sets)
        for (const auto& file : sealed.set.files)
          if (sealed.digest == cell.set &&
              std::find(cell.files.begin(), cell.files.end(), file.filename) != cell.files.end())
            evidence.subjects.push_back(file);
      evidence.cell = cell.cell;
      evidence.cell.python = "3.12";
      evidence.suite = "smoke";
      evidence.result = registry::Outcome::passed;
      evidence.passed = 1;
      evidence.started = evidence.ended = *sys::Timestamp::parse("2026-11-20T11:00:00.000000Z");
      evidence.set = cell.set;
      evidence.sealed = true;
      ASSERT_TRUE(registry::put_evidence(store, evidence));
    }
  }
  Request request(const std::vector<SealedSet>& sets, const std::string& channel = "stable") {
    return {{"test", sets, *registry::union_of(sets), {}, 0}, channel, policy(), false, k_now_us, 1};
  }
  Result<Receipt> go(const std::vector<SealedSet>& sets) { return promote(*store_, request(sets), options()); }
  std::vector<std::string> shown(const std::string& channel = "stable") {
    std::vector<std::string> names;
    auto resolved = registry::resolve_channel(*store_, channel);
    for (const auto& file : resolved->files) names.push_back(file.filename);
    return names;
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(Promote, WithoutEvidenceItIsHeldAndNothingIsWritten) {
  auto set = release(*store_, "7.0");
  auto before = snapshot(*store_);
  auto receipt = go({set});
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(receipt->held);
  EXPECT_FALSE(receipt->moved);
  EXPECT_EQ(receipt->writes, 0u);
  EXPECT_EQ(differences(before, snapshot(*store_)), "");
}

TEST_F(Promote, WhatIsReadyMovesByPointerAlone) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  FaultyStore watched(*store_);
  auto receipt = promote(watched, request({set}), options());
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(receipt->moved);
  EXPECT_EQ(receipt->generation, 1u);
  for (const auto& line : watched.log())
    EXPECT_THAT(line, ::testing::Not(::testing::MatchesRegex("(put|copy) .*/dist/.*")));
  EXPECT_EQ(violations(*store_), "");
  EXPECT_EQ(shown().size(), 3u);
  auto ledger = *registry::ledger_chain(*store_, registry::require_channel(*store_, "stable")->record);
  EXPECT_EQ(ledger[0].record.plan, receipt->digest);
  EXPECT_EQ(ledger[0].record.verdict, receipt->plan.judgement.digest);
  EXPECT_EQ(ledger[0].record.who, "tester");
  EXPECT_EQ(ledger[0].record.why, "why");
}

TEST_F(Promote, ASecondRunHasNothingToDo) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  ASSERT_TRUE(go({set}));
  auto again = go({set});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_FALSE(again->moved);
  EXPECT_FALSE(again->held);
  EXPECT_EQ(again->writes, 0u);
  EXPECT_EQ(again->generation, 1u);
}

TEST_F(Promote, OnlyWhatTheTargetLacksIsJudgedAndTheRestStays) {
  auto old = release(*store_, "7.0"), fresh = release(*store_, "7.1");
  pass(*store_, request({old}));
  ASSERT_TRUE(go({old}));
  pass(*store_, request({old, fresh}));
  auto plan = *plan_promotion(*store_, request({old, fresh}));
  ASSERT_EQ(plan.sets.size(), 1u);
  EXPECT_EQ(plan.sets[0].digest, fresh.digest);
  EXPECT_EQ(go({old, fresh})->generation, 2u);
  EXPECT_EQ(shown().size(), 6u);
}

TEST_F(Promote, ADryRunPrintsThePlanThatExecuteRuns) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  auto before = snapshot(*store_);
  auto dry = promote(*store_, request({set}), options({}, true));
  ASSERT_TRUE(dry);
  EXPECT_EQ(dry->writes, 0u);
  EXPECT_EQ(dry->generation, 1u);
  EXPECT_EQ(differences(before, snapshot(*store_)), "");
  auto later = request({set});
  later.now_us += 3'600'000'000; // an hour of review
  auto executed = promote(*store_, later, options(dry->digest.hex()));
  ASSERT_TRUE(executed) << render(executed.error());
  EXPECT_EQ(executed->digest, dry->digest);
  EXPECT_EQ(executed->view, dry->view);
  EXPECT_TRUE(executed->moved);
}

TEST_F(Promote, ExecutingTwiceIsOneMove) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  auto digest = promote(*store_, request({set}), options({}, true))->digest.hex();
  ASSERT_TRUE(promote(*store_, request({set}), options(digest)));
  auto again = promote(*store_, request({set}), options(digest));
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_TRUE(again->completed);
  EXPECT_EQ(again->writes, 0u);
  EXPECT_EQ(again->generation, 1u);
}

TEST_F(Promote, APlanOfAnotherStateIsRefusedAndSaysWhatMoved) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  auto digest = promote(*store_, request({one}), options({}, true))->digest.hex();
  ASSERT_TRUE(go({two}));
  auto before = snapshot(*store_);
  auto refused = promote(*store_, request({one}), options(digest));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O002");
  EXPECT_EQ(refused.error().kind, ErrorKind::precondition_failed);
  EXPECT_THAT(refused.error().details, ::testing::Contains(HasSubstr("stable@1: promote by tester")));
  EXPECT_EQ(differences(before, snapshot(*store_)), "");
}

TEST_F(Promote, APlanThatWasUndoneIsNotCalledDone) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  ASSERT_TRUE(go({one}));
  auto digest = promote(*store_, request({two}), options({}, true))->digest.hex();
  ASSERT_TRUE(promote(*store_, request({two}), options(digest)));
  ASSERT_TRUE(rollback(*store_, "stable", options()));
  auto again = promote(*store_, request({two}), options(digest));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "O002");
  EXPECT_THAT(again.error().message, HasSubstr("undone"));
}

TEST_F(Promote, NewEvidenceChangesThePlan) {
  auto set = release(*store_, "7.0", {"gfx94x_dcgpu", "gfx110x_all"});
  auto held = plan_promotion(*store_, request({set}))->digest;
  pass(*store_, request({set}));
  EXPECT_NE(plan_promotion(*store_, request({set}))->digest, held);
}

TEST_F(Promote, OneNameWithOtherBytesIsAConflict) {
  auto one = release(*store_, "7.0");
  pass(*store_, request({one}));
  ASSERT_TRUE(go({one}));
  auto other = sealed_sample(*store_, "99-linux/python/g", {{"rocm-7.0.tar.gz", "rocm", "7.0", "other bytes"}});
  auto before = snapshot(*store_);
  auto refused = go({other});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R018");
  EXPECT_EQ(refused.error().kind, ErrorKind::already_exists);
  EXPECT_EQ(differences(before, snapshot(*store_)), "");
}

TEST_F(Promote, AFileThatIsGoneOrAlteredIsNeverPromoted) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  for (const std::string suffix : {"", ".metadata"}) { // gone, then other bytes of the same size
    auto key = set.set.files.back().key + suffix;
    auto bytes = **store_->get(key, 1000);
    ASSERT_TRUE(store_->remove(key));
    auto refused = go({set});
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().code, "O003");
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
    ASSERT_TRUE(store_->put(key, content::Rope::literal(std::string(bytes.size(), 'x')), {}));
    EXPECT_EQ(go({set}).error().code, "O003") << key;
    ASSERT_TRUE(store_->put(key, content::Rope::literal(bytes), {}));
  }
}

TEST_F(Promote, ReadyCellsMoveAsAPartOfTheSetAndTheRestFollows) {
  auto set = release(*store_, "7.0", {"gfx94x_dcgpu", "gfx110x_all"});
  pass(*store_, request({set}), "gfx94X-dcgpu");
  EXPECT_TRUE(go({set})->held);
  auto ready = request({set});
  ready.ready_cells_only = true;
  auto receipt = promote(*store_, ready, options());
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(receipt->moved);
  EXPECT_THAT(shown(), ElementsAre("rocm-7.0.tar.gz", "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl",
                                   "rocm_sdk_libraries_gfx94x_dcgpu-7.0-py3-none-linux_x86_64.whl"));
  EXPECT_EQ(violations(*store_), "");
  // Again: what is ready is there.
  auto again = promote(*store_, ready, options());
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_TRUE(again->held);
  EXPECT_EQ(again->writes, 0u);
  // The part stands on the evidence of the whole, wherever it goes next.
  auto part = *registry::resolve_channel(*store_, "stable");
  EXPECT_EQ(promote(*store_, request(part.sets, "lts"), options())->generation, 1u);
  // Once the other family passes, the whole set follows.
  pass(*store_, request({set}), "gfx110X-all");
  EXPECT_EQ(go({set})->generation, 2u);
  EXPECT_EQ(shown().size(), 4u);
}

TEST_F(Promote, APartThatClaimsForeignFilesIsCorrupt) {
  auto set = release(*store_, "7.0");
  auto forged = set.set;
  forged.subset_of = release(*store_, "7.1").digest;
  auto digest = *registry::put_set(*store_, forged);
  ASSERT_TRUE(registry::seal(*store_, digest, sys::Timestamp::from_us(k_now_us)));
  auto refused = go({*registry::load_sealed(*store_, digest)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O004");
}

TEST_F(Promote, RollbackRestoresTheViewAndTheUrlStays) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  auto first = *go({one});
  auto first_pages = snapshot(*store_);
  auto second = *go({two});
  auto back = rollback(*store_, "stable", options());
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(back->generation, 3u);
  EXPECT_EQ(back->view, first.view);
  EXPECT_EQ(back->at.index_url, first.at.index_url);
  for (const auto& [key, bytes] : first_pages)
    EXPECT_TRUE(!key.starts_with("channels/stable/simple") || snapshot(*store_)[key] == bytes) << key;
  EXPECT_EQ(violations(*store_), "");
  auto channel = *registry::require_channel(*store_, "stable");
  EXPECT_EQ(channel.record.previous, second.view);
  // Run twice, it must not bring back what it took out; asked for by its number, it does.
  auto again = rollback(*store_, "stable", options());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "O007");
  auto forth = options();
  forth.to_generation = 2;
  EXPECT_EQ(rollback(*store_, "stable", forth)->view, second.view);
  forth.to_generation = 9;
  EXPECT_EQ(rollback(*store_, "stable", forth).error().code, "O001");
}

TEST_F(Promote, ARollbackThatWasExecutedIsNotDoneForAnotherGeneration) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  ASSERT_TRUE(go({one}));
  ASSERT_TRUE(go({two}));
  auto plan = rollback(*store_, "stable", options({}, true))->digest.hex();
  ASSERT_TRUE(rollback(*store_, "stable", options(plan)));
  EXPECT_TRUE(rollback(*store_, "stable", options(plan))->completed);
  auto other = options(plan);
  other.to_generation = 0;
  auto refused = rollback(*store_, "stable", other);
  ASSERT_FALSE(refused) << "the channel still shows sets";
  EXPECT_EQ(refused.error().code, "O002");
  auto to_one = options({}, true);
  to_one.to_generation = 2;
  to_one = options(rollback(*store_, "stable", to_one)->digest.hex());
  to_one.to_generation = 2;
  ASSERT_TRUE(rollback(*store_, "stable", to_one));
  EXPECT_TRUE(rollback(*store_, "stable", to_one)->completed);
}

// Retention has removed a file that both views show: going back changes nothing about it.
TEST_F(Promote, RollbackAsksOnlyForWhatComesBack) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1"), three = release(*store_, "7.2");
  pass(*store_, request({one, two, three}));
  ASSERT_TRUE(go({one}));
  auto second = *go({two});
  ASSERT_TRUE(go({three}));
  ASSERT_TRUE(store_->remove(one.set.files.front().key));
  auto before = store_->counters();
  auto plan = plan_rollback(*store_, "stable");
  ASSERT_TRUE(plan) << render(plan.error());
  auto after = store_->counters();
  EXPECT_LE(after.gets + after.heads + after.lists - before.gets - before.heads - before.lists, 12u);
  EXPECT_TRUE(plan->sets.empty());
  auto back = rollback(*store_, "stable", options());
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(back->view, second.view);
  // Forward again, 7.2 comes back: its files and its seal must be there.
  auto forth = options();
  forth.to_generation = 3;
  auto key = three.set.files.back().key;
  auto bytes = **store_->get(key, 1000);
  ASSERT_TRUE(store_->remove(key));
  EXPECT_EQ(rollback(*store_, "stable", forth).error().code, "O003");
  ASSERT_TRUE(store_->put(key, content::Rope::literal(bytes), {}));
  auto seal_key = registry::seal_key(three.set.directory, three.digest);
  auto seal = **store_->get(seal_key, 10000);
  ASSERT_TRUE(store_->remove(seal_key));
  EXPECT_EQ(rollback(*store_, "stable", forth).error().code, "R013");
  ASSERT_TRUE(store_->put(seal_key, content::Rope::literal(seal), {}));
  EXPECT_TRUE(rollback(*store_, "stable", forth));
}

TEST_F(Promote, RollbackIsTheWayOutOfALostView) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  auto first = *go({one});
  auto second = *go({two});
  ASSERT_TRUE(store_->remove(registry::view_key(second.view)));
  auto plan = plan_rollback(*store_, "stable");
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->view.digest, first.view);
  EXPECT_EQ(plan->sets.size(), 1u); // nothing is known of what is shown now
}

TEST_F(Promote, RollbackOfTheFirstViewIsNotFound) {
  EXPECT_EQ(rollback(*store_, "stable", options()).error().code, "R015");
  auto one = release(*store_, "7.0");
  pass(*store_, request({one}));
  ASSERT_TRUE(go({one}));
  auto refused = rollback(*store_, "stable", options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O001");
}

TEST_F(Promote, GenerationZeroShowsNothingAndBlocksWhatLeft) {
  auto one = release(*store_, "7.0");
  pass(*store_, request({one}));
  auto first = go({one});
  ASSERT_TRUE(first) << render(first.error());
  auto out = options();
  out.to_generation = 0;
  auto back = rollback(*store_, "stable", out);
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(back->generation, 2u);
  auto channel = registry::require_channel(*store_, "stable");
  EXPECT_TRUE(registry::load_whole_view(*store_, channel->record.view)->shards.empty());
  EXPECT_EQ(channel->record.guard.blocked.size(), one.set.files.size());
  EXPECT_EQ(violations(*store_), "");
  out.to_generation = 1;
  EXPECT_EQ(rollback(*store_, "stable", out)->view, first->view);
  EXPECT_EQ(violations(*store_), "");
}

TEST_F(Promote, ProjectsThatARollbackRemovesLeaveNoPage) {
  auto one = release(*store_, "7.0"),
       extra = sealed_sample(*store_, "8-linux/python/g", {{"extra-1.0.tar.gz", "extra", "1.0"}});
  pass(*store_, request({one, extra}));
  ASSERT_TRUE(go({one}));
  ASSERT_TRUE(go({extra}));
  ASSERT_TRUE(*store_->head("channels/stable/simple/extra/index.html"));
  ASSERT_TRUE(rollback(*store_, "stable", options()));
  EXPECT_FALSE(*store_->head("channels/stable/simple/extra/index.html"));
  EXPECT_FALSE(*store_->head("channels/stable/simple-json/extra/index.html"));
}

TEST_F(Promote, TwoAtOnceAreBothInOneView) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  FaultyStore racing(*store_);
  bool raced = false;
  racing.after_call = [&](std::uint64_t call) { // the rival moves just before our swap
    if (raced || !racing.log().at(call - 1).starts_with("put ledger/")) return;
    raced = true;
    ASSERT_TRUE(go({two}));
  };
  auto receipt = promote(racing, request({one}), options());
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(raced);
  EXPECT_EQ(receipt->generation, 2u);
  EXPECT_EQ(shown().size(), 6u);
  EXPECT_EQ(violations(*store_), "");
}

TEST_F(Promote, AReviewedPlanThatLosesTheRaceIsAConflict) {
  auto one = release(*store_, "7.0"), two = release(*store_, "7.1");
  pass(*store_, request({one, two}));
  auto digest = promote(*store_, request({one}), options({}, true))->digest.hex();
  FaultyStore racing(*store_);
  bool raced = false;
  racing.after_call = [&](std::uint64_t call) {
    if (raced || !racing.log().at(call - 1).starts_with("put ledger/")) return;
    raced = true;
    ASSERT_TRUE(go({two}));
  };
  auto receipt = promote(racing, request({one}), options(digest));
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().kind, ErrorKind::precondition_failed);
  EXPECT_EQ(shown().size(), 3u);
}

// ---- Kill tests.

class Interrupted : public Promote, public ::testing::WithParamInterface<FaultyStore::Fault> {
protected:
  using Command = std::function<Result<Receipt>(store::ObjectStore&)>;
  using Prepare = std::function<void(store::ObjectStore&)>;

  /// The same command, stopped at every call of the store, then run again: the end is that of the undisturbed run.
  void survive(const Prepare& prepare, const Command& command) {
    auto undisturbed = store::make_memory_store();
    prepare(*undisturbed);
    FaultyStore counting(*undisturbed);
    auto expected_receipt = command(counting);
    ASSERT_TRUE(expected_receipt) << render(expected_receipt.error());
    const auto expected = snapshot(*undisturbed);
    for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
      SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
      auto store = store::make_memory_store();
      prepare(*store);
      FaultyStore faulty(*store, {GetParam(), n, false});
      // A lost race or reply may be survived within the run; then running it again would be another command.
      auto first = command(faulty);
      ASSERT_EQ(violations(*store), "");
      if (!first) {
        auto again = command(*store);
        ASSERT_TRUE(again) << render(again.error());
        EXPECT_EQ(again->generation, expected_receipt->generation);
        EXPECT_EQ(again->view, expected_receipt->view);
        EXPECT_EQ(again->digest, expected_receipt->digest);
      }
      ASSERT_EQ(differences(expected, snapshot(*store)), "");
      ASSERT_EQ(violations(*store), "");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Faults, Interrupted,
                         ::testing::Values(FaultyStore::Fault::refuse, FaultyStore::Fault::lose_reply,
                                           FaultyStore::Fault::lose_request, FaultyStore::Fault::die_before,
                                           FaultyStore::Fault::die_after));

TEST_P(Interrupted, PromotionOfAReviewedPlan) {
  std::string digest;
  auto prepare = [&](store::ObjectStore& store) {
    auto one = release(store, "7.0"), two = release(store, "7.1");
    pass(store, request({one, two}));
    ASSERT_TRUE(promote(store, request({one}), options()));
    digest = promote(store, request({one, two}), options({}, true))->digest.hex();
  };
  survive(prepare, [&](store::ObjectStore& store) -> Result<Receipt> {
    TRY(auto sets, registry::sealed_sets_below(store, "71-linux"));
    return promote(store, request(sets), options(digest));
  });
}

TEST_P(Interrupted, PartialPromotion) {
  std::string digest;
  auto ready = [&](store::ObjectStore& store) -> Result<Request> {
    TRY(auto set, registry::sealed_sets_below(store, "70-linux"));
    std::erase_if(set, [](const SealedSet& s) { return !s.set.subset_of.empty(); });
    auto wanted = request(set);
    wanted.ready_cells_only = true;
    return wanted;
  };
  auto prepare = [&](store::ObjectStore& store) {
    auto set = release(store, "7.0", {"gfx94x_dcgpu", "gfx110x_all"});
    pass(store, request({set}), "gfx94X-dcgpu");
    digest = promote(store, *ready(store), options({}, true))->digest.hex();
  };
  survive(prepare, [&](store::ObjectStore& store) -> Result<Receipt> {
    TRY(auto wanted, ready(store));
    return promote(store, wanted, options(digest));
  });
}

void two_releases(store::ObjectStore& store, const std::function<Request(const std::vector<SealedSet>&)>& request,
                  const std::function<void(store::ObjectStore&, const Request&)>& pass) {
  auto one = release(store, "7.0"),
       two = sealed_sample(store, "8-linux/python/g", {{"extra-1.0.tar.gz", "extra", "1.0"}});
  pass(store, request({one, two}));
  ASSERT_TRUE(promote(store, request({one}), options()));
  ASSERT_TRUE(promote(store, request({two}), options()));
}

TEST_P(Interrupted, RollbackOfAReviewedPlan) {
  std::string digest;
  auto prepare = [&](store::ObjectStore& store) {
    two_releases(store, [&](const auto& sets) { return request(sets); }, [&](auto& s, const auto& r) { pass(s, r); });
    digest = rollback(store, "stable", options({}, true))->digest.hex();
  };
  survive(prepare, [&](store::ObjectStore& store) { return rollback(store, "stable", options(digest)); });
}

// Without a digest, a rollback that died is recognised by its pages: until they are all written, running it again
// completes it.
TEST_F(Promote, APlainRollbackThatDiedBeforeItsPagesIsCompletedNotRepeated) {
  auto prepare = [&](store::ObjectStore& store) {
    two_releases(store, [&](const auto& sets) { return request(sets); }, [&](auto& s, const auto& r) { pass(s, r); });
  };
  prepare(*store_);
  FaultyStore counting(*store_);
  ASSERT_TRUE(rollback(counting, "stable", options()));
  const auto expected = snapshot(*store_);
  std::uint64_t last = 0;
  for (std::uint64_t n = 1; n <= counting.calls(); ++n)
    if (counting.log()[n - 1] == "put channels/stable/pages.json") last = n;
  ASSERT_GT(last, 0u);
  for (std::uint64_t n = 1; n <= last; n += store::testing::moment_step()) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = store::make_memory_store();
    prepare(*store);
    FaultyStore faulty(*store, {FaultyStore::Fault::die_before, n, false});
    ASSERT_FALSE(rollback(faulty, "stable", options()));
    ASSERT_TRUE(rollback(*store, "stable", options()));
    ASSERT_EQ(differences(expected, snapshot(*store)), "");
  }
}

TEST_F(Promote, KilledProcessesLeaveAChannelThatTheNextOneCompletes) {
  auto place = *sys::make_temporary_directory(::testing::TempDir(), "quarry-promote-");
  auto prepare = [&](const std::string& root) {
    auto store = std::move(*store::open_file_store(root));
    auto one = release(*store, "7.0"), two = release(*store, "7.1");
    pass(*store, request({one, two}));
    EXPECT_TRUE(promote(*store, request({one}), options()));
    return store;
  };
  auto command = [&](store::ObjectStore& store) -> Result<Receipt> {
    TRY(auto sets, registry::sealed_sets_below(store, "71-linux"));
    return promote(store, request(sets), options());
  };
  auto reference = prepare(place + "/reference");
  FaultyStore counting(*reference);
  ASSERT_TRUE(command(counting));
  const auto expected = snapshot(*reference);
  for (std::uint64_t n = 3; n <= counting.calls(); n += 17) {
    SCOPED_TRACE("call " + std::to_string(n));
    auto root = place + "/" + std::to_string(n);
    auto store = prepare(root);
    auto child = ::fork();
    if (child == 0) {
      FaultyStore deadly(*store);
      deadly.after_call = [n](std::uint64_t call) {
        if (call == n) ::kill(::getpid(), SIGKILL);
      };
      static_cast<void>(command(deadly));
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(violations(*store), "");
    ASSERT_TRUE(command(*store));
    ASSERT_EQ(differences(expected, snapshot(*store)), "");
  }
  ASSERT_TRUE(sys::remove_tree(place));
}

TEST_F(Promote, AClockThatDiffersFromTheStoresMovesNothing) {
  const std::int64_t k_minute_us = 60'000'000, k_day_us = 24 * 60 * k_minute_us;
  sys::FixedClock clock(k_now_us);
  auto store = store::make_memory_store(&clock);
  auto asked = request({release(*store, "7.0")});
  pass(*store, asked);
  auto at = [&](std::int64_t off_us) {
    auto moving = options();
    moving.clock_us = [off_us] { return k_now_us + off_us; };
    return moving;
  };
  for (auto off : {-6 * k_minute_us, 6 * k_minute_us, k_day_us}) {
    auto refused = promote(*store, asked, at(off));
    ASSERT_FALSE(refused) << off;
    EXPECT_EQ(refused.error().code, "O057") << render(refused.error());
    EXPECT_FALSE(*registry::read_channel(*store, "stable")) << "nothing moved";
  }
  auto moved = promote(*store, asked, at(-4 * k_minute_us));
  ASSERT_TRUE(moved) << render(moved.error());
  ASSERT_TRUE(moved->moved);
}

TEST_F(Promote, APolicyReplacesOnlyTheOneThatWasRead) {
  Author author{"tester", sys::Timestamp::from_us(k_now_us), "why"};
  auto first = protect(*store_, "stable", policy(), author);
  ASSERT_TRUE(first) << render(first.error());
  auto read = first->channel.guard.policy;
  ASSERT_TRUE(protect(*store_, "stable", policy("waiver_requester = \"another\"\n"), author, {read}));
  auto late = protect(*store_, "stable", policy("waiver_requester = \"approver\"\n"), author, {read});
  ASSERT_FALSE(late) << "it would undo what was bound meanwhile";
  EXPECT_EQ(late.error().code, "P010");
}

TEST_F(Promote, WhatWasTestedWithASetThatStaysBehindStays) {
  auto rocm = release(*store_, "7.0");
  auto torch = sealed_sample(*store_, "9-linux/pytorch/g", {{"torch-2.9-py3-none-linux_x86_64.whl", "torch", "2.9"}});
  registry::EvidenceRecord tested;
  tested.cell = {Platform::linux, "", "3.12", ""};
  tested.suite = "smoke";
  tested.result = registry::Outcome::passed;
  tested.passed = 1;
  tested.started = tested.ended = *sys::Timestamp::parse("2026-11-20T11:00:00.000000Z");
  tested.sealed = true;
  tested.sets = {rocm.digest, torch.digest};
  for (const auto* sealed : {&rocm, &torch})
    tested.subjects.insert(tested.subjects.end(), sealed->set.files.begin(), sealed->set.files.end());
  ASSERT_TRUE(registry::put_evidence(*store_, tested));
  auto ready = request({rocm, torch});
  ready.ready_cells_only = true;
  auto held = plan_promotion(*store_, ready);
  ASSERT_TRUE(held) << render(held.error());
  EXPECT_TRUE(held->held) << "nobody has tested torch without this ROCm";
  EXPECT_THAT(held->sets, ::testing::IsEmpty());
  auto reasons = held->judgement.verdict.cells.back().reasons;
  EXPECT_THAT(reasons.front(), HasSubstr("neither this release nor the channel has"));
  auto elsewhere = request({torch});
  elsewhere.ready_cells_only = true;
  elsewhere.elsewhere = {rocm};
  EXPECT_TRUE(plan_promotion(*store_, elsewhere)->held) << "another channel may not get it";
  auto unrelated = release(*store_, "7.1");
  pass(*store_, request({unrelated}));
  pass(*store_, ready, "gfx94X-dcgpu");
  auto both = plan_promotion(*store_, ready);
  ASSERT_TRUE(both) << render(both.error());
  EXPECT_EQ(both->sets.size(), 2u);
  EXPECT_THAT(both->judgement.about.read, ::testing::SizeIs(2)) << "records about other sets did not decide";
  EXPECT_THAT(both->judgement.records, ::testing::SizeIs(2)) << "and were not even read";
}

TEST_F(Promote, AFailureThatArrivesWhileItIsJudgedHolds) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  auto late = options();
  int asked = 0;
  // As if hashing took an hour, in which a test job records its failure.
  late.before_writing = [&](const Plan& plan) -> Result<void> {
    if (asked++ > 0) return {};
    auto evidence = registry::load_evidence(*store_, plan.judgement.verdict.cells.at(0).evidence.at(0));
    evidence->result = registry::Outcome::failed;
    evidence->passed = 0;
    evidence->failed = 1;
    evidence->started = evidence->ended = *sys::Timestamp::parse("2026-11-20T11:59:00.000000Z");
    TRY_DO(registry::put_evidence(*store_, *evidence));
    return {};
  };
  auto receipt = promote(*store_, request({set}), late);
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(receipt->held);
  EXPECT_FALSE(receipt->moved);
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(*registry::read_channel(*store_, "stable"));
}

TEST_F(Promote, AFailureThatArrivesWhenAllIsWrittenHolds) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  auto evidence = *registry::load_evidence(*store_, registry::evidence_digests(*store_)->at(0));
  evidence.result = registry::Outcome::failed;
  evidence.passed = 0;
  evidence.failed = 1;
  evidence.started = evidence.ended = *sys::Timestamp::parse("2026-11-20T11:59:00.000000Z");
  FaultyStore watched(*store_);
  bool recorded = false;
  watched.after_call = [&](std::uint64_t) {
    if (recorded || !watched.log().back().starts_with("put ledger/")) return;
    recorded = true;
    EXPECT_TRUE(registry::put_evidence(*store_, evidence));
  };
  auto receipt = promote(watched, request({set}), options());
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(recorded);
  EXPECT_TRUE(receipt->held);
  EXPECT_FALSE(*registry::read_channel(*store_, "stable"));
}

TEST_F(Promote, BetweenTheLastLookAndTheSwapIsNoOtherRequest) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  FaultyStore watched(*store_);
  ASSERT_TRUE(promote(watched, request({set}), options()));
  auto log = watched.log();
  auto swap = std::ranges::find(log, "put channels/stable.json");
  ASSERT_NE(swap, log.end());
  ASSERT_NE(swap, log.begin());
  EXPECT_EQ(*(swap - 1), "list waivers/revoked/");
}

TEST_F(Promote, ARequestWithAnotherPolicyTakesTheChannelsIfNobodyNamedOne) {
  auto set = release(*store_, "7.0");
  auto bound = policy("derived = \"accept\"\nderived_suites = [\"smoke\"]\n");
  ASSERT_NE(bound.digest, policy().digest);
  registry::Guard guard;
  guard.policy = *registry::put_policy(*store_, {gate::canonical_json(bound)});
  publish::Reason reason{registry::Action::protect, {}, {}, "owner", sys::Timestamp::from_us(k_now_us), "why"};
  reason.policy = guard.policy;
  ASSERT_TRUE(publish::change_guard(
      *store_, "stable", [&](const registry::Guard&) -> Result<registry::Guard> { return guard; }, reason));
  auto asked = request({set}); // by the policy of a moment ago
  EXPECT_EQ(promote(*store_, asked, options()).error().code, "O012");
  auto with = options();
  int times = 0;
  with.bound_anew = [&]() -> Result<void> {
    ++times;
    asked.policy = bound;
    return {};
  };
  auto receipt = promote(*store_, asked, with);
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_EQ(times, 1);
  EXPECT_TRUE(receipt->held) << "judged by the channel's";
}

TEST_F(Promote, AnotherRequestThanTheReviewedOneSaysWhichFlagDiffers) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  auto digest = promote(*store_, request({set}), options({}, true))->digest.hex();
  auto elsewhere = request({set});
  elsewhere.distribution = "s3://dist v2/gfx94x-dcgpu";
  auto line = ::testing::Contains("differs   --to-store: reviewed without it, now s3://dist v2/gfx94x-dcgpu");
  auto refused = promote(*store_, elsewhere, options(digest));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O002");
  EXPECT_THAT(refused.error().details, line);
  ASSERT_TRUE(promote(*store_, request({set}), options(digest)));
  elsewhere.ready_cells_only = true;
  auto after = promote(*store_, elsewhere, options(digest));
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, "O002");
  EXPECT_THAT(after.error().details, line);
  EXPECT_THAT(after.error().details, ::testing::Contains("differs   --cells: reviewed all, now ready"));
  auto another = request({set});
  another.source.source = "run:9";
  auto told = promote(*store_, another, options(digest));
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().details, ::testing::Contains(HasSubstr("from run:9 to stable")));
}

TEST_F(Promote, ResultsThatNeverStopComingEndInAnError) {
  auto set = release(*store_, "7.0");
  pass(*store_, request({set}));
  auto busy = options();
  int asked = 0;
  busy.before_writing = [&](const Plan& plan) -> Result<void> {
    auto evidence = registry::load_evidence(*store_, plan.judgement.verdict.cells.at(0).evidence.at(0));
    evidence->log = std::to_string(++asked);
    TRY_DO(registry::put_evidence(*store_, *evidence));
    return {};
  };
  auto receipt = promote(*store_, request({set}), busy);
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().code, "O016");
}

TEST_F(Promote, AnotherSetWithABlockedFileIsLeftOut) {
  auto old = release(*store_, "7.0"), bad = release(*store_, "7.1"), repaired = release(*store_, "7.2");
  pass(*store_, request({old, bad, repaired}));
  ASSERT_TRUE(go({old}));
  ASSERT_TRUE(go({bad}));
  auto back = rollback(*store_, "stable", options());
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(back->plan.guard.blocks, 3u);
  EXPECT_EQ(registry::require_channel(*store_, "stable")->record.guard.blocked.front().reason, "why");
  auto refused = go({bad});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R022");
  EXPECT_EQ(refused.error().kind, ErrorKind::held);
  auto moved = go({bad, repaired});
  ASSERT_TRUE(moved) << render(moved.error());
  EXPECT_TRUE(moved->moved);
  ASSERT_FALSE(moved->notes.empty());
  EXPECT_EQ(moved->notes.front().code, "R022");
  auto names = shown();
  EXPECT_TRUE(std::none_of(names.begin(), names.end(), [](const auto& n) { return n.find("7.1") != n.npos; }));
  EXPECT_EQ(names.size(), 6u);
}

} // namespace
} // namespace quarry::promote
