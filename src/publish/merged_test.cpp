#include "pages/merged.hpp"

#include "index/read_page.hpp"
#include "pages/clash.hpp"
#include "pages/projection.hpp"
#include "publish/history.hpp"
#include "publish/move.hpp"
#include "publish/outputs.hpp"
#include "publish/publish.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/testing/packages.hpp"
#include "publish/upkeep.hpp"
#include "registry/history.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include "thread/pool.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::publish {
namespace {

using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Packages;

const auto k_merged_at = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
const std::string k_run = "42-linux/python/g", k_staging = "channels/staging";

Result<Receipt> publish(store::ObjectStore& store, const std::vector<std::string>& names,
                        const std::string& channel = "staging", const std::string& run = "42",
                        const std::string& area = "python", const std::string& group = "g") {
  Packages made;
  for (const auto& name : names) made.add(name);
  Target target{.layout = *run::Layout::create({{}, run, Platform::linux}), .group = group, .channel = channel};
  target.area = area;
  TRY(auto collected, collect({made.path(), testing::fake_describe, 1}));
  TRY(auto plan, make_plan(store, target, std::move(collected), k_merged_at));
  return execute(store, plan, {k_merged_at, "tester", {}, 1, {}});
}

/// What a mirror leaves: a sealed set in the base index. `directory`: or in another one, as `set adopt --seal` does.
Result<Receipt> mirror(store::ObjectStore& store, const std::vector<std::string>& names,
                       const std::string& directory = std::string(pages::k_base_index)) {
  Packages made;
  for (const auto& name : names) made.add(name);
  TRY(auto collected, collect({made.path(), testing::fake_describe, 1, {}, {}, true}));
  Plan plan;
  plan.directory = directory;
  plan.set.directory = plan.directory;
  for (auto& candidate : collected.candidates) {
    candidate.file.key = plan.directory + "/dist/" + candidate.file.filename;
    candidate.file.upload_time = k_merged_at.text();
    plan.set.files.push_back(candidate.file);
    plan.files.push_back({candidate.path, candidate.file, candidate.sidecar, false});
  }
  plan.set_digest = registry::digest_of(plan.set);
  return execute(store, plan, {k_merged_at, "tester", {}, 1, {}});
}

/// A store in which another writer replaces an object as soon as it is written for the first time, so that the writer
/// gets no ETag.
class ReplacedAtOnce : public FaultyStore {
public:
  ReplacedAtOnce(store::ObjectStore& inner, std::string key) : FaultyStore(inner), key_(std::move(key)) {}
  Result<store::ObjectInfo> do_put(const std::string& key, const content::Rope& content,
                                   const store::PutOptions& options) override {
    TRY(auto info, FaultyStore::do_put(key, content, options));
    if (key == key_ && !std::exchange(replaced_, true)) {
      TRY_DO(inner().put(key, content::Rope::literal("{}"), {}));
      info.etag.clear();
    }
    return info;
  }

private:
  std::string key_;
  bool replaced_ = false;
};

std::vector<std::string> projects(store::ObjectStore& store, const std::string& directory) {
  auto page = store.get(directory + "/merged/simple-json/index.html", 1 << 20);
  return page && *page ? index::read_json_page({**page, "root"})->projects : std::vector<std::string>();
}

std::vector<std::string> links(store::ObjectStore& store, const std::string& directory, const std::string& project) {
  std::vector<std::string> urls;
  auto page = store.get(directory + "/merged/simple/" + project + "/index.html", 1 << 20);
  if (!page || !*page) return urls;
  auto read = index::read_html_page({**page, "page"});
  for (const auto& file : read->files) urls.push_back(file.url);
  return urls;
}

/// What people see: without what merged indexes note about who moved lately.
testing::Snapshot pages_of(testing::Snapshot all) {
  std::erase_if(all, [](const auto& entry) { return entry.first.ends_with("/merged/pages.json"); });
  return all;
}

class MergedIndex : public ::testing::Test {
protected:
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST(Merged, ListsUntestedHistoryToo) {
  auto store = store::make_memory_store();
  ASSERT_TRUE(mirror(*store, {"numpy-2.0-py3-none-any.whl"}));
  registry::HistoryFile old;
  old.filename = "old-1.0-py3-none-any.whl", old.project = "old", old.version = "1.0", old.key = "v2/g/" + old.filename;
  registry::HistoryRecord record{"v2/g", {old}, k_merged_at, {}, {}, {}};
  ASSERT_TRUE(registry::put_history(*store, record));
  auto shown = show_directory(*store, "v2/g");
  ASSERT_TRUE(shown) << render(shown.error());
  EXPECT_THAT(projects(*store, "v2/g"), ElementsAre("numpy", "old"));
  EXPECT_EQ(links(*store, "v2/g", "old").size(), 1u);
}

TEST_F(MergedIndex, WithoutABaseIndexThereIsNone) {
  auto receipt = publish(*store_, {"rocm-1.0.tar.gz"});
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->directory_at.merged_url + receipt->channel_at.merged_url, "");
  EXPECT_THAT(*store_->list(k_run + "/merged/"), IsEmpty());
}

TEST_F(MergedIndex, ShowsOwnProjectsAndDependenciesWithLinksToEither) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto receipt = publish(*store_, {"rocm-1.0+r1.tar.gz"});
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_EQ(receipt->directory_at.merged_url, store_->url(k_run + "/merged/simple") + "/");
  EXPECT_EQ(receipt->channel_at.merged_url, store_->url(k_staging + "/merged/simple") + "/");
  for (const auto& directory : {k_run, k_staging})
    EXPECT_THAT(projects(*store_, directory), ElementsAre("numpy", "rocm"));
  EXPECT_THAT(links(*store_, k_run, "rocm"), ElementsAre("../../../dist/rocm-1.0%2Br1.tar.gz"));
  EXPECT_THAT(links(*store_, k_run, "numpy"),
              ElementsAre("../../../../../../python-deps/dist/numpy-2.0-py3-none-any.whl"));
  EXPECT_EQ(testing::violations(*store_), "");
}

