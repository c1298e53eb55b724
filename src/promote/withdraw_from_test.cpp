#include "promote/withdraw_from.hpp"

#include "pages/projection.hpp"
#include "promote/withdraw.hpp"
#include "publish/distribute.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using registry::testing::sealed_sample;
using store::testing::FaultyStore;
using ::testing::ElementsAre;

const Author k_yanker{"tester", *sys::Timestamp::parse("2026-11-20T12:00:00Z"), "broken"};
constexpr const char* k_dir = "v2/all";

/// Run 1 has a and shared, run 2 has b and shared; both are copied to v2/all of another store.
struct Copied {
  std::unique_ptr<store::ObjectStore> source = store::make_memory_store(), other = store::make_memory_store();
  std::vector<registry::SealedSet> sets = {
      sealed_sample(*source, "1-linux/python/g", {{"a-1.tar.gz", "a", "1"}, {"shared-1.tar.gz", "shared", "1"}}),
      sealed_sample(*source, "2-linux/python/g", {{"b-1.tar.gz", "b", "1"}, {"shared-1.tar.gz", "shared", "1"}})};

  Copied() { EXPECT_TRUE(copy()); }
  Result<publish::DistributeReceipt> copy() {
    TRY(auto planned, publish::plan_distribution(sets, k_dir));
    TRY_DO(publish::check_distribution(*other, planned, 1u));
    return publish::distribute(*source, *other, planned, {k_yanker.when, 1});
  }
  Result<DistributionReceipt> yank(const std::vector<std::string>& what, store::ObjectStore& in) {
    TRY(auto plan, plan_distribution_withdrawal(in, k_dir, what));
    return withdraw_from_distribution(in, plan, k_yanker);
  }
  Result<DistributionReceipt> yank(const std::vector<std::string>& what) { return yank(what, *other); }
  std::vector<std::string> listed() {
    auto page = publish::testing::snapshot(*other).at("v2/all/index.html");
    std::vector<std::string> names;
    for (const std::string name : {"a-1", "b-1", "shared-1"})
      if (page.find(name + ".tar.gz") != page.npos) names.push_back(name);
    return names;
  }
  std::string code(const std::vector<std::string>& what) {
    auto plan = plan_distribution_withdrawal(*other, k_dir, what);
    return plan ? "" : plan.error().code;
  }
};

TEST(WithdrawFromADistribution, AFileLeavesEverySetAndStaysOut) {
  Copied there;
  auto done = there.yank({"shared-1.tar.gz"});
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_TRUE(done->moved);
  EXPECT_THAT(there.listed(), ElementsAre("a-1", "b-1"));
  auto all = publish::testing::snapshot(*there.other);
  EXPECT_EQ(publish::testing::broken_links(all), "");
  EXPECT_TRUE(all.contains("v2/all/shared-1.tar.gz")) << "no file is removed";
  auto now = registry::require_distribution(*there.other, k_dir);
  EXPECT_EQ(now->record.shown.blocked.at(0).reason, "broken");
  EXPECT_EQ(there.copy().error().code, "R022") << "it stays out";
  auto twice = there.yank({"shared-1.tar.gz"});
  ASSERT_TRUE(twice) << render(twice.error());
  EXPECT_FALSE(twice->moved);
  ASSERT_TRUE(unblock_distribution(*there.other, k_dir, {"shared-1.tar.gz"}, {"t", k_yanker.when, "w", {}, false}));
  ASSERT_TRUE(there.copy());
  EXPECT_THAT(there.listed(), ElementsAre("a-1", "b-1", "shared-1"));
}

TEST(WithdrawFromADistribution, ASetIsNamedAsInEitherStore) {
  for (bool as_in_source : {true, false}) {
    Copied there;
    auto shown = registry::require_distribution(*there.other, k_dir)->record.shown.sets.at(0);
    auto digest = as_in_source ? there.sets[0].digest : shown.set;
    ASSERT_TRUE(there.yank({"set:" + digest.hex().substr(0, 12)}));
    EXPECT_THAT(there.listed(), ElementsAre("b-1", "shared-1")) << "a file that another set has stays";
  }
}

TEST(WithdrawFromADistribution, TheRollbackThatFollowsBringsItBack) {
  Copied there;
  ASSERT_TRUE(there.yank({"a-1.tar.gz"}));
  EXPECT_THAT(there.listed(), ElementsAre("b-1", "shared-1"));
  auto back = rollback_distribution(*there.other, k_dir, {"t", k_yanker.when, "w", {}, false});
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_THAT(there.listed(), ElementsAre("a-1", "b-1", "shared-1"));
}

TEST(WithdrawFromADistribution, WhatIsLeftOfACopyIsThatOfWhatIsLeftOfItsSet) {
  Copied there;
  ASSERT_TRUE(there.yank({"a-1.tar.gz"}));
  auto rest = there.sets[0];
  rest.set.subset_of = rest.digest;
  std::erase_if(rest.set.files, [](const registry::FileRecord& file) { return file.filename == "a-1.tar.gz"; });
  auto copied = publish::plan_distribution({rest}, k_dir);
  EXPECT_EQ(registry::require_distribution(*there.other, k_dir)->record.shown.sets.at(0).set, copied->at(0).digest);
}

TEST(WithdrawFromADistribution, WhatIsNotThereIsRefused) {
  Copied there;
  EXPECT_EQ(there.code({"c-1.tar.gz"}), "O024");
  EXPECT_EQ(there.code({"set:" + std::string(64, '0')}), "R010");
  EXPECT_EQ(there.code({"set:12"}), "R020");
  EXPECT_EQ(plan_distribution_withdrawal(*there.other, "v2/none", {"a-1.tar.gz"}).error().code, "P120");
  there.sets.push_back(sealed_sample(*there.source, "3-linux/python/g", {{"shared-1.tar.gz", "shared", "1"}}));
  ASSERT_TRUE(there.copy());
  EXPECT_EQ(there.code({"set:" + there.sets.back().digest.hex()}), "O026");
}

TEST(WithdrawFromADistribution, KilledAtAnyRequestTheSameCommandCompletesIt) {
  std::size_t deaths = 0;
  for (std::uint64_t at = 1;; ++at) {
    Copied there;
    FaultyStore dying(*there.other, {FaultyStore::Fault::die_after, at, true});
    (void)there.yank({"shared-1.tar.gz"}, dying);
    if (!dying.fired()) break;
    ++deaths;
    auto again = there.yank({"shared-1.tar.gz"});
    EXPECT_TRUE(again) << at << ": " << render(again.error());
    EXPECT_THAT(there.listed(), ElementsAre("a-1", "b-1")) << at;
  }
  EXPECT_GT(deaths, 8u);
}

} // namespace
} // namespace quarry::promote
