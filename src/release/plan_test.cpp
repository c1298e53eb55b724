#include "release/plan.hpp"

#include "promote/withdraw.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/releases.hpp"
#include "release/testing/two_families.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::release {
namespace {

using publish::testing::differences;
using publish::testing::snapshot;
using publish::testing::violations;
using registry::SealedSet;
using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::options_of;
using testing::request_of;
using testing::TwoFamilies;
using testing::waive_everything;

const auto k_when = testing::k_moved_at;

std::vector<std::string> names_of(const std::vector<ChannelSets>& channels) {
  std::vector<std::string> names;
  for (const auto& channel : channels) names.push_back(channel.channel);
  return names;
}

TEST(ByChannel, EachFamilyHasItsChannelAndAFrameworkGoesToAll) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  auto torch = both.sets.front();
  torch.set.origin.group.clear();
  torch.digest = registry::testing::digest_named<registry::SetDigest>("torch");
  auto sets = both.sets;
  sets.push_back(torch);
  auto channels = by_channel(sets, "stable-{family}");
  ASSERT_TRUE(channels) << render(channels.error());
  EXPECT_THAT(names_of(*channels), ElementsAre("stable-gfx110x-all", "stable-gfx94x-dcgpu"));
  EXPECT_EQ((*channels)[0].sets.size(), 2u);
  EXPECT_EQ((*channels)[1].sets.back().digest, torch.digest);
}

TEST(ByChannel, APatternThatTheSetsDoNotFitIsRefused) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  auto sets = both.sets;
  for (auto& sealed : sets) sealed.set.origin.group = "everything";
  EXPECT_EQ(by_channel(sets, "stable-{family}").error().code, "O020");
  EXPECT_EQ(by_channel(both.sets, "Stable-{family}").error().code, "O020");
  EXPECT_EQ(by_channel(both.sets, "stable-{python}").error().code, "O020");
}

TEST(Release, MovesNothingUnlessEveryChannelIsReady) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  waive_everything(*store, "stable-gfx94x-dcgpu");
  auto before = snapshot(*store);
  auto done = promote_all(*store, request_of(both.sets), options_of());
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_TRUE(done->held);
  EXPECT_EQ(differences(before, snapshot(*store)), "");
}

TEST(Release, EveryFileIsCheckedBeforeTheFirstChannelMoves) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*store, channel);
  ASSERT_TRUE(store->remove(both.sets.front().set.files.back().key)); // of the channel that comes last
  auto done = promote_all(*store, request_of(both.sets), options_of());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "O003");
  EXPECT_THAT(*registry::list_channels(*store), ElementsAre());
}

TEST(Release, WhatIsExpectedIsLookedForInTheWholeRelease) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  auto request = request_of(both.sets);
  request.source.expectations.push_back({{Platform::linux}, {"gfx94X-dcgpu", "gfx110X-all", "gfx1151"}, {}, {}, {}});
  auto planned = plan_all(*store, request);
  ASSERT_TRUE(planned) << render(planned.error());
  for (const auto& part : planned->parts) {
    std::vector<std::string> missing;
    for (const auto& cell : part.plan->judgement.verdict.cells)
      if (cell.set.empty()) missing.push_back(cell.cell.family);
    EXPECT_THAT(missing, ElementsAre("gfx1151")) << part.request.channel;
  }
}

class InterruptedRelease : public ::testing::TestWithParam<FaultyStore::Fault> {};
INSTANTIATE_TEST_SUITE_P(All, InterruptedRelease,
                         ::testing::Values(FaultyStore::Fault::refuse, FaultyStore::Fault::lose_reply,
                                           FaultyStore::Fault::lose_request, FaultyStore::Fault::die_before,
                                           FaultyStore::Fault::die_after));