TEST_F(MergedIndex, WhatIsMirroredLaterReachesEveryRunAndChannel) {
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto all = pages::merge_all(*store_);
  ASSERT_TRUE(all) << render(all.error());
  EXPECT_THAT(all->directories, ElementsAre(k_staging, k_run));
  ASSERT_TRUE(
      mirror(*store_, {"numpy-2.0-py3-none-any.whl", "numpy-2.1-py3-none-any.whl", "sympy-1.0-py3-none-any.whl"}));
  ASSERT_TRUE(pages::merge_all(*store_));
  for (const auto& directory : {k_run, k_staging}) {
    EXPECT_THAT(projects(*store_, directory), ElementsAre("numpy", "rocm", "sympy"));
    EXPECT_EQ(links(*store_, directory, "numpy").size(), 2u);
  }
  auto again = pages::merge_all(*store_);
  EXPECT_EQ(again->pages_written + again->pages_removed, 0u);
  EXPECT_EQ(testing::violations(*store_), "");
}

TEST_F(MergedIndex, AStateThatIsReplacedAtOnceStartsTheRoundOver) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl", "numpy-2.1-py3-none-any.whl"}));
  ReplacedAtOnce racing(*store_, k_run + "/merged/pages.json");
  auto merged = pages::merge_directory(racing, k_run);
  ASSERT_TRUE(merged) << render(merged.error());
  EXPECT_GT(merged->pages_written, 2u) << "the round that was overtaken has written no page";
  EXPECT_EQ(links(*store_, k_run, "numpy").size(), 2u);
  EXPECT_EQ(testing::broken_copies(testing::snapshot(*store_)), "");
}

TEST_F(MergedIndex, EveryPageHasACopyAlsoWhereAnOlderProgramWroteNone) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  const auto expected = testing::snapshot(*store_);
  EXPECT_EQ(testing::broken_copies(expected), "");
  for (const auto& [key, bytes] : expected) {
    if (key.ends_with('/')) {
      ASSERT_TRUE(store_->remove(key));
    }
    if (!key.ends_with("/pages.json")) continue;
    auto state = bytes;
    auto at = state.find(",\"slash_keys\":true");
    ASSERT_NE(at, state.npos) << key;
    ASSERT_TRUE(store_->put(key, content::Rope::literal(state.erase(at, 18)), {}));
  }
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  ASSERT_TRUE(repair_directories(
      *store_, registry::resolve_set(*store_, mirror(*store_, {"numpy-2.0-py3-none-any.whl"})->set.hex())->sets));
  EXPECT_EQ(testing::differences(expected, testing::snapshot(*store_)), "");
}

TEST_F(MergedIndex, WithoutSlashKeysTheLinksOfTheBaseIndexAreNamedToo) {
  store_ = store::make_memory_store(nullptr, store::SlashKeys::refused);
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto receipt = publish(*store_, {"rocm-1.0.tar.gz"});
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_EQ(receipt->directory_at.merged_url, "");
  EXPECT_THAT(receipt->directory_at.find_links,
              ElementsAre(store_->url(k_run + "/index.html"), store_->url("python-deps/index.html")));
}

TEST_F(MergedIndex, AMoveWritesThePagesOfWhatChangedAlone) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl", "sympy-1.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz", "core-1.0-py3-none-any.whl"}));
  FaultyStore watched(*store_);
  ASSERT_TRUE(publish(watched, {"core-1.1-py3-none-any.whl"}, "staging", "43"));
  std::vector<std::string> put;
  for (const auto& line : watched.log())
    if (line.starts_with("put " + k_staging + "/merged/")) put.push_back(line.substr(4 + k_staging.size() + 8));
  EXPECT_THAT(put, ElementsAre("pages.json", "simple/core/index.html", "simple/core/", "simple-json/core/index.html",
                               "pages.json"));
  EXPECT_THAT(watched.log(),
              ::testing::Not(::testing::Contains(HasSubstr("get " + k_staging + "/merged/simple/numpy"))));
}

TEST_F(MergedIndex, AProjectOfBothIsTheRunsAloneAndIsTold) {
  ASSERT_TRUE(publish(*store_, {"numpy-1.0-py3-none-any.whl"}, ""));
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"})); // as a mirror does that saw the store before the run
  auto merged = pages::merge_directory(*store_, k_run);
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->notes.size(), 1u);
  EXPECT_EQ(merged->notes[0].code, "P050");
  EXPECT_THAT(merged->notes[0].message, HasSubstr("numpy is a project of " + k_run + " and of python-deps"));
  EXPECT_THAT(merged->notes[0].message,
              HasSubstr("pip would take  2.0 of python-deps; uv would take   1.0 of " + k_run));
  EXPECT_THAT(links(*store_, k_run, "numpy"), ElementsAre("../../../dist/numpy-1.0-py3-none-any.whl"));
  EXPECT_EQ(repair_directories(*store_, registry::resolve_run(*store_, "42-linux")->sets)->notes.size(), 1u);
}

