#include "release/carry.hpp"

#include "gate/testing/policies.hpp"
#include "promote/withdraw_from.hpp"
#include "publish/distribute.hpp"
#include "publish/move.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/upkeep.hpp"
#include "registry/feeders.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>

namespace quarry::release {
namespace {

using registry::SealedSet;
using store::testing::FaultyStore;

const auto k_carry_now = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
constexpr const char* k_place = "v2/all";

/// A channel with two sets that were both copied to a distribution, and a third set there from elsewhere.
struct Fed {
  std::unique_ptr<store::ObjectStore> store = store::make_memory_store(), other = store::make_memory_store();
  SealedSet first, second, third;

  Fed() {
    first = sample("1", "7.0"), second = sample("2", "7.1"), third = sample("3", "9.0");
    for (const auto& set : {first, second}) {
      publish::Reason reason{registry::Action::publish, {}, {}, "tester", k_carry_now, "why"};
      EXPECT_TRUE(publish::add_sets(*store, "stable", {set}, reason));
    }
    for (const auto& set : {first, third, second}) EXPECT_TRUE(copy(set));
  }
  SealedSet sample(const std::string& run, const std::string& version) {
    return registry::testing::sealed_sample(*store, run + "-linux/python/g",
                                            {{"rocm-" + version + ".tar.gz", "rocm", version}});
  }
  Result<publish::DistributeReceipt> copy(const SealedSet& set) {
    TRY(auto planned, publish::plan_distribution({set}, k_place));
    TRY_DO(publish::check_distribution(*other, planned, 1));
    return publish::distribute(*store, *other, planned, {k_carry_now, 1});
  }
  Destination to(store::ObjectStore& target, const std::string& prefix = k_place) {
    return {"file:there", prefix, std::shared_ptr<store::ObjectStore>(&target, [](auto*) {})};
  }
  Result<CarriedRollback> roll(const promote::Options& options = wanted()) {
    return rollback_with(*store, "stable", to(*other), options);
  }
  static promote::Options wanted() { return {"tester", k_carry_now, "it breaks", {}, false}; }
  std::vector<std::string> listed() {
    std::vector<std::string> versions;
    auto now = registry::require_distribution(*other, k_place);
    auto sets = registry::sealed_of(*other, now->record.shown);
    for (const auto& sealed : *sets) versions.push_back(sealed.set.files.front().version);
    return versions;
  }
  std::vector<std::string> shown() {
    std::vector<std::string> versions;
    auto channel = registry::resolve_channel(*store, "stable");
    for (const auto& sealed : channel->sets) versions.push_back(sealed.set.files.front().version);
    return versions;
  }
  std::uint64_t generation() { return registry::require_distribution(*other, k_place)->record.generation; }
};

using ::testing::ElementsAre;

TEST(Carry, WhatLeavesTheChannelLeavesItsDistributionAndNothingElseDoes) {
  Fed fed;
  auto done = fed.roll();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_THAT(fed.shown(), ElementsAre("7.0"));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
  ASSERT_EQ(done->distributions.size(), 1u);
  EXPECT_TRUE(done->distributions[0].moved);
  auto all = publish::testing::snapshot(*fed.other);
  EXPECT_EQ(publish::testing::broken_links(all), "");
  EXPECT_EQ(all.at("v2/all/rocm/index.html").find("7.1"), std::string::npos);
  EXPECT_TRUE(all.contains("v2/all/rocm-7.1.tar.gz")) << "no file is removed";
  auto again = fed.copy(fed.second);
  ASSERT_FALSE(again) << "it stays out";
  EXPECT_EQ(again.error().code, "R022");
  ASSERT_TRUE(promote::unblock_distribution(*fed.other, k_place, {"rocm-7.1.tar.gz"}, Fed::wanted()));
  EXPECT_TRUE(fed.copy(fed.second));
}

TEST(Carry, TheSameSetsComeBackWithTheGenerationThatIsNamed) {
  Fed fed;
  ASSERT_TRUE(fed.roll());
  EXPECT_EQ(fed.roll().error().code, "O007");
  auto options = Fed::wanted();
  options.to_generation = 2;
  auto done = fed.roll(options);
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_THAT(fed.shown(), ElementsAre("7.0", "7.1"));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0", "7.1"));
  EXPECT_TRUE(registry::require_distribution(*fed.other, k_place)->record.shown.blocked.empty());
}

TEST(Carry, AChannelThatWasRolledBackAloneIsFollowed) {
  Fed fed;
  ASSERT_TRUE(promote::rollback(*fed.store, "stable", Fed::wanted()));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0", "7.1"));
  auto looked = Fed::wanted();
  looked.dry_run = true;
  ASSERT_TRUE(fed.roll(looked));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0", "7.1"));
  auto done = fed.roll();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_FALSE(done->channel);
  EXPECT_THAT(fed.shown(), ElementsAre("7.0")) << "it does not go back a second time";
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
}

TEST(Carry, WhatASignedMoveTookOutSinceComesBackWithAKeyOnly) {
  Fed fed;
  auto lead = *Ed25519PrivateKey::create();
  auto law = gate::testing::parsed_policy("[[signer]]\nname = \"lead\"\nkey = \"" + lead.public_key().base64() +
                                          "\"\nsigns = [\"moves\"]\n[[require]]\nplatforms=[\"linux\"]\n"
                                          "families=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  auto feeder = registry::feeder_of(*fed.store, "stable");
  feeder->policy = *registry::put_policy(*fed.store, {gate::canonical_json(law)});
  publish::DistributeOptions feeding{k_carry_now, 1};
  feeding.feeders[k_place] = {*feeder};
  ASSERT_TRUE(publish::distribute(*fed.store, *fed.other, *publish::plan_distribution({fed.first}, k_place), feeding));
  ASSERT_TRUE(fed.roll());
  auto forward = Fed::wanted();
  forward.to_generation = 2;
  auto followed = fed.roll(forward);
  ASSERT_TRUE(followed) << render(followed.error()) << ": the channel moves, and its policy was asked";
  ASSERT_THAT(fed.listed(), ElementsAre("7.0", "9.0", "7.1"));
  auto yank = promote::plan_distribution_withdrawal(*fed.other, k_place, {"rocm-7.1.tar.gz"});
  ASSERT_TRUE(yank && promote::withdraw_from_distribution(*fed.other, *yank, {"lead", k_carry_now, "bad", lead}));
  auto with = Fed::wanted();
  with.key = lead;
  for (const auto& options : {Fed::wanted(), with}) {
    auto refused = fed.roll(options);
    ASSERT_FALSE(refused) << "a yank is not undone by a rollback of the channel, whoever signs it";
    EXPECT_EQ(refused.error().code, "O007") << render(refused.error());
    EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
  }
  ASSERT_TRUE(promote::unblock_distribution(*fed.other, k_place, {"rocm-7.1.tar.gz"}, with));
  auto refused = fed.roll();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O041") << render(refused.error());
  EXPECT_TRUE(fed.roll(with));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0", "7.1"));
}

// The channel knows nothing of what was taken out of the distribution alone.
TEST(Carry, WhatAYankTookOutStaysOutWhenTheChannelGoesForward) {
  Fed fed;
  auto yank = promote::plan_distribution_withdrawal(*fed.other, k_place, {"rocm-7.1.tar.gz"});
  ASSERT_TRUE(yank && promote::withdraw_from_distribution(*fed.other, *yank, {"lead", k_carry_now, "bad", {}}));
  ASSERT_TRUE(fed.roll());
  auto forward = Fed::wanted();
  forward.to_generation = 2;
  for (bool dry : {true, false}) {
    forward.dry_run = dry;
    auto followed = fed.roll(forward);
    ASSERT_TRUE(followed) << render(followed.error());
    ASSERT_EQ(followed->distributions.size(), 1u);
    ASSERT_EQ(followed->distributions[0].notes.size(), 1u);
    EXPECT_EQ(followed->distributions[0].notes[0].code, "O063");
  }
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
  EXPECT_EQ(registry::require_distribution(*fed.other, k_place)->record.shown.blocked.size(), 1u);
}

TEST(Carry, APartThatAYankLeftComesBackAsThatPart) {
  Fed fed;
  auto both = registry::testing::sealed_sample(*fed.store, "4-linux/python/g",
                                               {{"bad-1.tar.gz", "bad", "1"}, {"good-1.tar.gz", "good", "1"}});
  publish::Reason reason{registry::Action::publish, {}, {}, "tester", k_carry_now, "why"};
  ASSERT_TRUE(publish::add_sets(*fed.store, "stable", {both}, reason)); // 3
  ASSERT_TRUE(fed.copy(both));
  auto yank = promote::plan_distribution_withdrawal(*fed.other, k_place, {"bad-1.tar.gz"});
  ASSERT_TRUE(yank && promote::withdraw_from_distribution(*fed.other, *yank, {"lead", k_carry_now, "bad", {}}));
  ASSERT_TRUE(fed.roll());
  auto forward = Fed::wanted();
  forward.to_generation = 3;
  ASSERT_TRUE(fed.roll(forward));
  auto now = registry::require_distribution(*fed.other, k_place);
  auto sets = registry::sealed_of(*fed.other, now->record.shown);
  ASSERT_EQ(sets->back().set.files.size(), 1u);
  EXPECT_EQ(sets->back().set.files[0].filename, "good-1.tar.gz");
  ASSERT_EQ(now->record.shown.blocked.size(), 1u);
  EXPECT_EQ(now->record.shown.blocked[0].filename, "bad-1.tar.gz");
}

TEST(Carry, KilledAtAnyRequestTheSameCommandCompletesIt) {
  Fed whole;
  ASSERT_TRUE(whole.roll());
  std::size_t deaths = 0, between = 0;
  for (std::uint64_t at = 1;; ++at) {
    Fed fed;
    FaultyStore dying(*fed.other, {FaultyStore::Fault::die_after, at, true});
    auto first = rollback_with(*fed.store, "stable", fed.to(dying), Fed::wanted());
    if (!dying.fired()) break;
    ++deaths;
    if (!first && first.error().code == "O040") ++between;
    auto again = fed.roll();
    // Everything may have been done before the reply was lost.
    EXPECT_TRUE(again || again.error().code == "O007") << at << ": " << render(again.error());
    EXPECT_THAT(fed.shown(), ElementsAre("7.0")) << at;
    EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0")) << at;
    auto now = publish::testing::snapshot(*fed.other);
    EXPECT_EQ(publish::testing::broken_links(now), "") << at;
    EXPECT_EQ(now.at("v2/all/rocm/index.html").find("7.1"), std::string::npos) << at << ": pages follow";
  }
  EXPECT_GT(deaths, 8u);
  EXPECT_GT(between, 2u) << "some deaths lie between the channel and its distribution";
}

TEST(Carry, ThePlanThatWasReviewedIsForItsPlaceAndItsState) {
  Fed fed;
  auto looked = Fed::wanted();
  looked.dry_run = true;
  auto plan = fed.roll(looked);
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_THAT(fed.shown(), ElementsAre("7.0", "7.1"));
  auto execute = Fed::wanted();
  execute.execute = registry::ReviewedPlan(plan->digest);
  EXPECT_EQ(promote::rollback(*fed.store, "stable", execute).error().code, "O002") << "without the distribution";
  EXPECT_EQ(rollback_with(*fed.store, "stable", fed.to(*fed.other, "v3/all"), execute).error().code, "O002");
  ASSERT_TRUE(fed.roll(execute));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
  EXPECT_EQ(rollback_with(*fed.store, "stable", fed.to(*fed.other, "v3/all"), execute).error().code, "O002")
      << "the same digest for another place, after it was executed";
}

TEST(Carry, ADistributionGoesBackByItsName) {
  Fed fed;
  auto back = promote::rollback_distribution(*fed.other, k_place, Fed::wanted());
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
  EXPECT_THAT(fed.shown(), ElementsAre("7.0", "7.1")) << "the channel stays";
  EXPECT_EQ(promote::rollback_distribution(*fed.other, k_place, Fed::wanted()).error().code, "O007");
  auto options = Fed::wanted();
  options.to_generation = 9;
  EXPECT_EQ(promote::rollback_distribution(*fed.other, k_place, options).error().code, "O001");
  options.to_generation = 1;
  options.dry_run = true;
  auto plan = promote::rollback_distribution(*fed.other, k_place, options);
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0"));
  options.dry_run = false;
  options.execute = registry::ReviewedPlan(plan->plan.digest);
  ASSERT_TRUE(promote::rollback_distribution(*fed.other, k_place, options));
  EXPECT_THAT(fed.listed(), ElementsAre("7.0"));
  auto repeated = promote::rollback_distribution(*fed.other, k_place, options);
  ASSERT_TRUE(repeated) << render(repeated.error());
  EXPECT_TRUE(repeated->completed);
  EXPECT_EQ(fed.generation(), 5u);
}

TEST(Carry, AStructuredDistributionFollowsToo) {
  constexpr const char* k_prefix = "v5/{product}/whl/{project}";
  Fed fed;
  for (const auto& set : {fed.first, fed.second})
    ASSERT_TRUE(
        publish::distribute(*fed.store, *fed.other, *publish::plan_distribution({set}, k_prefix), {k_carry_now, 1}));
  auto done = rollback_with(*fed.store, "stable", fed.to(*fed.other, k_prefix), Fed::wanted());
  ASSERT_TRUE(done) << render(done.error());
  ASSERT_EQ(done->distributions.size(), 1u);
  EXPECT_EQ(done->distributions[0].plan.directory(), "v5/core/whl");
  auto all = publish::testing::snapshot(*fed.other);
  EXPECT_EQ(publish::testing::broken_links(all), "");
  EXPECT_EQ(all.at("v5/core/whl/rocm/index.html").find("7.1"), std::string::npos);
  EXPECT_TRUE(all.contains("v5/core/whl/rocm/rocm-7.1.tar.gz")) << "no file is removed";
  EXPECT_THAT(fed.listed(), ElementsAre("7.0", "9.0", "7.1")) << "the flat one was not named";
}

TEST(Carry, AFileThatComesBackMustBeThere) {
  Fed fed;
  ASSERT_TRUE(promote::rollback_distribution(*fed.other, k_place, Fed::wanted()));
  ASSERT_TRUE(fed.other->remove("v2/all/rocm-7.1.tar.gz"));
  auto options = Fed::wanted();
  options.to_generation = 3;
  EXPECT_EQ(promote::rollback_distribution(*fed.other, k_place, options).error().code, "O003");
}

} // namespace
} // namespace quarry::release
