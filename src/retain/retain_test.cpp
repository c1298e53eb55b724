#include "publish/garbage.hpp"
#include "publish/move.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/locks.hpp"
#include "registry/testing/samples.hpp"
#include "retain/apply.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::retain {
namespace {

using publish::testing::snapshot;
using publish::testing::violations;
using registry::SetDigest;
using registry::testing::SampleFile;
using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t k_day = 24LL * 3600 * 1'000'000;

/// Time passes when a test says so, and a microsecond with every look.
class Clock final : public sys::Clock {
public:
  std::int64_t now_us() const override { return ++now_; }
  std::uint64_t steady_ns() const override { return static_cast<std::uint64_t>(now_) * 1000; }
  void pass(std::int64_t time) { now_ += time; }

private:
  mutable std::atomic<std::int64_t> now_ = *sys::parse_rfc3339("2026-11-23T10:00:00Z"); // a Monday
};

Rules shipped_like() {
  return *parse_rules({R"(schema = "quarry.retention/1"
name = "test"
grace = "7d"
[[rule]]
name = "development"
release_types = ["development"]
keep = "30d"
[[rule]]
name = "weekly"
release_types = ["nightly"]
runs = "weekly"
keep = "52w"
[[rule]]
name = "nightly"
release_types = ["nightly"]
keep = "120d"
[[rule]]
name = "release"
keep = "forever"
)",
                       "test.toml"});
}

SampleFile wheel(const std::string& project, const std::string& version,
                 const std::vector<std::string>& requires_dist = {}) {
  SampleFile file{project + "-" + version + "-py3-none-any.whl", project, version};
  file.requires_dist = requires_dist;
  return file;
}

struct World {
  std::unique_ptr<Clock> clock = std::make_unique<Clock>();
  std::unique_ptr<store::ObjectStore> store = store::make_memory_store(clock.get());
  Rules rules = shipped_like();

  World() = default;
  /// The same objects in another store at the same time.
  explicit World(const World& other, int) {
    for (const auto& [key, bytes] : snapshot(*other.store)) // long ago: as old as the seals say
      EXPECT_TRUE(store->put(key, content::Rope::literal(bytes), {}));
    clock->pass(other.clock->now_us() - clock->now_us());
  }
  SetDigest publish(const std::string& run, const std::vector<SampleFile>& files, const std::string& area = "python") {
    auto directory = run + "-linux/" + area + "/g";
    auto digest = registry::testing::put_sample_set(*store, directory, files, "g");
    EXPECT_TRUE(registry::seal(*store, digest, sys::Timestamp::from_us(clock->now_us())));
    EXPECT_TRUE(pages::project_directory(*store, directory));
    return digest;
  }
  void show(const std::string& channel, const SetDigest& set) const {
    auto sealed = registry::load_sealed(*store, set);
    ASSERT_TRUE(sealed);
    registry::Action action = registry::Action::publish;
    auto done = publish::add_sets(*store, channel, {*sealed},
                                  {action, {}, {}, "tester", sys::Timestamp::from_us(clock->now_us()), ""});
    ASSERT_TRUE(done) << render(done.error());
    ASSERT_TRUE(pages::project_channel(*store, channel));
  }
  Plan plan() const {
    auto now = clock->now_us();
    auto inventory = look(*store, now);
    EXPECT_TRUE(inventory) << render(inventory.error());
    auto plan = plan_retention(*store, *inventory, rules, now);
    EXPECT_TRUE(plan) << render(plan.error());
    return *plan;
  }
  Result<Applied> try_apply(store::ObjectStore& at) const {
    TRY(auto now, time_for_retention(at));
    TRY(auto inventory, look(at, now));
    TRY(auto plan, plan_retention(at, inventory, rules, now));
    return retain::apply(at, inventory, plan, {"tester", "old"});
  }
  Applied apply() const {
    auto applied = try_apply(*store);
    EXPECT_TRUE(applied) << render(applied.error());
    return applied ? *applied : Applied{};
  }
  Result<Undone> undo(store::ObjectStore& at, const Undo& what) const {
    TRY(auto inventory, look(at, clock->now_us()));
    return retain::undo(at, inventory, what, {"tester", "needed"});
  }
  std::string state_of(const SetDigest& set) const {
    auto record = registry::load_set(*store, set);
    EXPECT_TRUE(record) << "records of sets stay";
    auto retired = registry::read_retired(*store, record->directory, set);
    return *retired ? std::string((**retired).record.state.text()) : "";
  }
  bool has_files(const SetDigest& set) const {
    auto record = registry::load_set(*store, set);
    return std::ranges::all_of(record->files, [&](const auto& file) { return store->head(file.key)->has_value(); });
  }
};