TEST_F(MergedIndex, PublishingANameOfTheBaseIndexNamesBothAndWhatInstallersWouldTake) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto refused = publish(*store_, {"numpy-1.0-py3-none-any.whl"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P017");
  EXPECT_THAT(refused.error().message, HasSubstr("numpy is a project of " + k_run + " and of the base index"));
  EXPECT_THAT(refused.error().details,
              ElementsAre("pip would take  2.0 of python-deps",
                          "uv would take   1.0 of " + k_run + ", if that is its --extra-index-url"));
  EXPECT_FALSE(*registry::read_channel(*store_, "staging"));
}

TEST_F(MergedIndex, RepairFindsWhatTheStateDoesNotKnow) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  const auto right = testing::snapshot(*store_);
  ASSERT_TRUE(store_->put(k_staging + "/merged/simple/numpy/index.html",
                          content::Rope::literal("<a href=\"numpy-9.0-py3-none-any.whl\">of another tool</a>"), {}));
  ASSERT_TRUE(store_->remove(k_staging + "/merged/simple-json/rocm/index.html"));
  ASSERT_TRUE(store_->put(k_staging + "/merged/simple/gone/index.html", content::Rope::literal("old"), {}));
  ASSERT_TRUE(repair_channel(*store_, "staging"));
  EXPECT_EQ(testing::differences(right, testing::snapshot(*store_)), "");
  ASSERT_TRUE(store_->put(k_staging + "/merged/pages.json", content::Rope::literal("{"), {}));
  ASSERT_TRUE(repair_channel(*store_, "staging"));
  EXPECT_EQ(testing::differences(pages_of(right), pages_of(testing::snapshot(*store_))), "");
  EXPECT_EQ(repair_channel(*store_, "staging")->pages_written, 0u);
}

// The state that a writer writes first is readable again; it must not hide that nobody has listed the pages.
TEST_F(MergedIndex, APageThatNoStateNamesIsRemovedAfterAKillToo) {
  auto damage = [](store::ObjectStore& store) {
    ASSERT_TRUE(mirror(store, {"numpy-2.0-py3-none-any.whl"}));
    ASSERT_TRUE(publish(store, {"core-1.0-py3-none-any.whl"}));
    ASSERT_TRUE(store.put(k_staging + "/merged/simple/gone/index.html", content::Rope::literal("old"), {}));
    ASSERT_TRUE(store.put(k_staging + "/merged/pages.json", content::Rope::literal("{"), {}));
  };
  damage(*store_);
  FaultyStore counting(*store_);
  ASSERT_TRUE(pages::merge_channel(counting, "staging"));
  EXPECT_FALSE(*store_->head(k_staging + "/merged/simple/gone/index.html"));
  for (std::uint64_t n = 1; n <= counting.calls(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = store::make_memory_store();
    damage(*store);
    FaultyStore faulty(*store, {FaultyStore::Fault::die_after, n, false});
    static_cast<void>(pages::merge_channel(faulty, "staging"));
    ASSERT_TRUE(pages::merge_channel(*store, "staging"));
    EXPECT_FALSE(*store->head(k_staging + "/merged/simple/gone/index.html"));
    EXPECT_EQ(store->get(k_staging + "/merged/pages.json", 1 << 20)->value().find("unlisted"), std::string::npos);
  }
}

// A writer that died halfway has changed pages that the state vouched for; then the channel returned to where it was.
TEST_F(MergedIndex, PagesOfAMoveThatDiedAreFoundWhenTheChannelReturns) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  const auto before = projects(*store_, k_staging);
  auto page = *store_->get(k_staging + "/merged/simple/core/index.html", 1 << 20);
  auto first = *registry::require_channel(*store_, "staging");
  FaultyStore counting(*store_);
  ASSERT_TRUE(publish(counting, {"core-1.1-py3-none-any.whl", "more-1.0-py3-none-any.whl"}, "staging", "43"));
  for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = store::make_memory_store();
    ASSERT_TRUE(mirror(*store, {"numpy-2.0-py3-none-any.whl"}));
    ASSERT_TRUE(publish(*store, {"core-1.0-py3-none-any.whl"}));
    auto view = registry::load_whole_view(*store, first.record.view);
    FaultyStore faulty(*store, {FaultyStore::Fault::die_after, n, false});
    static_cast<void>(publish(faulty, {"core-1.1-py3-none-any.whl", "more-1.0-py3-none-any.whl"}, "staging", "43"));
    auto now = registry::require_channel(*store, "staging");
    ASSERT_TRUE(
        move_channel(*store, "staging", *now, *view, {registry::Action::rollback, {}, {}, "tester", k_merged_at, {}}));
    ASSERT_TRUE(pages::merge_channel(*store, "staging"));
    ASSERT_EQ(projects(*store, k_staging), before);
    ASSERT_EQ(*store->get(k_staging + "/merged/simple/core/index.html", 1 << 20), page);
    EXPECT_TRUE(pages::merged_channel_shown(*store, "staging", view->record)->current);
  }
}

