#include "publish/garbage.hpp"

#include "publish/marks.hpp"
#include "publish/publish.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/testing/packages.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/clock.hpp"
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::publish {
namespace {

using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Packages;

const auto k_collected_at = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
constexpr std::int64_t k_hour = 3'600'000'000, k_day = 24 * k_hour;
constexpr CollectGarbageOptions k_default{k_day, 0, false}, k_at_once{0, 0, false};

/// Time passes when a test says so, and a microsecond with every look.
class Clock final : public sys::Clock {
public:
  std::int64_t now_us() const override { return ++now_; }
  std::uint64_t steady_ns() const override { return static_cast<std::uint64_t>(now_) * 1000; }
  void pass(std::int64_t time) { now_ += time; }

private:
  mutable std::atomic<std::int64_t> now_ = 1'790'000'000'000'000;
};

/// A store of its own, in which a publish was killed just before its channel moved.
struct World {
  World() {
    packages.add("rocm-7.0.tar.gz").add("rocm_sdk_core-7.0-py3-none-any.whl");
    later.add("rocm-7.1.tar.gz").add("other-1.0.tar.gz");
    EXPECT_TRUE(publish(*store, packages, "42"));
  }
  Result<Receipt> publish(store::ObjectStore& at, const Packages& what, const std::string& run) const {
    Target target{.layout = *run::Layout::create({{}, run, Platform::linux}), .group = "g", .channel = "staging"};
    TRY(auto collected, collect({what.path(), testing::fake_describe, 1}));
    TRY(auto plan, make_plan(at, target, std::move(collected), k_collected_at));
    return execute(at, plan, {k_collected_at, "tester", {}, 1, {}});
  }
  Result<Receipt> publish_later(store::ObjectStore& at) const { return publish(at, later, "43"); }
  /// The number of the call that swaps the channel.
  std::uint64_t kill_before_swap() const {
    std::uint64_t swap = 0;
    { // counted in a copy
      World other(*this, 0);
      FaultyStore counted(*other.store);
      EXPECT_TRUE(publish_later(counted));
      auto log = counted.log();
      for (std::size_t i = 0; i < log.size(); ++i)
        if (log[i] == "put channels/staging.json") swap = i + 1;
    }
    FaultyStore dying(*store, {FaultyStore::Fault::die_before, swap, false});
    EXPECT_FALSE(publish_later(dying));
    return swap;
  }
  Garbage collect_garbage(CollectGarbageOptions options = k_default) const {
    auto garbage = publish::collect_garbage(*store, options);
    EXPECT_TRUE(garbage) << render(garbage.error());
    return garbage ? std::move(*garbage) : Garbage{};
  }
  /// The same objects in another store.
  World(const World& other, int) {
    packages.add("rocm-7.0.tar.gz").add("rocm_sdk_core-7.0-py3-none-any.whl");
    later.add("rocm-7.1.tar.gz").add("other-1.0.tar.gz");
    for (const auto& [key, bytes] : testing::snapshot(*other.store))
      EXPECT_TRUE(store->put(key, content::Rope::literal(bytes), {}));
  }
  std::unique_ptr<Clock> clock = std::make_unique<Clock>();
  std::unique_ptr<store::ObjectStore> store = store::make_memory_store(clock.get());
  Packages packages, later;
};

TEST(Garbage, ASetWithoutADirectoryIsGarbage) {
  World world;
  auto set = registry::set_key(*registry::put_set(*world.store, registry::SetRecord{}));
  auto found = publish::collect_garbage(*world.store, k_default);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_TRUE(*world.store->head(set)) << "marked first";
}

TEST(Garbage, IsMarkedFirstAndRemovedAGraceTimeLater) {
  World world;
  auto good = testing::snapshot(*world.store);
  registry::SetRecord unsealed;
  unsealed.directory = "44-linux/python/g";
  auto set = registry::set_key(*registry::put_set(*world.store, unsealed));
  auto view = registry::view_key(*registry::put_view(*world.store, registry::ViewRecord{{}, {}, "{\"x\":1}"}));
  auto shard = registry::shard_key(*registry::put_shard(*world.store, registry::ShardRecord{"a", {}, {}}));
  auto entry =
      registry::ledger_key(*registry::put_ledger(*world.store, registry::LedgerRecord{{},
                                                                                      "staging",
                                                                                      registry::Action::promote,
                                                                                      {},
                                                                                      registry::ViewDigest(sha256("v")),
                                                                                      {},
                                                                                      {},
                                                                                      {},
                                                                                      k_collected_at,
                                                                                      {},
                                                                                      9,
                                                                                      {}}));
  auto all = ::testing::UnorderedElementsAre(set, view, shard, entry);
  world.clock->pass(10 * k_day); // age alone does not tell
  auto dry = world.collect_garbage({k_day, world.clock->now_us(), true});
  EXPECT_THAT(dry.marked, all);
  EXPECT_THAT(dry.keys, IsEmpty());
  EXPECT_FALSE(*world.store->head(k_marks_key));
  auto first = world.collect_garbage();
  EXPECT_THAT(first.marked, all);
  EXPECT_THAT(first.keys, IsEmpty());
  world.clock->pass(k_day - k_hour);
  EXPECT_THAT(world.collect_garbage().keys, IsEmpty());
  world.clock->pass(2 * k_hour);
  EXPECT_THAT(world.collect_garbage({k_day, world.clock->now_us(), true}).keys, all);
  EXPECT_TRUE(*world.store->head(view));
  auto last = world.collect_garbage();
  EXPECT_THAT(last.keys, all);
  EXPECT_THAT(last.marked, IsEmpty());
  EXPECT_EQ(testing::differences(good, testing::snapshot(*world.store)), "");
}

TEST(Garbage, ARecordThatIsWrittenAgainIsMarkedAnew) {
  World world;
  auto view = registry::view_key(*registry::put_view(*world.store, registry::ViewRecord{{}, {}, "{\"x\":1}"}));
  world.collect_garbage();
  world.clock->pass(2 * k_day);
  auto bytes = **world.store->get(view, 1 << 20);
  ASSERT_TRUE(world.store->put(view, content::Rope::literal(bytes), {}));
  EXPECT_THAT(world.collect_garbage().marked, ElementsAre(view));
  world.clock->pass(2 * k_day);
  EXPECT_THAT(world.collect_garbage().keys, ElementsAre(view));
}

TEST(Garbage, AMarkWithoutATimeIsNone) { // a second gc took the object that tells the store's time
  World world;
  auto view = registry::view_key(*registry::put_view(*world.store, registry::ViewRecord{{}, {}, "{\"x\":1}"}));
  world.collect_garbage();
  auto marks = *read_marks(*world.store);
  marks.at(view).since_us = 0;
  ASSERT_TRUE(write_marks(*world.store, marks));
  EXPECT_THAT(world.collect_garbage().keys, IsEmpty());
  EXPECT_GT(read_marks(*world.store)->at(view).since_us, 0);
  auto timeless = store::make_memory_store();
  for (const auto& [key, bytes] : testing::snapshot(*world.store))
    if (!key.starts_with("gc/")) {
      ASSERT_TRUE(timeless->put(key, content::Rope::literal(bytes), {}));
    }
  for (int run = 0; run < 3; ++run) EXPECT_THAT(publish::collect_garbage(*timeless, k_at_once)->keys, IsEmpty());
  EXPECT_FALSE(*timeless->head(k_marks_key)) << "a store that tells no time begins no grace";
}

TEST(Garbage, TheClockOfThisMachineDecidesNothing) {
  World world;
  EXPECT_TRUE(registry::put_view(*world.store, registry::ViewRecord{{}, {}, "{\"x\":1}"}));
  world.collect_garbage();
  EXPECT_THAT(world.collect_garbage({k_day, INT64_MAX / 2, false}).keys, IsEmpty());
}

TEST(Garbage, MarksThatCannotBeReadAreMadeAnew) {
  World world;
  auto view = registry::view_key(*registry::put_view(*world.store, registry::ViewRecord{{}, {}, "{\"x\":1}"}));
  for (const auto& marks :
       std::vector<std::string>{"rot", "[]", R"({"schema":"quarry.gc-marks/2","marks":{}})",
                                R"({"schema":"quarry.gc-marks/1","marks":{")" + view + R"(":{"since_us":"x"}}})"}) {
    ASSERT_TRUE(world.store->put(k_marks_key, content::Rope::literal(marks), {}));
    EXPECT_THAT(world.collect_garbage(k_at_once).marked, ElementsAre(view)) << marks;
  }
  EXPECT_THAT(world.collect_garbage(k_at_once).keys, ElementsAre(view));
}

// A publish is killed just before its channel moves and run again days later, when its old records have been marked.
TEST(Garbage, DoesNotTakeWhatARetriedPublishIsAboutToName) {
  World world;
  auto swap = world.kill_before_swap();
  world.clock->pass(2 * k_day);
  EXPECT_FALSE(world.collect_garbage().marked.empty());
  world.clock->pass(2 * k_day);
  FaultyStore retry(*world.store);
  retry.after_call = [&](std::uint64_t) {
    auto log = retry.log();
    if (!log.back().starts_with("put ledger/") && !log.back().starts_with("get ledger/")) return;
    // Behind the swap several threads put back what is missing. Before the view is there, nothing can be collected.
    auto garbage = publish::collect_garbage(*world.store, k_default);
    EXPECT_TRUE(garbage || garbage.error().code == "R010") << render(garbage.error());
  };
  EXPECT_GT(swap, 0u);
  ASSERT_TRUE(world.publish_later(retry));
  EXPECT_EQ(testing::violations(*world.store), "");
}

/// Without any grace, after each step of a publish in turn.
TEST(Garbage, BetweenAnyTwoStepsOfAPublishLosesNothing) {
  World base;
  base.kill_before_swap();
  World counted(base, 0);
  FaultyStore counter(*counted.store);
  ASSERT_TRUE(counted.publish_later(counter));
  for (std::uint64_t at = 1; at <= counter.calls(); at += store::testing::moment_step()) {
    World world(base, 0);
    world.collect_garbage(k_at_once); // marked
    FaultyStore stepped(*world.store);
    stepped.after_call = [&](std::uint64_t number) {
      for (int i = 0; number == at && i < 2; ++i)
        world.collect_garbage(k_at_once); // marks also what is new, and takes it
    };
    auto done = world.publish_later(stepped);
    ASSERT_TRUE(done || done.error().code == "R010") << at << render(done.error()); // before anything was named
    if (!done) done = world.publish_later(*world.store);
    ASSERT_TRUE(done) << at << render(done.error());
    EXPECT_EQ(testing::violations(*world.store), "") << "after call " << at << ": " << stepped.log().at(at - 1);
  }
}

/// A publish runs whole, after each step of a collection in turn.
TEST(Garbage, APublishBetweenAnyTwoStepsOfACollectionLosesNothing) {
  World base;
  base.kill_before_swap();
  World counted(base, 0);
  counted.collect_garbage(k_at_once);
  FaultyStore counter(*counted.store);
  ASSERT_FALSE(collect_garbage(counter, k_at_once)->keys.empty());
  for (std::uint64_t at = 1; at <= counter.calls(); at += store::testing::moment_step()) {
    World world(base, 0);
    world.collect_garbage(k_at_once);
    FaultyStore stepped(*world.store);
    stepped.after_call = [&](std::uint64_t number) {
      if (number != at) return;
      auto done = world.publish_later(*world.store);
      EXPECT_TRUE(done) << at << render(done.error());
    };
    auto garbage = collect_garbage(stepped, k_at_once);
    ASSERT_TRUE(garbage) << at << render(garbage.error());
    EXPECT_EQ(testing::violations(*world.store), "") << "after call " << at << ": " << stepped.log().at(at - 1);
  }
}

TEST(Garbage, ALostEarlierViewIsReported) {
  World world;
  ASSERT_TRUE(world.publish_later(*world.store));
  auto channel = *registry::require_channel(*world.store, "staging");
  auto shard = registry::shard_key(*registry::put_shard(*world.store, registry::ShardRecord{"a", {}, {}}));
  ASSERT_TRUE(world.store->remove(registry::view_key(channel.record.previous)));
  auto garbage = world.collect_garbage();
  ASSERT_EQ(garbage.notes.size(), 1u);
  EXPECT_EQ(garbage.notes[0].code, "P080");
  EXPECT_EQ(garbage.notes[0].place, "staging@1");
  EXPECT_NE(garbage.notes[0].message.find(channel.record.previous.hex()), std::string::npos);
  world.clock->pass(2 * k_day);
  EXPECT_THAT(world.collect_garbage().keys, ::testing::Not(::testing::Contains(shard))) << "it may be one of that view";
  EXPECT_TRUE(registry::resolve_channel(*world.store, "staging"));
}

TEST(Garbage, IsNotCollectedWhenWhatAChannelNamesIsNotKnown) {
  World world;
  ASSERT_TRUE(world.publish_later(*world.store));
  auto channel = *registry::require_channel(*world.store, "staging");
  for (const auto& [key, code] : std::vector<std::pair<std::string, std::string>>{
           {registry::ledger_key(channel.record.ledger), "R011"}, {registry::view_key(channel.record.view), "R011"}}) {
    auto good = **world.store->get(key, 1 << 20);
    ASSERT_TRUE(world.store->put(key, content::Rope::literal("rot"), {}));
    auto refused = collect_garbage(*world.store, k_at_once);
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().code, code);
    ASSERT_TRUE(world.store->remove(key));
    EXPECT_EQ(collect_garbage(*world.store, k_at_once).error().code, "R010") << key;
    ASSERT_TRUE(world.store->put(key, content::Rope::literal(good), {}));
  }
  EXPECT_TRUE(collect_garbage(*world.store, k_at_once));
}

TEST(Garbage, TemporariesOfKilledWritersAreRemoved) {
  auto root = *sys::make_temporary_directory(::testing::TempDir(), "quarry-garbage-");
  auto store = std::move(*store::open_file_store(root));
  ASSERT_TRUE(store->put("k", content::Rope::literal("1"), {}));
  ASSERT_TRUE(sys::write_file(root + "/.quarry/tmp/1-x.partial", "half"));
  EXPECT_EQ(collect_garbage(*store, k_default)->leftovers, 0u);
  EXPECT_EQ(collect_garbage(*store, k_at_once)->leftovers, 1u);
  EXPECT_EQ(store->list("")->size(), 1u);
  EXPECT_TRUE(sys::remove_tree(root));
}

} // namespace
} // namespace quarry::publish