std::vector<SetDigest> sets_of(const std::vector<Leaving>& list) {
  std::vector<SetDigest> sets;
  for (const auto& each : list) sets.push_back(each.set);
  return sets;
}

TEST(Rules, TheTypeOfASetIsThatOfItsLongestLivedFile) {
  auto type = [](const std::vector<std::string>& versions) {
    registry::SetRecord set;
    for (const auto& version : versions) {
      registry::FileRecord file;
      file.version = version;
      set.files.push_back(file);
    }
    return std::string(release_type_of(set).text());
  };
  EXPECT_EQ(type({"7.12.0.dev0+3f2a"}), "development");
  EXPECT_EQ(type({"7.12.0a20261120"}), "nightly");
  EXPECT_EQ(type({"7.12.0rc1"}), "candidate");
  EXPECT_EQ(type({"7.12.0"}), "release");
  EXPECT_EQ(type({"7.12.0.post1"}), "release");
  EXPECT_EQ(type({"2.10.0+rocm7.12.0a20261120"}), "nightly");
  EXPECT_EQ(type({"2.10.0+rocm7.12.0"}), "release");
  EXPECT_EQ(type({"2.10.0+devrocm7.12.0.dev0.3f2a"}), "development");
  EXPECT_EQ(type({"7.12.0a20261120", "1.0"}), "release");
  EXPECT_EQ(type({"7.12.0.dev0", "7.12.0a1"}), "nightly");
  EXPECT_EQ(type({}), "release");
  EXPECT_EQ(type({"not a version"}), "release");
}

TEST(Rules, AreRefusedWithFileAndLine) {
  auto error = [](const std::string& text) { return parse_rules({text, "r.toml"}).error(); };
  std::string head = "schema = \"quarry.retention/1\"\nname = \"x\"\ngrace = \"7d\"\n";
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"name =", "r.toml"},
           {head, "not a single rule"},
           {"schema = \"quarry.retention/1\"\nname = \"x\"\ngrace = \"23h\"\n[[rule]]\nname = \"a\"\nkeep = \"1d\"\n",
            "r.toml:3: grace: it must be 24h or more"},
           {head + "[[rule]]\nname = \"a\"\nkeep = \"soon\"\n", "r.toml:6: rule.keep: `soon` is not a time"},
           {head + "[[rule]]\nname = \"a\"\nkeep = \"1d\"\nrelease_types = [\"final\"]\n", "`final` is not one of"},
           {head + "[[rule]]\nname = \"a\"\nkeep = \"1d\"\nruns = \"daily\"\n", "runs"},
           {head + "[[rule]]\nname = \"a\"\nkeep = \"1d\"\nage = \"1d\"\n", "age"}}) {
    EXPECT_EQ(error(text).code, "O200") << text;
    EXPECT_THAT(error(text).message, HasSubstr(said));
  }
  EXPECT_EQ(parse_period("52w"), 364 * k_day);
  EXPECT_EQ(parse_period("0s"), 0);
  for (const char* text : {"", "d", "3", "-3d", "3y", "3.5d", "999999999999w"})
    EXPECT_FALSE(parse_period(text)) << text;
}