// The rival returns to what the pages show, so that they, and their etags, are what they were when the slow writer
// looked: it writes an old page that the rival's state vouches for.
TEST_F(MergedIndex, AWriterThatWasOvertakenLeavesNoOldPage) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  auto first = registry::load_whole_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  ASSERT_TRUE(publish(*store_, {"core-1.1-py3-none-any.whl"}, "staging", "43"));
  auto second = registry::load_whole_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  const auto expected = links(*store_, k_staging, "core");
  auto move_to = [&](const registry::View& view) {
    auto now = registry::require_channel(*store_, "staging");
    ASSERT_TRUE(
        move_channel(*store_, "staging", *now, view, {registry::Action::rollback, {}, {}, "tester", k_merged_at, {}}));
  };
  std::uint64_t n = 1;
  for (;; ++n) {
    move_to(*first); // without its pages
    FaultyStore slow(*store_);
    slow.after_call = [&](std::uint64_t call) {
      if (call != n) return;
      move_to(*second);
      ASSERT_TRUE(pages::merge_channel(*store_, "staging"));
    };
    ASSERT_TRUE(pages::merge_channel(slow, "staging"));
    if (slow.calls() < n) break;
    SCOPED_TRACE("call " + std::to_string(n) + ": " + slow.log()[n - 1]);
    ASSERT_EQ(links(*store_, k_staging, "core"), expected);
    ASSERT_EQ(pages::merge_channel(*store_, "staging", {/*thorough=*/true, 1})->pages_written, 0u);
  }
  EXPECT_GT(n, 15u);
}

// A writer that was killed right after its late write cannot repair the page itself.
TEST_F(MergedIndex, WhatAKilledWriterLeftLateTheNextMoveRepairs) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  auto first = registry::load_whole_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  const auto key = k_staging + "/merged/simple/core/index.html";
  const auto right = *store_->get(key, 1 << 20);
  ASSERT_TRUE(publish(*store_, {"core-1.1-py3-none-any.whl"}, "staging", "43"));
  const auto late = **store_->get(key, 1 << 20);
  auto now = registry::require_channel(*store_, "staging");
  ASSERT_TRUE(
      move_channel(*store_, "staging", *now, *first, {registry::Action::rollback, {}, {}, "tester", k_merged_at, {}}));
  ASSERT_TRUE(pages::merge_channel(*store_, "staging"));
  ASSERT_TRUE(store_->put(key, content::Rope::literal(late), {}));
  EXPECT_EQ(pages::merge_channel(*store_, "staging")->pages_written, 1u); // nothing moved, and all the same
  EXPECT_EQ(*store_->get(key, 1 << 20), right);
  EXPECT_EQ(pages::merge_channel(*store_, "staging")->pages_written, 0u);
}

TEST_F(MergedIndex, AStateThatDoesNotFitIsNoState) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  auto view = registry::load_whole_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  for (const char* state : {"", "{", "[1]", R"({"schema":"quarry.merged/2"})", R"({"schema":"quarry.merged/1"})",
                            R"({"schema":"quarry.merged/1","moves":1,"own":{"core":7},"base":{}})",
                            R"({"schema":"quarry.merged/1","moves":1,"own":{},"base":{},"recent":{"../x":1}})",
                            R"({"schema":"quarry.merged/1","moves":1,"own":{"../x":")"
                            "0000000000000000000000000000000000000000000000000000000000000000"
                            R"("},"base":{},"recent":{}})"}) {
    SCOPED_TRACE(state);
    ASSERT_TRUE(store_->put(k_staging + "/merged/pages.json", content::Rope::literal(state), {}));
    ASSERT_TRUE(store_->put(k_staging + "/merged/simple/core/index.html", content::Rope::literal("torn"), {}));
    auto shown = pages::merged_channel_shown(*store_, "staging", view->record);
    ASSERT_TRUE(shown) << render(shown.error());
    EXPECT_TRUE(shown->exists && !shown->current);
    ASSERT_TRUE(pages::merge_channel(*store_, "staging"));
    EXPECT_EQ(links(*store_, k_staging, "core").size(), 1u);
    EXPECT_TRUE(pages::merged_channel_shown(*store_, "staging", view->record)->current);
  }
}

// Killed right after it wrote the state ahead of its pages: the page of a project that left the channel, and that the
// base index has, is still the old one.
TEST_F(MergedIndex, IsNotCurrentWhileAMoveHasNotEnded) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  auto view = registry::load_whole_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  const auto key = k_staging + "/merged/pages.json";
  auto state = nlohmann::json::parse(**store_->get(key, 1 << 20));
  state["recent"]["numpy"] = state["moves"].get<int>() + 1;
  state["base"].erase("numpy");
  ASSERT_TRUE(store_->put(key, content::Rope::literal(state.dump()), {}));
  EXPECT_FALSE(pages::merged_channel_shown(*store_, "staging", view->record)->current);
  ASSERT_TRUE(pages::merge_channel(*store_, "staging"));
  EXPECT_TRUE(pages::merged_channel_shown(*store_, "staging", view->record)->current);
}

