#include "pages/channel_pages.hpp"

#include "pages/addresses.hpp"
#include "pages/projection.hpp"
#include "publish/move.hpp"
#include "publish/testing/invariants.hpp"
#include "registry/revocations.hpp"
#include "registry/testing/samples.hpp"
#include "registry/waived.hpp"
#include "store/testing/faulty_store.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace quarry::publish {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const auto k_when = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
constexpr const char* k_channel = "nightly";
constexpr int k_projects = 210, k_versions = 6; // more files than one page lists, more projects than are put in order

std::string name(int project) { return fmt::format("p{}", project); }
std::string page_of(int project) { return fmt::format("channels/nightly/simple/p{}/index.html", project); }

registry::testing::SampleFile file(int project, const std::string& version) {
  return {fmt::format("p{}-{}-py3-none-any.whl", project, version), name(project), version};
}

class ChannelPages : public ::testing::Test {
protected:
  void SetUp() override {
    std::vector<registry::testing::SampleFile> files;
    for (int project = 0; project < k_projects; ++project)
      for (int version = 0; version < k_versions; ++version)
        files.push_back(file(project, fmt::format("1.{}", version)));
    add(files);
    project();
  }
  void add(const std::vector<registry::testing::SampleFile>& files) {
    auto set = registry::testing::sealed_sample(*store_, fmt::format("{}-linux/python/g", ++runs_), files);
    auto added = add_sets(*store_, k_channel, {set}, {registry::Action::publish, {}, {}, "tester", k_when, {}});
    ASSERT_TRUE(added) << render(added.error());
  }
  void back_to_generation(std::uint64_t wanted) {
    auto now = *registry::require_channel(*store_, k_channel);
    auto moves = *registry::ledger_chain(*store_, now.record);
    for (const auto& move : moves)
      if (move.record.generation == wanted) {
        auto view = registry::View{move.record.to_view, *registry::load_view(*store_, move.record.to_view), {}};
        ASSERT_TRUE(
            move_channel(*store_, k_channel, now, view, {registry::Action::rollback, {}, {}, "tester", k_when, {}}));
      }
  }
  pages::Projected project(pages::Extent extent = pages::Extent::changed) {
    auto done = pages::project_channel(*store_, k_channel, extent);
    EXPECT_TRUE(done) << render(done.error());
    return done.value_or(pages::Projected{});
  }
  std::string get(const std::string& key) { return store_->get(key, 1u << 26)->value_or(""); }
  /// What the pages would be if all of them were looked at.
  void expect_right() {
    auto shown = testing::snapshot(*store_);
    EXPECT_EQ(testing::broken_links(shown) + testing::broken_copies(shown), "");
    auto repaired = project(pages::Extent::whole);
    EXPECT_EQ(testing::differences(testing::snapshot(*store_), shown), "");
    EXPECT_EQ(repaired.pages_written + repaired.pages_removed, 0u);
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
  int runs_ = 0;
};

TEST_F(ChannelPages, OneMoreFileTouchesItsProjectAlone) {
  expect_right();
  add({file(7, "2.0")});
  auto before = store_->counters();
  auto done = project();
  auto after = store_->counters();
  EXPECT_EQ(done.pages_written, 4u); // HTML, its copy, JSON, pages.json
  EXPECT_EQ(after.puts - before.puts, 4u);
  EXPECT_EQ(after.lists, before.lists);
  EXPECT_LT(after.gets - before.gets, 20u); // of more than 400 pages
  EXPECT_THAT(get(page_of(7)), HasSubstr("p7-2.0-py3"));
  expect_right();
}

TEST_F(ChannelPages, AProjectComesAndGoes) {
  add({file(1000, "1.0")});
  EXPECT_EQ(project().pages_written, 3u + 5u + 1u); // its pages, the roots and the overview, the state
  expect_right();
  back_to_generation(1);
  auto done = project();
  EXPECT_EQ(done.pages_removed, 3u);
  EXPECT_EQ(get(page_of(1000)), "");
  EXPECT_THAT(get("channels/nightly/simple/index.html"), Not(HasSubstr(">p1000<")));
  auto before = store_->counters();
  EXPECT_EQ(project().pages_removed, 0u);
  EXPECT_EQ(store_->counters().removes, before.removes);
  expect_right();
}

TEST_F(ChannelPages, CopiesThatAreMissingAlteredOrLeftAreRepaired) {
  auto copy = [](int project) { return fmt::format("channels/nightly/simple/p{}/", project); };
  ASSERT_TRUE(store_->put(copy(3), content::Rope::literal("another page"), {}));
  ASSERT_TRUE(store_->remove(copy(4)));
  ASSERT_TRUE(store_->put(copy(5000), content::Rope::literal("left"), {})); // of a project that is gone, without page
  auto repaired = project(pages::Extent::whole);
  EXPECT_EQ(repaired.pages_written, 2u);
  EXPECT_EQ(repaired.pages_removed, 1u);
  EXPECT_EQ(get(copy(3)), get(page_of(3)));
  EXPECT_EQ(get(copy(4)), get(page_of(4)));
  EXPECT_FALSE(*store_->head(copy(5000)));
  expect_right();
}

TEST_F(ChannelPages, APageOfAnotherToolIsDamage) {
  auto ours = get(page_of(7));
  ASSERT_TRUE(store_->put(page_of(7), content::Rope::literal("<a href=\"p7-9.0-py3-none-any.whl\">x</a>"), {}));
  auto repaired = project(pages::Extent::whole);
  EXPECT_TRUE(repaired.foreign.empty());
  EXPECT_EQ(get(page_of(7)), ours);
}

TEST_F(ChannelPages, ALargeChannelOfAnOlderProgramGetsEveryCopy) {
  const auto listed = *store_->list("channels/");
  for (const auto& object : listed)
    if (object.key.ends_with('/')) {
      ASSERT_TRUE(store_->remove(object.key));
    }
  auto state = pages::parse_pages_state(get("channels/nightly/pages.json"));
  EXPECT_TRUE(state.slash_keys);
  state.slash_keys = false;
  ASSERT_TRUE(store_->put("channels/nightly/pages.json", content::Rope::literal(to_json(state)), {}));
  add({file(7, "2.0")});
  project();
  expect_right();
}

TEST_F(ChannelPages, ALargeChannelWithoutSlashKeysNamesAPageForEachProject) {
  store_ = store::make_memory_store(nullptr, store::SlashKeys::refused);
  SetUp();
  auto at = pages::addresses_of(*store_, {}, "channels/nightly", {"p1", "p2"});
  ASSERT_TRUE(at) << render(at.error());
  EXPECT_EQ(at->index_url, "");
  EXPECT_THAT(at->find_links, ::testing::ElementsAre("memory:/" + page_of(1), "memory:/" + page_of(2)));
  EXPECT_EQ(pages::installer_words(*at),
            "--no-index --find-links memory:/" + page_of(1) + " --find-links memory:/" + page_of(2));
}

/// A store in which a console has marked each directory by an empty object.
class MarkedStore : public store::testing::FaultyStore {
public:
  using FaultyStore::FaultyStore;
  Result<std::optional<store::ObjectInfo>> do_head(const std::string& key) override {
    if (key.ends_with('/')) return std::optional(store::ObjectInfo{.key = key, .size = 0, .etag = {}});
    return FaultyStore::do_head(key);
  }
};

TEST_F(ChannelPages, AMarkerOfADirectoryIsNotItsPage) {
  MarkedStore marked(*store_);
  auto at = pages::addresses_of(marked, {}, "channels/nightly", {"p1"});
  ASSERT_TRUE(at) << render(at.error());
  EXPECT_EQ(at->index_url, "");
}

TEST_F(ChannelPages, MovesWhosePagesNobodyWroteAreCaughtUp) {
  add({file(1, "2.0")});
  add({file(2, "2.0"), file(1001, "1.0")});
  back_to_generation(2);
  add({file(3, "2.0")});
  project();
  EXPECT_THAT(get(page_of(1)), HasSubstr("p1-2.0"));
  EXPECT_THAT(get(page_of(2)), Not(HasSubstr("p2-2.0")));
  EXPECT_THAT(get(page_of(3)), HasSubstr("p3-2.0"));
  EXPECT_EQ(*pages::projected_generation(*store_, k_channel), 5u);
  expect_right();
}

TEST_F(ChannelPages, WhatASlowWriterLeavesTheNextOneMends) {
  add({file(5, "2.0")});
  project();
  auto late = get(page_of(5));
  back_to_generation(1);
  project();
  ASSERT_TRUE(store_->put(page_of(5), content::Rope::literal(late), {})); // by the writer of generation 2
  add({file(6, "2.0")});
  project();
  EXPECT_THAT(get(page_of(5)), Not(HasSubstr("p5-2.0")));
  expect_right();
}

// The rival returns to what the pages show, so that they have the etags that the slow writer read.
TEST_F(ChannelPages, AWriterThatWasOvertakenLeavesNoOldPage) {
  add({file(5, "2.0")});
  project();
  std::uint64_t n = 1;
  for (;; ++n) {
    back_to_generation(1); // without its pages
    store::testing::FaultyStore slow(*store_);
    slow.after_call = [&](std::uint64_t call) {
      if (call != n) return;
      back_to_generation(2);
      project();
    };
    ASSERT_TRUE(pages::project_channel(slow, k_channel));
    if (slow.calls() < n) break;
    SCOPED_TRACE("call " + std::to_string(n) + ": " + slow.log()[n - 1]);
    ASSERT_THAT(get(page_of(5)), HasSubstr("p5-2.0"));
    ASSERT_EQ(project(pages::Extent::whole).pages_written, 0u);
  }
  EXPECT_GT(n, 8u);
}

/// More files than one page lists, in few projects.
class WaivedChannelPages : public ChannelPages {
protected:
  void SetUp() override {
    std::vector<registry::testing::SampleFile> files;
    for (int version = 0; version < 1001; ++version) files.push_back(file(0, fmt::format("1.{}", version)));
    for (int project = 1; project < 20; ++project) files.push_back(file(project, "1.0"));
    add(files);
    project();
  }
  /// A move that adds a waiver for this project to the view.
  registry::WaiverDigest waive(int project) {
    registry::WaiverDigest waiver(sha256(name(project)));
    auto now = *registry::require_channel(*store_, k_channel);
    registry::View view{{}, *registry::load_view(*store_, now.record.view), {}};
    auto waived = registry::waived_of(view.record);
    waived.push_back(
        {view.record.sets.at(0), waiver, "smoke", "lead", "no machine", "2026-11-21T12:00:00Z", {}, {name(project)}});
    registry::set_waived(view.record, std::move(waived));
    view.digest = registry::digest_of(view.record);
    auto moved = move_channel(*store_, k_channel, now, view, {registry::Action::promote, {}, {}, "tester", k_when, {}});
    EXPECT_TRUE(moved) << render(moved.error());
    return waiver;
  }
};

// The channel stays as it is when a waiver of its view is revoked. A writer that has looked for revocations before must
// not write over the pages of one that looked later: if it is killed then, nobody compares these pages again.
TEST_F(WaivedChannelPages, AWriterThatMissedARevocationLeavesNoOldPage) {
  int n = 1; // also the project: one that changes twice is compared anyhow
  for (;; ++n) {
    auto waiver = waive(n); // a move that changes the project's page
    store::testing::FaultyStore slow(*store_);
    slow.after_call = [&](std::uint64_t call) {
      if (call != static_cast<std::uint64_t>(n)) return;
      ASSERT_TRUE(store_->put(registry::revocation_key(waiver), content::Rope::literal("{}"), {}));
      project();
    };
    store::testing::FaultyStore killed(slow, {store::testing::FaultyStore::Fault::die_after, 1, true});
    (void)pages::project_channel(killed, k_channel);
    if (slow.calls() < static_cast<std::uint64_t>(n)) break;
    project();
    SCOPED_TRACE(fmt::format("call {}: {}", n, slow.log()[static_cast<std::size_t>(n) - 1]));
    ASSERT_THAT(get(page_of(n)), HasSubstr(fmt::format("(waiver {}, revoked since)", waiver.short_hex())));
  }
  EXPECT_GT(n, 8);
}

// Pages need the present alone: what is lost of the past makes them slower, not impossible.
TEST_F(ChannelPages, ADamagedPastKeepsNobodyFromWritingPages) {
  int number = 10;
  for (auto extent : {pages::Extent::changed, pages::Extent::whole})
    for (bool is_view : {true, false}) {
      add({file(++number, "2.0")});
      project();
      auto shown = registry::require_channel(*store_, k_channel)->record;
      add({file(++number, "2.0")});
      auto now = registry::require_channel(*store_, k_channel)->record;
      auto key = is_view ? registry::view_key(shown.view) : registry::ledger_key(now.ledger);
      const auto kept = get(key);
      ASSERT_NE(kept, "");
      ASSERT_TRUE(store_->put(key, content::Rope::literal("{}"), {}));
      project(extent);
      EXPECT_THAT(get(page_of(number)), HasSubstr(fmt::format("p{}-2.0", number)));
      ASSERT_TRUE(store_->put(key, content::Rope::literal(kept), {}));
      expect_right();
    }
}

TEST_F(ChannelPages, AStateThatDoesNotFitIsNoState) {
  add({file(5, "2.0")});
  for (const char* state : {"", "[1]", R"({"schema":"quarry.pages/1"})",
                            R"({"schema":"quarry.pages/1","generation":99,"files":1,"view":"x"})",
                            R"({"schema":"quarry.pages/1","generation":1,"files":1,"view":"another"})",
                            R"({"schema":"quarry.pages/1","generation":2,"files":1,"recent":{"../../x":2}})",
                            R"({"schema":"quarry.pages/1","generation":2,"files":1,"twice":{"p9":"x"}})"}) {
    ASSERT_TRUE(store_->put("channels/nightly/pages.json", content::Rope::literal(state), {}));
    ASSERT_TRUE(store_->put(page_of(9), content::Rope::literal("torn"), {}));
    project();
    EXPECT_THAT(get(page_of(9)), HasSubstr("p9-1.0")) << state;
    expect_right();
  }
}

TEST_F(ChannelPages, OfASmallChannelEveryPageIsLookedAt) {
  back_to_generation(1);
  project();
  auto small = "channels/nightly/simple/p1/index.html";
  store_ = store::make_memory_store();
  add({file(1, "1.0"), file(2, "1.0")});
  project();
  EXPECT_THAT(get("channels/nightly/index.html"), HasSubstr("p1-1.0-py3-none-any.whl")); // a page of all files
  ASSERT_TRUE(store_->put(small, content::Rope::literal("torn"), {}));
  EXPECT_EQ(project().pages_written, 1u);
  expect_right();
}

TEST_F(ChannelPages, AnyOrderOfMovesAndWritersEndsInTheSamePages) {
  std::mt19937 random(20261122); // NOLINT(cert-msc51-cpp): the same walk on every machine
  auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int step = 0; step < 60; ++step) {
    auto now = registry::require_channel(*store_, k_channel)->record.generation;
    if (upto(4) == 0)
      back_to_generation(1 + static_cast<std::uint64_t>(upto(static_cast<int>(now))));
    else
      add({file(upto(k_projects + 20), fmt::format("2.{}", step))});
    if (upto(3) != 0) project();
  }
  project();
  expect_right();
}

TEST(GuardedChannel, TheSameCallCompletesAProtectionThatDiedAnywhere) {
  const registry::Guard guard{registry::PolicyDigest(sha256("a policy")), {}};
  Reason reason{registry::Action::protect, {}, {}, "tester", k_when, {}};
  reason.policy = guard.policy; // as the record says: else the same call would move again
  auto protect = [&](store::ObjectStore& store) {
    return change_guard(
        store, k_channel, [&](const registry::Guard&) -> Result<registry::Guard> { return guard; }, reason);
  };
  auto undisturbed = store::make_memory_store();
  store::testing::FaultyStore counting(*undisturbed);
  ASSERT_TRUE(protect(counting));
  const auto expected = testing::snapshot(*undisturbed);
  for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = store::make_memory_store();
    store::testing::FaultyStore faulty(*store, {store::testing::FaultyStore::Fault::die_after, n, false});
    EXPECT_FALSE(protect(faulty));
    auto again = protect(*store);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(testing::differences(expected, testing::snapshot(*store)), "");
  }
}

} // namespace
} // namespace quarry::publish