TEST(Retention, TakesWhatIsOldAndNamedByNothing) {
  World world;
  auto development = world.publish("1", {wheel("rocm", "7.12.0.dev0")});
  auto release = world.publish("2", {wheel("rocm", "7.12.0")});
  world.clock->pass(29 * k_day);
  EXPECT_THAT(world.plan().tombstone, IsEmpty());
  world.clock->pass(2 * k_day);
  EXPECT_THAT(sets_of(world.plan().tombstone), ElementsAre(development));
  auto before = snapshot(*world.store);
  EXPECT_THAT(sets_of(world.apply().tombstoned), ElementsAre(development));
  EXPECT_EQ(world.state_of(development), "tombstoned");
  EXPECT_TRUE(world.has_files(development));
  auto lost = registry::load_sealed(*world.store, development);
  ASSERT_FALSE(lost) << "nothing new can name it";
  EXPECT_EQ(lost.error().code, "R013");
  EXPECT_THAT(lost.error().hint, HasSubstr("quarry retain undo set:"));
  EXPECT_THAT(registry::resolve_run(*world.store, "1-linux").error().hint, HasSubstr("quarry retain undo set:"));
  EXPECT_EQ(violations(*world.store), "");
  EXPECT_THAT(snapshot(*world.store).at("1-linux/python/g/index.html"), ::testing::Not(HasSubstr(".whl")));
  world.clock->pass(6 * k_day);
  EXPECT_THAT(world.plan().purge, IsEmpty());
  world.clock->pass(2 * k_day);
  auto purged = world.apply();
  EXPECT_THAT(sets_of(purged.purged), ElementsAre(development));
  EXPECT_GT(purged.bytes, 0u);
  EXPECT_EQ(world.state_of(development), "purged");
  EXPECT_FALSE(world.has_files(development));
  EXPECT_FALSE(*world.store->head("1-linux/python/g/dist/rocm-7.12.0.dev0-py3-none-any.whl.metadata"));
  EXPECT_TRUE(registry::load_sealed(*world.store, release));
  EXPECT_THAT(registry::load_sealed(*world.store, development).error().message, HasSubstr("removed the files"));
  EXPECT_EQ(violations(*world.store), "");
  EXPECT_TRUE(world.plan().empty());
}

TEST(Retention, KeepsTheFirstNightlyOfEachWeekForAYear) {
  World world; // Monday
  auto monday = world.publish("1", {wheel("rocm", "7.12.0a1")});
  world.clock->pass(k_day);
  auto tuesday = world.publish("2", {wheel("rocm", "7.12.0a2")});
  world.clock->pass(6 * k_day);
  auto next_monday = world.publish("3", {wheel("rocm", "7.12.0a3")});
  world.clock->pass(150 * k_day);
  EXPECT_THAT(sets_of(world.plan().tombstone), ElementsAre(tuesday));
  world.clock->pass(364 * k_day);
  EXPECT_THAT(sets_of(world.plan().tombstone), UnorderedElementsAre(monday, tuesday, next_monday));
}

TEST(Retention, SparesWhatAChannelShowsOrCanGoBackTo) {
  World world;
  auto first = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto second = world.publish("2", {wheel("other", "7.12.0.dev2")});
  world.show("staging", first);
  world.show("staging", second);
  // back to the first: the second is in the history only
  auto channel = *registry::require_channel(*world.store, "staging");
  auto view = registry::load_whole_view(*world.store, channel.record.previous);
  ASSERT_TRUE(publish::move_channel(*world.store, "staging", channel, *view,
                                    {registry::Action::rollback, {}, {}, "t", sys::Timestamp::from_us(1), ""}));
  ASSERT_TRUE(pages::project_channel(*world.store, "staging"));
  world.clock->pass(60 * k_day);
  auto plan = world.plan();
  EXPECT_THAT(plan.tombstone, IsEmpty());
  ASSERT_THAT(plan.spared, SizeIs(2));
  EXPECT_EQ(plan.spared[0].why, "channel staging names it");
  EXPECT_THAT(world.apply().tombstoned, IsEmpty());
  EXPECT_EQ(violations(*world.store), "");
}