TEST_F(MergedIndex, OfARunShowsAllItsAreas) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto first = publish(*store_, {"rocm-1.0.tar.gz"}, "");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->run_index_url, "") << "the one directory's own merged index shows all";
  EXPECT_THAT(*store_->list("42-linux/merged/"), IsEmpty());
  auto second = publish(*store_, {"torch-2.9-cp312-cp312-linux_x86_64.whl"}, "", "42", "pytorch");
  ASSERT_TRUE(second) << render(second.error());
  EXPECT_EQ(second->run_index_url, store_->url("42-linux/merged/simple") + "/");
  EXPECT_THAT(projects(*store_, "42-linux"), ElementsAre("numpy", "rocm", "torch"));
  EXPECT_THAT(links(*store_, "42-linux", "rocm"), ElementsAre("../../../python/g/dist/rocm-1.0.tar.gz"));
  ASSERT_TRUE(mirror(*store_, {"sympy-1.0-py3-none-any.whl"}));
  auto all = pages::merge_all(*store_);
  ASSERT_TRUE(all) << render(all.error());
  EXPECT_THAT(all->directories, ElementsAre("42-linux/python/g", "42-linux/pytorch/g", "42-linux"));
  EXPECT_THAT(projects(*store_, "42-linux"), ElementsAre("numpy", "rocm", "sympy", "torch"));
  ASSERT_TRUE(store_->remove("42-linux/merged/simple/torch/index.html"));
  auto repaired = repair_directories(*store_, *registry::sealed_sets_below(*store_, "42-linux/python"));
  ASSERT_TRUE(repaired) << render(repaired.error());
  EXPECT_THAT(repaired->places, ::testing::Contains("42-linux/merged"));
  EXPECT_EQ(links(*store_, "42-linux", "torch").size(), 1u);
  EXPECT_EQ(testing::violations(*store_), "");
}

TEST_F(MergedIndex, OfARunLeavesOutWhatItsGroupsDisagreeAbout) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz", "core-1.0-py3-none-any.whl"}, "", "42", "python", "one"));
  Packages made;
  made.add("rocm-1.0.tar.gz", "other bytes");
  Target target{.layout = *run::Layout::create({{}, "42", Platform::linux}), .group = "two", .channel = {}};
  auto plan = make_plan(*store_, target, *collect({made.path(), testing::fake_describe, 1}), k_merged_at);
  ASSERT_TRUE(plan) << render(plan.error());
  auto receipt = execute(*store_, *plan, {k_merged_at, "tester", {}, 1, {}});
  ASSERT_TRUE(receipt) << render(receipt.error());
  ASSERT_EQ(receipt->notes.size(), 1u);
  EXPECT_EQ(receipt->notes[0].code, "P053");
  EXPECT_THAT(projects(*store_, "42-linux"), ElementsAre("core", "numpy"));
  EXPECT_THAT(projects(*store_, "42-linux/python/two"), ElementsAre("numpy", "rocm"));
}

// When a set of such a place leaves, nothing writes the index of the run again: it would name files that are gone.
TEST_F(MergedIndex, OfARunShowsPackageDirectoriesOnly) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}, ""));
  ASSERT_TRUE(publish(*store_, {"torch-2.9-cp312-cp312-linux_x86_64.whl"}, "", "42", "pytorch"));
  ASSERT_EQ(run::run_of("42-linux/python/g/extra"), "");
  auto adopted = mirror(*store_, {"core-1.0-py3-none-any.whl"}, "42-linux/python/g/extra");
  ASSERT_TRUE(adopted) << render(adopted.error());
  ASSERT_TRUE(publish(*store_, {"jax-1.0-py3-none-any.whl"}, "", "42", "jax"));
  EXPECT_THAT(projects(*store_, "42-linux"), ElementsAre("jax", "numpy", "rocm", "torch"));
  ASSERT_TRUE(pages::merge_all(*store_, {.thorough = true}));
  EXPECT_THAT(projects(*store_, "42-linux"), ElementsAre("jax", "numpy", "rocm", "torch"));
}

