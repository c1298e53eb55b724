#include "registry/feeders.hpp"

#include "registry/testing/samples.hpp"
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

using testing::digest_named;

LedgerDigest put_move_of(ObjectStore& store, const std::string& channel, const LedgerDigest& previous) {
  LedgerRecord move;
  move.channel = channel;
  move.action = Action::protect;
  move.to_view = digest_named<ViewDigest>("view");
  move.policy = digest_named<PolicyDigest>(channel + previous.hex());
  move.previous = previous;
  move.when = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
  return *put_ledger(store, move);
}

const auto k_law = digest_named<PolicyDigest>("law"), k_weak = digest_named<PolicyDigest>("weak");

struct Guarded {
  std::unique_ptr<ObjectStore> source = store::make_memory_store();
  LedgerDigest first = put_move_of(*source, "stable", {});
  LedgerDigest second = put_move_of(*source, "stable", first);
  LedgerDigest foreign = put_move_of(*source, "elsewhere", {});
  DistributionRecord distribution;

  explicit Guarded(std::vector<Feeder> fed_by = {}) { distribution.fed_by = std::move(fed_by); }
  Result<std::vector<Feeder>> ask(const std::vector<Feeder>& feeders) {
    return admit(*source, {distribution, "file:dist/v2/all"}, feeders);
  }
  std::string code(const std::vector<Feeder>& feeders) {
    auto asked = ask(feeders);
    return asked ? "" : asked.error().code;
  }
};

TEST(Feeders, ADirectoryThatNoProtectedChannelFedIsOpen) {
  Guarded open;
  EXPECT_TRUE(open.ask({})->empty());
  EXPECT_TRUE(open.ask({{"nightly", {}, {}}})->empty());
  EXPECT_EQ(open.ask({{"stable", k_law, open.first}})->size(), 1u);
}

TEST(Feeders, AnUnprotectedChannelDoesNotArriveTogetherWithAProtectedOne) {
  Guarded open;
  EXPECT_EQ(open.code({{"nightly", {}, {}}, {"stable", k_law, open.first}}), "O055");
}

TEST(Feeders, OthersNeedAPolicyThatJudgedWhatIsThere) {
  Guarded guarded;
  guarded.distribution.fed_by = {{"stable", k_law, guarded.first}};
  EXPECT_EQ(guarded.code({}), "O055");
  EXPECT_EQ(guarded.code({{"nightly", {}, {}}}), "O055");
  EXPECT_EQ(guarded.code({{"mine", k_weak, guarded.foreign}}), "O055");
  auto twin = guarded.ask({{"nightly", k_law, guarded.foreign}});
  ASSERT_TRUE(twin);
  EXPECT_EQ(twin->front().channel, "nightly") << "sorted";
  EXPECT_EQ(twin->size(), 2u);
}

TEST(Feeders, TheSameChannelMayGetAnotherPolicyAndOneOfItsNameElsewhereMayNot) {
  Guarded guarded;
  guarded.distribution.fed_by = {{"stable", k_law, guarded.first}};
  auto rebound = guarded.ask({{"stable", k_weak, guarded.second}});
  ASSERT_TRUE(rebound);
  EXPECT_EQ(rebound->front().policy, k_weak);
  EXPECT_EQ(guarded.code({{"stable", k_weak, guarded.foreign}}), "O055");
  EXPECT_EQ(guarded.code({{"stable", {}, guarded.foreign}}), "O055");
  EXPECT_EQ(guarded.code({{"stable", {}, digest_named<LedgerDigest>("lost")}}), "O055");
  auto lifted = guarded.ask({{"stable", {}, guarded.second}});
  ASSERT_TRUE(lifted);
  EXPECT_TRUE(lifted->empty());
}

TEST(Feeders, TheOrderOfChannelsDoesNotCount) {
  // `stable` is bound to another policy now, and a channel with that policy adds at the same time.
  for (const std::string other : {"alpha", "zeta"}) {
    Guarded guarded;
    guarded.distribution.fed_by = {{"stable", k_law, guarded.first}};
    const Feeder rebound{"stable", k_weak, guarded.second}, twin{other, k_weak, guarded.foreign};
    EXPECT_EQ(guarded.code({rebound, twin}), "") << other;
    EXPECT_EQ(guarded.code({twin, rebound}), "") << other;
    // A policy that was known when the call began stays known.
    const Feeder kept{other, k_law, guarded.foreign};
    EXPECT_EQ(guarded.code({rebound, kept}), "") << other;
    EXPECT_EQ(guarded.code({kept, rebound}), "") << other;
  }
}

TEST(Feeders, LiftingOneOfTwoDoesNotOpenWhatTheOtherFeeds) {
  Guarded guarded;
  guarded.distribution.fed_by = {{"nightly", k_law, guarded.foreign}, {"stable", k_law, guarded.first}};
  EXPECT_EQ(guarded.code({{"stable", {}, guarded.second}}), "O055");
}

// The order is that of the channels' names, which must not decide.
TEST(Feeders, AnotherUnprotectedChannelDoesNotArriveWithTheOneThatWasLifted) {
  Guarded guarded;
  guarded.distribution.fed_by = {{"stable", k_law, guarded.first}};
  Feeder lifted{"stable", {}, guarded.second};
  EXPECT_EQ(guarded.code({lifted, {"zeta", {}, {}}}), "O055");
  EXPECT_EQ(guarded.code({{"alpha", {}, {}}, lifted}), "O055");
}

TEST(Feeders, ThePointerKeepsThemAndOlderProgramsRefuseIt) {
  DistributionRecord record;
  record.directory = "v2/all";
  EXPECT_NE(to_json(record).find("quarry.distribution/2"), std::string::npos);
  record.fed_by = {{"stable", k_law, digest_named<LedgerDigest>("move")}};
  auto text = to_json(record);
  EXPECT_NE(text.find("quarry.distribution/3"), std::string::npos);
  auto store = store::make_memory_store();
  ASSERT_TRUE(store->put(distribution_key("v2/all"), content::Rope::literal(std::string(text)), {}));
  EXPECT_EQ(read_distribution(*store, "v2/all").value()->record.fed_by, record.fed_by);
}

} // namespace
} // namespace quarry::registry