TEST(Retention, SparesTheWholeOfAPartThatAChannelShows) {
  World world;
  auto whole = world.publish("1", {wheel("rocm", "7.12.0.dev1"), wheel("other", "1.0.dev1")});
  auto part = registry::load_set(*world.store, whole);
  part->files.pop_back();
  part->subset_of = whole;
  auto digest = *registry::put_set(*world.store, *part);
  ASSERT_TRUE(registry::seal(*world.store, digest, sys::Timestamp::from_us(world.clock->now_us())));
  world.show("staging", digest);
  world.clock->pass(60 * k_day);
  EXPECT_THAT(world.plan().tombstone, IsEmpty());
}

TEST(Retention, SparesWhatAKeptLockNamesUntilItsTime) {
  World world;
  auto set = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto until = sys::Timestamp::from_us(world.clock->now_us() + 60 * k_day);
  ASSERT_TRUE(registry::put_lock(*world.store, {{set}, until, "set:x", "lock-version = \"1.0\"\n", "t", "", {}}));
  world.clock->pass(40 * k_day);
  auto plan = world.plan();
  EXPECT_THAT(plan.tombstone, IsEmpty());
  ASSERT_THAT(plan.spared, SizeIs(1));
  EXPECT_THAT(plan.spared[0].why, HasSubstr("a lock until 2027-01-22"));
  world.clock->pass(40 * k_day);
  EXPECT_THAT(sets_of(world.plan().tombstone), ElementsAre(set));
}

TEST(Retention, LeavesAloneWhatIsNotTheOutputOfARun) {
  World world;
  auto set = registry::testing::put_sample_set(*world.store, "v2/gfx94X-dcgpu", {wheel("rocm", "7.12.0.dev0")});
  ASSERT_TRUE(registry::seal(*world.store, set, sys::Timestamp::from_us(world.clock->now_us())));
  world.clock->pass(400 * k_day);
  EXPECT_TRUE(world.plan().empty());
}

TEST(Retention, SparesWhatAnotherSetNeedsToBeInstalled) {
  World world;
  auto unneeded = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto base = world.publish("2", {wheel("base", "1.0.dev1")});
  auto needed = world.publish("3", {wheel("rocm", "7.12.0.dev2", {"base==1.0.dev1"})});
  auto torch = world.publish("4", {wheel("torch", "2.10.0", {"rocm==7.12.0.dev2", "numpy"})}, "pytorch");
  world.clock->pass(60 * k_day);
  auto plan = world.plan();
  EXPECT_THAT(sets_of(plan.tombstone), ElementsAre(unneeded));
  ASSERT_THAT(plan.spared, SizeIs(2));
  EXPECT_EQ(plan.spared[0].set, needed);
  EXPECT_EQ(plan.spared[0].why, "set:" + torch.short_hex() + " could not be installed without it");
  EXPECT_EQ(plan.spared[1].set, base) << "what is spared needs something itself";
}

TEST(Retention, OfSeveralThatHelpTheNewestIsEnough) {
  World world;
  auto older = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  world.clock->pass(k_day);
  auto newer = world.publish("2", {wheel("rocm", "7.12.0.dev2")});
  world.publish("3", {wheel("torch", "2.10.0", {"rocm>=7.12.0.dev1"})}, "pytorch");
  world.clock->pass(60 * k_day);
  auto plan = world.plan();
  EXPECT_THAT(sets_of(plan.tombstone), ElementsAre(older));
  ASSERT_THAT(plan.spared, SizeIs(1));
  EXPECT_EQ(plan.spared[0].set, newer);
}

TEST(Retention, APackageThatCouldNotBeInstalledAnywayKeepsNothing) {
  World world;
  auto old = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  world.publish("2", {wheel("torch", "2.10.0", {"rocm==9.9"})}, "pytorch");
  world.clock->pass(60 * k_day);
  EXPECT_THAT(sets_of(world.plan().tombstone), ElementsAre(old));
}