TEST_F(MergedIndex, OfAGroupShowsItsAreasAndNoOtherGroup) {
  const std::string one = "42-linux/merged/one", two = "42-linux/merged/two";
  auto shown = [&](const std::string& directory) {
    auto page = *store_->get(directory + "/simple/index.html", 1 << 20);
    std::vector<std::string> names;
    for (const char* name : {"core", "jax", "numpy", "rocm", "sympy", "torch"})
      if (page && page->find(fmt::format("href=\"{}/\"", name)) != std::string::npos) names.push_back(name);
    return names;
  };
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}, "", "42", "python", "one"));
  auto alone = publish(*store_, {"torch-2.9-cp312-cp312-linux_x86_64.whl"}, "", "42", "pytorch", "one");
  ASSERT_TRUE(alone) << render(alone.error());
  EXPECT_EQ(alone->group_index_url, "") << "the run has one group, and its index shows all";
  EXPECT_THAT(shown(one), IsEmpty());
  auto other = publish(*store_, {"core-1.0-py3-none-any.whl"}, "", "42", "python", "two");
  ASSERT_TRUE(other) << render(other.error());
  EXPECT_EQ(other->group_index_url, "") << "the group has one directory, whose own merged index shows all";
  EXPECT_THAT(shown(one), ElementsAre("numpy", "rocm", "torch")) << "the first group has another beside it now";
  EXPECT_THAT(shown(two), IsEmpty());
  auto second = publish(*store_, {"jax-1.0-py3-none-any.whl"}, "", "42", "jax", "two");
  ASSERT_TRUE(second) << render(second.error());
  EXPECT_EQ(second->group_index_url, store_->url(two + "/simple") + "/");
  EXPECT_EQ(widest(*second).merged_url, second->group_index_url);
  EXPECT_EQ(widest(*other).merged_url, other->run_index_url);
  EXPECT_THAT(shown(two), ElementsAre("core", "jax", "numpy"));
  EXPECT_THAT(shown("42-linux/merged"), ElementsAre("core", "jax", "numpy", "rocm", "torch"));
  auto page = **store_->get(one + "/simple/rocm/index.html", 1 << 20);
  EXPECT_THAT(page, HasSubstr("../../../../python/one/dist/rocm-1.0.tar.gz"));

  ASSERT_TRUE(mirror(*store_, {"sympy-1.0-py3-none-any.whl"}));
  auto all = pages::merge_all(*store_);
  ASSERT_TRUE(all) << render(all.error());
  EXPECT_THAT(all->directories, ::testing::IsSupersetOf({one, two}));
  EXPECT_THAT(shown(two), ElementsAre("core", "jax", "numpy", "sympy"));

  ASSERT_TRUE(store_->remove(two + "/simple/core/index.html"));
  auto repaired = repair_directories(*store_, *registry::sealed_sets_below(*store_, "42-linux/python"));
  ASSERT_TRUE(repaired) << render(repaired.error());
  EXPECT_THAT(repaired->places, ::testing::IsSupersetOf({one, two}));
  EXPECT_TRUE(store_->get(two + "/simple/core/index.html", 1 << 20)->has_value());
  EXPECT_EQ(testing::violations(*store_), "");
}

TEST_F(MergedIndex, OfAGroupLeavesOutWhatItsAreasDisagreeAbout) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"jax-1.0-py3-none-any.whl"}, "", "42", "jax", "two"));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz", "core-1.0-py3-none-any.whl"}, "", "42", "python", "one"));
  Packages made;
  made.add("rocm-1.0.tar.gz", "other bytes");
  Target target{.layout = *run::Layout::create({{}, "42", Platform::linux}), .group = "one", .channel = {}};
  target.area = "pytorch";
  auto plan = make_plan(*store_, target, *collect({made.path(), testing::fake_describe, 1}), k_merged_at);
  ASSERT_TRUE(plan) << render(plan.error());
  auto receipt = execute(*store_, *plan, {k_merged_at, "tester", {}, 1, {}});
  ASSERT_TRUE(receipt) << render(receipt.error());
  std::vector<std::string> places;
  for (const auto& note : receipt->notes) places.push_back(note.code + " " + note.place);
  EXPECT_THAT(places, ::testing::Contains("P053 42-linux/merged/one"));
  EXPECT_FALSE(store_->get("42-linux/merged/one/simple/rocm/index.html", 1 << 20)->has_value());
  EXPECT_TRUE(store_->get("42-linux/merged/one/simple/core/index.html", 1 << 20)->has_value());
}

TEST_F(MergedIndex, OfAGroupHasWhatIsForAllGroups) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"torch-2.9-cp312-cp312-linux_x86_64.whl"}, "", "42", "pytorch", "one"));
  ASSERT_TRUE(publish(*store_, {"jax-1.0-py3-none-any.whl"}, "", "42", "jax", "two"));
  auto common = publish(*store_, {"rocm-1.0.tar.gz"}, "", "42", "python", "");
  ASSERT_TRUE(common) << render(common.error());
  for (const std::string group : {"one", "two"})
    EXPECT_TRUE(store_->get("42-linux/merged/" + group + "/simple/rocm/index.html", 1 << 20)->has_value()) << group;
  EXPECT_FALSE(store_->get("42-linux/merged/one/simple/jax/index.html", 1 << 20)->has_value());
}

TEST_F(MergedIndex, ABrokenChannelKeepsNoOtherPlaceFromItsDependencies) {
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}, "broken"));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}, "staging", "43"));
  auto view = registry::require_channel(*store_, "broken")->record.view;
  ASSERT_TRUE(store_->put(registry::view_key(view), content::Rope::literal("{}"), {}));
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto all = pages::merge_all(*store_);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "P051");
  EXPECT_EQ(all.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(all.error().message, HasSubstr("1 of 4 merged indexes"));
  EXPECT_THAT(all.error().details, ElementsAre(HasSubstr("channels/broken: R011")));
  for (const auto& directory : {k_run, k_staging, std::string("43-linux/python/g")})
    EXPECT_THAT(projects(*store_, directory), ::testing::Contains("numpy"));
}

/// Removes sets as retention does at the end.
void take_away(store::ObjectStore& store, const std::string& directory) {
  auto sets = registry::sealed_sets_below(store, directory);
  ASSERT_TRUE(sets) << render(sets.error());
  for (const auto& sealed : *sets) {
    ASSERT_TRUE(store.remove(registry::seal_key(sealed.set.directory, sealed.digest)));
    for (const auto& file : sealed.set.files) ASSERT_TRUE(store.remove(file.key));
  }
}

TEST_F(MergedIndex, FollowsABaseIndexThatLostItsLastSet) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  take_away(*store_, std::string(pages::k_base_index));
  ASSERT_TRUE(pages::project_directory(*store_, std::string(pages::k_base_index)));
  ASSERT_TRUE(pages::merge_all(*store_));
  for (const auto& directory : {k_run, k_staging}) EXPECT_THAT(projects(*store_, directory), ElementsAre("rocm"));
  EXPECT_EQ(testing::broken_links(testing::snapshot(*store_)), "");
}