TEST_P(InterruptedRelease, TheSameDigestCompletesIt) {
  auto prepare = [](store::ObjectStore& store) {
    TwoFamilies both(store);
    for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(store, channel);
    return both.sets;
  };
  auto undisturbed = store::make_memory_store();
  auto request = request_of(prepare(*undisturbed));
  auto planned = promote_all(*undisturbed, request, options_of({}, true));
  ASSERT_TRUE(planned) << render(planned.error());
  const auto digest = planned->digest.hex();
  FaultyStore counting(*undisturbed);
  auto expected = promote_all(counting, request, options_of(digest));
  ASSERT_TRUE(expected) << render(expected.error());
  const auto end = snapshot(*undisturbed);
  bool was_half_moved = false;
  for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = store::make_memory_store();
    prepare(*store);
    FaultyStore faulty(*store, {GetParam(), n, false});
    auto first = promote_all(faulty, request, options_of(digest));
    ASSERT_EQ(violations(*store), "");
    auto open = unfinished(*store);
    ASSERT_TRUE(open) << render(open.error());
    if (!open->empty()) {
      was_half_moved = true;
      EXPECT_THAT(open->front().moved, ElementsAre("stable-gfx110x-all"));
      EXPECT_THAT(open->front().waiting, ElementsAre("stable-gfx94x-dcgpu"));
    }
    if (!first) {
      auto again = promote_all(*store, request, options_of(digest));
      ASSERT_TRUE(again) << render(again.error());
    }
    ASSERT_EQ(differences(end, snapshot(*store)), "");
    EXPECT_TRUE(unfinished(*store)->empty());
  }
  EXPECT_TRUE(was_half_moved);
}

TEST(Release, AResultBetweenTwoChannelsStopsItAndTheDigestCompletesIt) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*store, channel);
  FaultyStore racing(*store);
  bool raced = false;
  racing.after_call = [&](std::uint64_t call) { // another job waives something once the first channel has moved
    if (raced || racing.log().at(call - 1) != "put channels/stable-gfx110x-all.json") return;
    raced = true;
    waive_everything(*store, "another");
  };
  auto stopped = promote_all(racing, request_of(both.sets), options_of());
  ASSERT_FALSE(stopped);
  ASSERT_TRUE(raced);
  EXPECT_EQ(stopped.error().code, "O019");
  EXPECT_THAT(stopped.error().message, HasSubstr("stable-gfx110x-all moved and stable-gfx94x-dcgpu did not"));
  auto digest = unfinished(*store)->at(0).plan.hex();
  EXPECT_THAT(stopped.error().hint, HasSubstr(digest));
  auto completed = promote_all(*store, request_of(both.sets), options_of(digest));
  ASSERT_TRUE(completed) << render(completed.error());
  EXPECT_EQ(registry::list_channels(*store)->size(), 2u);
  EXPECT_TRUE(unfinished(*store)->empty());
}

TEST(Release, AChannelThatHadEverythingIsNotSaidToHaveMoved) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*store, channel);
  auto one = request_of({both.sets[1]}); // gfx110x-all
  ASSERT_TRUE(promote_all(*store, one, options_of()));
  FaultyStore racing(*store);
  bool raced = false;
  racing.after_call = [&](std::uint64_t call) {
    if (raced || !racing.log().at(call - 1).starts_with("put plans/")) return;
    raced = true;
    waive_everything(*store, "another");
  };
  auto done = promote_all(racing, request_of(both.sets), options_of());
  EXPECT_TRUE(raced);
  ASSERT_TRUE(done) << "no channel has moved, so it is planned again: " << render(done.error());
}

TEST(Release, AChannelWhoseRunDiedAfterItsSwapHasMoved) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*store, channel);
  auto dry = store::make_memory_store();
  std::uint64_t page = 0;
  {
    TwoFamilies same(*dry);
    for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*dry, channel);
    FaultyStore all(*dry);
    ASSERT_TRUE(promote_all(all, request_of(same.sets), options_of()));
    for (std::uint64_t n = 1; n <= all.calls() && !page; ++n)
      if (all.log()[n - 1].starts_with("put channels/stable-gfx94x-dcgpu/")) page = n;
  }
  ASSERT_GT(page, 0u);
  FaultyStore faulty(*store, {FaultyStore::Fault::refuse, page, false});
  auto stopped = promote_all(faulty, request_of(both.sets), options_of());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, "O019");
  EXPECT_THAT(stopped.error().message, HasSubstr("stable-gfx110x-all, stable-gfx94x-dcgpu moved, and"));
}