TEST(Retention, IsUndoneWithinTheGraceAndStaysUndone) {
  World world;
  auto set = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto other = world.publish("2", {wheel("rocm", "7.12.0.dev2")});
  auto pages_before = snapshot(*world.store).at("1-linux/python/g/index.html");
  world.clock->pass(60 * k_day);
  auto applied = world.apply();
  EXPECT_THAT(applied.tombstoned, SizeIs(2));
  auto undone = world.undo(*world.store, {{}, {set}});
  ASSERT_TRUE(undone) << render(undone.error());
  EXPECT_THAT(sets_of(undone->restored), ElementsAre(set));
  EXPECT_TRUE(registry::load_sealed(*world.store, set));
  EXPECT_EQ(snapshot(*world.store).at("1-linux/python/g/index.html"), pages_before);
  EXPECT_TRUE(world.plan().tombstone.empty()) << "its age counts from the undo";
  world.clock->pass(8 * k_day);
  EXPECT_THAT(sets_of(world.apply().purged), ElementsAre(other));
  auto late = world.undo(*world.store, {applied.plan, {}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "O202");
  EXPECT_THAT(late.error().message, HasSubstr("too late"));
  world.clock->pass(31 * k_day);
  EXPECT_THAT(sets_of(world.plan().tombstone), ElementsAre(set));
  EXPECT_EQ(violations(*world.store), "");
}

TEST(Retention, KeepsAFileThatAnotherSetOfTheDirectoryHas) {
  World world;
  auto old = world.publish("1", {wheel("rocm", "7.12.0.dev1"), wheel("other", "1.0.dev1")});
  world.clock->pass(29 * k_day);
  auto young = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  world.clock->pass(2 * k_day);
  EXPECT_THAT(sets_of(world.apply().tombstoned), ElementsAre(old));
  world.clock->pass(8 * k_day);
  EXPECT_THAT(sets_of(world.apply().purged), ElementsAre(old));
  EXPECT_TRUE(world.has_files(young));
  EXPECT_FALSE(*world.store->head("1-linux/python/g/dist/other-1.0.dev1-py3-none-any.whl"));
  EXPECT_EQ(violations(*world.store), "");
}

TEST(Retention, GarbageCollectionKeepsTheRecordsOfWhatLeft) {
  World world;
  auto set = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  world.clock->pass(60 * k_day);
  world.apply();
  for (int run = 0; run < 3; ++run) EXPECT_TRUE(publish::collect_garbage(*world.store, {0, 0, false}));
  EXPECT_TRUE(*world.store->head(registry::set_key(set)));
  EXPECT_TRUE(world.undo(*world.store, {{}, {set}}));
}

/// A channel that names a tombstoned set after all, as a promotion does that took longer than the grace.
/// Shows the set in a channel as soon as its record of retention was written once more.
void show_once_retired(World& world, FaultyStore& stepped, const registry::SealedSet& sealed, bool& moved) {
  stepped.after_call = [&](std::uint64_t) {
    if (moved || !stepped.log().back().starts_with("put 1-linux/python/g/retired/")) return;
    moved = true;
    ASSERT_TRUE(publish::add_sets(*world.store, "staging", {sealed},
                                  {registry::Action::publish, {}, {}, "t", sys::Timestamp::from_us(1), ""}));
  };
}

TEST(Retention, LooksAgainBeforeItRemoves) {
  World world;
  auto set = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto sealed = *registry::load_sealed(*world.store, set);
  world.clock->pass(60 * k_day);
  world.apply();
  world.clock->pass(8 * k_day);
  FaultyStore stepped(*world.store);
  bool moved = false;
  show_once_retired(world, stepped, sealed, moved); // its record says now that files are going
  auto applied = world.try_apply(stepped);
  ASSERT_TRUE(applied) << render(applied.error());
  EXPECT_TRUE(moved);
  EXPECT_THAT(applied->purged, IsEmpty());
  ASSERT_THAT(applied->spared, SizeIs(1));
  EXPECT_EQ(applied->spared[0].why, "channel staging names it since");
  EXPECT_TRUE(registry::load_sealed(*world.store, set));
  EXPECT_TRUE(world.has_files(set));
}

TEST(Retention, PutsBackWhatIsNamedByTheTimeItsSealIsGone) {
  World world;
  auto set = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto sealed = *registry::load_sealed(*world.store, set);
  world.clock->pass(60 * k_day);
  FaultyStore stepped(*world.store);
  bool moved = false;
  show_once_retired(world, stepped, sealed, moved); // a promotion that had found the set sealed
  auto applied = world.try_apply(stepped);
  ASSERT_TRUE(applied) << render(applied.error());
  EXPECT_TRUE(moved);
  EXPECT_THAT(applied->tombstoned, IsEmpty());
  ASSERT_THAT(applied->spared, SizeIs(1));
  EXPECT_EQ(applied->spared[0].why, "channel staging names it since");
  EXPECT_TRUE(registry::load_sealed(*world.store, set));
}

/// Two sets to tombstone, one to purge, one that needs another.
void fill(World& world) {
  world.publish("1", {wheel("rocm", "7.12.0.dev1"), wheel("other", "1.0.dev1")});
  world.clock->pass(60 * k_day);
  world.apply();
  world.clock->pass(8 * k_day);
  world.publish("2", {wheel("rocm", "7.12.0.dev2")});
  world.publish("3", {wheel("rocm", "7.12.0.dev3")});
  world.publish("4", {wheel("torch", "2.10.0", {"rocm==7.12.0.dev3"})}, "pytorch");
  world.publish("5", {wheel("rocm", "7.12.0.dev5")});
  world.clock->pass(60 * k_day);
}

/// What is there, without what depends on the time and on which plan of two came first.
std::string shape(store::ObjectStore& store) {
  std::string text;
  for (const auto& [key, bytes] : snapshot(store)) {
    if (key.starts_with("retention/plans/")) continue;
    text += key + "\n";
    if (key.find("/retired/") != key.npos) text += bytes.substr(bytes.find("\"state\"")).substr(0, 24) + "\n";
  }
  return text;
}

TEST(Retention, KilledAtAnyCallAndRunAgainItGivesAnEqualStore) {
  World base;
  fill(base);
  World whole(base, 0);
  FaultyStore counter(*whole.store);
  auto done = whole.try_apply(counter);
  ASSERT_TRUE(done) << render(done.error());
  ASSERT_THAT(done->tombstoned, SizeIs(2));
  ASSERT_THAT(done->purged, SizeIs(1));
  auto expected = shape(*whole.store);
  for (auto fault : {FaultyStore::Fault::die_before, FaultyStore::Fault::die_after, FaultyStore::Fault::lose_reply})
    for (std::uint64_t at = 1; at <= counter.calls(); at += store::testing::moment_step()) {
      World world(base, 0);
      FaultyStore dying(*world.store, {fault, at, false});
      auto killed = world.try_apply(dying);
      EXPECT_EQ(violations(*world.store), "") << "killed at " << at << ": " << dying.log().at(at - 1);
      auto again = world.try_apply(*world.store);
      ASSERT_TRUE(again) << at << render(again.error());
      EXPECT_EQ(shape(*world.store), expected) << "killed at " << at << ": " << dying.log().at(at - 1);
    }
}

TEST(Retention, AnUndoThatIsKilledIsCompleted) {
  World base;
  auto set = base.publish("1", {wheel("rocm", "7.12.0.dev1")});
  base.clock->pass(60 * k_day);
  auto plan = base.apply().plan;
  World counted(base, 0);
  FaultyStore counter(*counted.store);
  ASSERT_TRUE(counted.undo(counter, {plan, {}}));
  for (std::uint64_t at = 1; at <= counter.calls(); at += store::testing::moment_step()) {
    World world(base, 0);
    FaultyStore dying(*world.store, {FaultyStore::Fault::die_before, at, false});
    auto killed = world.undo(dying, {plan, {}});
    EXPECT_EQ(violations(*world.store), "") << at;
    world.apply(); // whoever comes first completes it
    auto sealed = registry::load_sealed(*world.store, set);
    bool undone = sealed.has_value();
    if (!undone) {
      ASSERT_TRUE(world.undo(*world.store, {plan, {}})) << at;
    }
    EXPECT_TRUE(registry::load_sealed(*world.store, set)) << at;
    EXPECT_TRUE(world.has_files(set));
    EXPECT_EQ(violations(*world.store), "") << at;
  }
}

// After the seal, before the pages: nothing is left to put back, but the pages still lack the set.
TEST(Retention, ARepeatedUndoWritesThePages) {
  World base;
  auto set = base.publish("1", {wheel("rocm", "7.12.0.dev1")});
  const std::string page = "1-linux/python/g/index.html";
  auto pages_before = snapshot(*base.store).at(page);
  base.clock->pass(60 * k_day);
  auto plan = base.apply().plan;
  World counted(base, 0);
  FaultyStore counter(*counted.store);
  ASSERT_TRUE(counted.undo(counter, {plan, {}}));
  for (std::uint64_t at = 1; at <= counter.calls(); at += store::testing::moment_step()) {
    World world(base, 0);
    FaultyStore dying(*world.store, {FaultyStore::Fault::die_before, at, false});
    ASSERT_FALSE(world.undo(dying, {plan, {}}));
    auto again = world.undo(*world.store, {plan, {}});
    ASSERT_TRUE(again) << at << render(again.error());
    EXPECT_EQ(again->restored.size() + again->earlier.size(), 1u) << at;
    EXPECT_EQ(snapshot(*world.store).at(page), pages_before) << at;
    EXPECT_EQ(violations(*world.store), "") << at;
    auto third = world.undo(*world.store, {{}, {set}});
    ASSERT_TRUE(third);
    EXPECT_THAT(third->earlier, ElementsAre(set));
  }
}

TEST(Retention, TheRestOfAPlanIsDoneByItsDigest) {
  World world;
  fill(world);
  auto plan = world.plan();
  std::uint64_t removal = 0;
  {
    World counted(world, 0);
    FaultyStore counter(*counted.store);
    ASSERT_TRUE(counted.try_apply(counter));
    auto log = counter.log();
    for (std::size_t i = 0; i < log.size() && !removal; ++i)
      if (log[i].starts_with("remove") && log[i].find("/seals/") != std::string::npos) removal = i + 1;
  }
  FaultyStore killed(*world.store, {FaultyStore::Fault::die_after, removal, false});
  ASSERT_FALSE(world.try_apply(killed));
  auto now = world.plan();
  EXPECT_NE(now.digest, plan.digest);
  ASSERT_TRUE(*was_begun(*world.store, plan.digest));
  EXPECT_FALSE(*was_begun(*world.store, now.digest));
  auto rest = rest_of(*world.store, plan.digest, now);
  ASSERT_TRUE(rest) << render(rest.error());
  EXPECT_EQ(rest->digest, plan.digest);
  EXPECT_THAT(rest->tombstone, SizeIs(1));
  EXPECT_THAT(rest->purge, SizeIs(1));
}

TEST(Retention, NothingIsRemovedWhereNobodyKnowsTheTime) {
  World world;
  world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  auto timeless = store::make_memory_store();
  for (const auto& [key, bytes] : snapshot(*world.store))
    ASSERT_TRUE(timeless->put(key, content::Rope::literal(bytes), {}));
  auto refused = time_for_retention(*timeless);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O201");
}

TEST(Retention, ADamagedRecordIsLeftAlone) {
  World world;
  auto set = world.publish("1", {wheel("rocm", "7.12.0.dev1")});
  ASSERT_TRUE(world.store->put(registry::set_key(set), content::Rope::literal("rot"), {}));
  world.clock->pass(60 * k_day);
  auto plan = world.plan();
  EXPECT_TRUE(plan.empty());
  ASSERT_THAT(plan.notes, SizeIs(1));
  EXPECT_EQ(plan.notes[0].code, "R021");
}

TEST(Retention, StopsWhenWhatAChannelNamesIsNotKnown) {
  World world;
  world.show("staging", world.publish("1", {wheel("rocm", "7.12.0.dev1")}));
  auto channel = *registry::require_channel(*world.store, "staging");
  ASSERT_TRUE(world.store->remove(registry::view_key(channel.record.view)));
  world.clock->pass(60 * k_day);
  EXPECT_EQ(world.try_apply(*world.store).error().code, "R010");
}

} // namespace
} // namespace quarry::retain