TEST_F(MergedIndex, OfARunTakesANewDirectoryAfterTheBaseIndexLostItsLastSet) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}, ""));
  ASSERT_TRUE(publish(*store_, {"torch-2.9-cp312-cp312-linux_x86_64.whl"}, "", "42", "pytorch"));
  take_away(*store_, std::string(pages::k_base_index));
  ASSERT_TRUE(pages::project_directory(*store_, std::string(pages::k_base_index)));
  auto receipt = publish(*store_, {"jax-0.8-py3-none-any.whl"}, "", "42", "jax");
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_EQ(receipt->directory_at.merged_url, "");
  EXPECT_EQ(receipt->run_index_url, store_->url("42-linux/merged/simple") + "/");
  EXPECT_THAT(projects(*store_, "42-linux"), ElementsAre("jax", "rocm", "torch"));
}

TEST_F(MergedIndex, ASetWithoutADirectoryIsPassedOver) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(registry::put_set(*store_, registry::SetRecord{}));
  auto all = pages::merge_all(*store_);
  EXPECT_TRUE(all) << render(all.error());
}

TEST(Projection, PagesOfAPublishThatWasKilledDoNotOutliveItsSet) {
  for (std::uint64_t at = 1;; ++at) {
    auto store = store::make_memory_store();
    FaultyStore dying(*store, {FaultyStore::Fault::die_after, at, true});
    auto receipt = publish(dying, {"rocm-1.0.tar.gz"}, "");
    take_away(*store, k_run);
    auto projected = pages::project_directory(*store, k_run);
    ASSERT_TRUE(projected) << render(projected.error());
    EXPECT_EQ(testing::broken_links(testing::snapshot(*store)), "") << at;
    if (!dying.fired()) break;
  }
}

// A writer makes pages without a set; meanwhile the set returns, and its writer finds the pages right.
TEST(Projection, ASetThatLeavesAndReturnsIsShown) {
  auto store = store::make_memory_store();
  for (const std::string version : {"1.0", "1.1"})
    registry::testing::sealed_sample(*store, k_run, {{"a-" + version + ".tar.gz", "a", version}});
  ASSERT_TRUE(pages::project_directory(*store, k_run));
  auto shown = testing::snapshot(*store);
  auto seal = *store->list(k_run + "/seals/");
  ASSERT_EQ(seal.size(), 2u);
  ASSERT_TRUE(store->remove(seal[0].key));
  FaultyStore watched(*store);
  bool once = false;
  watched.after_call = [&](std::uint64_t) {
    if (once || !watched.log().back().starts_with("put ")) return;
    once = true;
    ASSERT_TRUE(store->put(seal[0].key, content::Rope::literal(shown.at(seal[0].key)), {}));
    ASSERT_TRUE(pages::project_directory(*store, k_run));
  };
  ASSERT_TRUE(pages::project_directory(watched, k_run));
  EXPECT_TRUE(once);
  EXPECT_EQ(testing::differences(shown, testing::snapshot(*store)), "");
}

TEST_F(MergedIndex, ADamagedSetRecordKeepsNoDirectoryFromItsDependencies) {
  ASSERT_TRUE(publish(*store_, {"rocm-1.0.tar.gz"}));
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  auto damaged = registry::set_key(registry::SetDigest(sha256("a set of nobody")));
  ASSERT_TRUE(store_->put(damaged, content::Rope::literal("{}"), {}));
  auto all = pages::merge_all(*store_);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "P051");
  EXPECT_EQ(all.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(all.error().message, HasSubstr("set records cannot be read: 1"));
  EXPECT_THAT(all.error().details, ElementsAre(HasSubstr(damaged + ": R011")));
  for (const auto& directory : {k_run, k_staging})
    EXPECT_THAT(projects(*store_, directory), ::testing::Contains("numpy"));
  ASSERT_TRUE(store_->remove(damaged));
  auto fixed = pages::merge_all(*store_);
  ASSERT_TRUE(fixed) << render(fixed.error());
}

TEST_F(MergedIndex, AProjectThatVanishedIsRemovedAlsoAfterAKill) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  auto first = registry::load_whole_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  ASSERT_TRUE(publish(*store_, {"more-1.0-py3-none-any.whl"}, "staging", "43"));
  auto now = registry::require_channel(*store_, "staging");
  ASSERT_TRUE(
      move_channel(*store_, "staging", *now, *first, {registry::Action::rollback, {}, {}, "tester", k_merged_at, {}}));
  const auto before = testing::snapshot(*store_);
  for (std::uint64_t n = 1, calls = 1; n <= calls; ++n) {
    auto store = store::make_memory_store();
    for (const auto& [key, bytes] : before) ASSERT_TRUE(store->put(key, content::Rope::literal(bytes), {}));
    FaultyStore faulty(*store, {FaultyStore::Fault::die_after, n, false});
    static_cast<void>(pages::merge_channel(faulty, "staging"));
    calls = std::max(calls, faulty.calls() + (faulty.fired() ? 1 : 0));
    ASSERT_TRUE(pages::merge_channel(*store, "staging"));
    EXPECT_FALSE(*store->head(k_staging + "/merged/simple/more/index.html")) << "call " << n;
    EXPECT_FALSE(*store->head(k_staging + "/merged/simple-json/more/index.html")) << "call " << n;
  }
}