TEST(Release, APlanOfWhichAChannelWasUndoneIsNotUnfinished) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*store, channel);
  FaultyStore racing(*store);
  bool raced = false;
  racing.after_call = [&](std::uint64_t call) {
    if (raced || racing.log().at(call - 1) != "put channels/stable-gfx110x-all.json") return;
    raced = true;
    waive_everything(*store, "another");
  };
  ASSERT_FALSE(promote_all(racing, request_of(both.sets), options_of()));
  auto open = unfinished(*store);
  ASSERT_TRUE(open && open->size() == 1);
  EXPECT_EQ(open->front().asked.pattern, "stable-{family}");
  auto digest = open->front().plan.hex();
  std::vector<std::string> judged;
  auto options = options_of(digest);
  options.before_writing = [&](const Plan& plan) -> Result<void> {
    for (const auto& part : plan.parts) judged.push_back(part.request.channel);
    return fail(ErrorKind::held, "O017", "stop here");
  };
  EXPECT_FALSE(promote_all(*store, request_of(both.sets), options));
  EXPECT_THAT(judged, ElementsAre("stable-gfx110x-all", "stable-gfx94x-dcgpu"))
      << "what an earlier run has moved is judged for the copy, too";
  auto out = promote::plan_withdrawal(*store, "stable-gfx110x-all", {"set:" + both.sets[1].digest.hex()});
  ASSERT_TRUE(out) << render(out.error());
  ASSERT_TRUE(promote::withdraw(*store, *out, {"tester", k_when, "broken"}));
  EXPECT_TRUE(unfinished(*store)->empty()) << "its --execute would be refused";
}

TEST(Release, NoSetsAreNoRelease) {
  auto store = store::make_memory_store();
  EXPECT_EQ(promote_all(*store, request_of({}), options_of()).error().code, "O020");
}

TEST(Release, AnotherPlanThanTheReviewedOneIsRefused) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  for (const auto* channel : {"stable-gfx94x-dcgpu", "stable-gfx110x-all"}) waive_everything(*store, channel);
  auto request = request_of(both.sets);
  auto digest = promote_all(*store, request, options_of({}, true))->digest.hex();
  auto other = request;
  other.source.resolved.sets.pop_back();
  auto refused = promote_all(*store, other, options_of(digest));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O002");
  EXPECT_NE(render(refused.error()).find("channel   stable-gfx94x-dcgpu does not exist"), std::string::npos)
      << "what decides it now, for whoever reviewed it: " << render(refused.error());
  ASSERT_TRUE(promote_all(*store, request, options_of(digest)));
  // The stored plan answers only the request that it is for.
  EXPECT_EQ(promote_all(*store, other, options_of(digest)).error().code, "O002");
}

TEST(Source, AReleaseIsResolvedWithWhatItExpects) {
  auto store = store::make_memory_store();
  TwoFamilies both(*store);
  registry::ReleaseRecord record;
  record.name = "7.2.0";
  for (const auto& sealed : both.sets) record.sets.push_back(sealed.digest);
  std::sort(record.sets.begin(), record.sets.end());
  record.expect = {{Platform::linux}, {"gfx1151"}, {}, {}, {}};
  auto digest = registry::put_release(*store, record);
  ASSERT_TRUE(digest) << render(digest.error());
  auto source = resolve(*store, {"release:" + digest->hex().substr(0, 12)});
  ASSERT_TRUE(source) << render(source.error());
  EXPECT_EQ(source->resolved.source, "release:" + digest->hex());
  EXPECT_EQ(source->resolved.sets.size(), 2u);
  ASSERT_EQ(source->expectations.size(), 1u);
  EXPECT_THAT(source->expectations[0].families, ElementsAre("gfx1151"));
  EXPECT_TRUE(source->resolved.files.empty()) << "two families have two contents of rocm-7.2.0.tar.gz";
  auto named = resolve(*store, {"set:" + record.sets[0].hex(), "release:" + digest->hex()});
  ASSERT_TRUE(named) << render(named.error());
  EXPECT_EQ(named->resolved.sets.size(), 2u) << "each set once";
  EXPECT_EQ(resolve(*store, {"release:0000000000000000"}).error().code, "R010");
}

} // namespace
} // namespace quarry::release