// pip asks for the page of a project without looking at the root.
TEST_F(MergedIndex, AProjectThatVanishedIsRemovedAlsoIfTheStateIsLost) {
  ASSERT_TRUE(mirror(*store_, {"numpy-2.0-py3-none-any.whl"}));
  ASSERT_TRUE(publish(*store_, {"core-1.0-py3-none-any.whl"}));
  auto page = k_staging + "/merged/simple/gone/index.html";
  for (const auto* damaged : {"", "{"}) {
    ASSERT_TRUE(store_->put(page, content::Rope::literal("old"), {}));
    ASSERT_TRUE(pages::merge_channel(*store_, "staging"));
    ASSERT_TRUE(*store_->head(page)) << "nothing names it, and not everything is listed each time";
    auto state = k_staging + "/merged/pages.json";
    ASSERT_TRUE(store_->remove(state));
    if (*damaged) ASSERT_TRUE(store_->put(state, content::Rope::literal(damaged), {}));
    ASSERT_TRUE(pages::merge_channel(*store_, "staging"));
    EXPECT_FALSE(*store_->head(page)) << damaged;
  }
}

class MergeInterrupted : public ::testing::TestWithParam<FaultyStore::Fault> {};
INSTANTIATE_TEST_SUITE_P(Faults, MergeInterrupted,
                         ::testing::Values(FaultyStore::Fault::refuse, FaultyStore::Fault::lose_reply,
                                           FaultyStore::Fault::lose_request, FaultyStore::Fault::die_before,
                                           FaultyStore::Fault::die_after));

TEST_P(MergeInterrupted, TheSameCommandCompletes) {
  auto prepare = [&] {
    auto store = store::make_memory_store();
    EXPECT_TRUE(publish(*store, {"rocm-1.0.tar.gz", "old-1.0-py3-none-any.whl"}, "staging", "41"));
    EXPECT_TRUE(mirror(*store, {"numpy-2.0-py3-none-any.whl"}));
    EXPECT_TRUE(pages::merge_all(*store));
    EXPECT_TRUE(mirror(*store, {"numpy-2.0-py3-none-any.whl", "sympy-1.0-py3-none-any.whl"}));
    return store;
  };
  auto undisturbed = prepare();
  FaultyStore counting(*undisturbed);
  ASSERT_TRUE(pages::merge_all(counting, {false, 1}));
  const auto expected = pages_of(testing::snapshot(*undisturbed));
  ASSERT_GT(counting.calls(), 20u);
  for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = prepare();
    FaultyStore faulty(*store, {GetParam(), n, false});
    static_cast<void>(pages::merge_all(faulty, {false, 1}));
    ASSERT_EQ(testing::violations(*store), "");
    ASSERT_TRUE(pages::merge_all(*store));
    ASSERT_EQ(testing::differences(expected, pages_of(testing::snapshot(*store))), "");
    ASSERT_EQ(pages::merge_all(*store, {/*thorough=*/true, 1})->pages_written, 0u);
  }
}

TEST(MergedIndexes, RunsAndMirrorsThatEndTogetherAreBothSeen) {
  auto store = store::make_memory_store();
  ASSERT_TRUE(mirror(*store, {"d-1.0-py3-none-any.whl"}));
  constexpr std::size_t k_jobs = 12;
  auto all = parallel_for(k_jobs, 6, [&](std::size_t i) -> Result<void> {
    if (i % 3 == 0) {
      TRY_DO(mirror(*store, {fmt::format("d{}-1.0-py3-none-any.whl", i)}));
      TRY_DO(pages::merge_all(*store));
      return {};
    }
    TRY_DO(publish(*store, {fmt::format("p{}-1.0-py3-none-any.whl", i)}, "nightly", std::to_string(i % 2)));
    return {};
  });
  ASSERT_TRUE(all) << render(all.error());
  EXPECT_EQ(testing::violations(*store), "");
  EXPECT_EQ(projects(*store, "channels/nightly").size(), 1 + k_jobs);
  EXPECT_EQ(pages::merge_all(*store)->pages_written, 0u);
  EXPECT_EQ(repair_channel(*store, "nightly")->pages_written, 0u);
}

TEST(Clash, WhatInstallersWouldTake) {
  struct Case {
    std::vector<std::string> extra, base;
    std::string pip, uv;
  };
  for (const auto& c : std::vector<Case>{{{"1.0"}, {"2.0", "1.5"}, "2.0 of b", "1.0 of e"},
                                         {{"1.0+rocm", "0.9"}, {"1.0"}, "1.0+rocm of e", "1.0+rocm of e"},
                                         {{"1.0"}, {"1.0.0"}, "1.0 of e or b, as it happens", "1.0 of e"},
                                         {{"odd!"}, {"0.1"}, "0.1 of b", "odd! of e"}}) {
    auto lines = pages::installers_would_take({"e", c.extra}, {"b", c.base});
    EXPECT_EQ(lines[0], "pip would take  " + c.pip);
    EXPECT_EQ(lines[1], "uv would take   " + c.uv + ", if that is its --extra-index-url");
  }
}

} // namespace
} // namespace quarry::publish
