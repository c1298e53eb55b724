#include "publish/distribute.hpp"

#include "base/json.hpp"
#include "index/pages.hpp"
#include "pages/projection.hpp"
#include "publish/before_distribute.hpp"
#include "publish/placement.hpp"
#include "publish/publish.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/testing/packages.hpp"
#include "publish/upkeep.hpp"
#include "registry/distributions.hpp"
#include "registry/own_digest.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::publish {
namespace {

using store::testing::FaultyStore;
using testing::Packages;

const auto k_distributed_at = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
constexpr const char* k_prefix = "v2/{family}";

class Distribute : public ::testing::Test {
protected:
  void SetUp() override {
    source_ = store::make_memory_store();
    target_ = store::make_memory_store();
    Packages first, second;
    first.add("rocm-7.0.tar.gz").add("rocm_sdk_core-7.0-py3-none-any.whl");
    second.add("rocm-7.1.tar.gz").add("rocm_sdk_core-7.1-py3-none-any.whl");
    publish(first, "42");
    publish(second, "43");
  }
  void publish(const Packages& packages, const std::string& run, const std::string& group = "gfx94X-dcgpu") {
    Target target{.layout = *run::Layout::create({{}, run, Platform::linux}), .group = group};
    auto plan = make_plan(*source_, target, *collect({packages.path(), testing::fake_describe, 1}), k_distributed_at);
    ASSERT_TRUE(plan && execute(*source_, *plan, {k_distributed_at, "tester", {}, 1, {}, {}}));
  }
  std::vector<Distributed> planned(const std::string& run) {
    return *plan_distribution(registry::resolve_run(*source_, run + "-linux")->sets, k_prefix);
  }
  Result<DistributeReceipt> copy(store::ObjectStore& target, const std::string& run) {
    return distribute(*source_, target, planned(run), {k_distributed_at, 1});
  }
  static testing::Snapshot pages_of(testing::Snapshot all) {
    std::erase_if(
        all, [](const auto& entry) { return !entry.first.ends_with("index.html") && !entry.first.ends_with('/'); });
    return all;
  }
  std::unique_ptr<store::ObjectStore> source_, target_;
};

TEST_F(Distribute, AnInstallersRepositoryAppearsAndGrows) {
  auto first = copy(*target_, "42");
  ASSERT_TRUE(first) << render(first.error());
  EXPECT_THAT(first->directories, ::testing::ElementsAre("v2/gfx94X-dcgpu"));
  EXPECT_EQ(first->files, 2u);
  ASSERT_TRUE(copy(*target_, "43"));
  auto now = testing::snapshot(*target_);
  EXPECT_EQ(testing::broken_links(now), "");
  auto page = *index::read_page({now.at("v2/gfx94X-dcgpu/rocm-sdk-core/index.html"), "page"});
  ASSERT_EQ(page.files.size(), 2u);
  EXPECT_EQ(page.files[0].url, "../rocm_sdk_core-7.0-py3-none-any.whl");
  EXPECT_TRUE(now.contains("v2/gfx94X-dcgpu/rocm_sdk_core-7.1-py3-none-any.whl.metadata"));
  for (const auto& set : planned("42")) // the pointer names both sets and where they came from
    EXPECT_THAT(now.at("v2/gfx94X-dcgpu/distribution.json"),
                ::testing::AllOf(::testing::HasSubstr(set.digest.hex()), ::testing::HasSubstr(set.source.hex())));
  EXPECT_EQ(copy(*target_, "42")->writes, 0u);
  EXPECT_EQ(copy(*target_, "43")->writes, 0u);
}

TEST_F(Distribute, FilesComeBeforeThePointerAndThePagesAfterIt) {
  FaultyStore watched(*target_);
  ASSERT_TRUE(copy(watched, "42"));
  std::vector<std::string> puts;
  for (const auto& line : watched.log())
    if (line.starts_with("put ")) puts.push_back(line.substr(4));
  auto last_file = std::find_if(puts.rbegin(), puts.rend(), [](const auto& key) { return key.ends_with(".metadata"); });
  auto first_page = std::find_if(puts.begin(), puts.end(), [](const auto& key) { return key.ends_with(".html"); });
  auto pointer = std::find(puts.rbegin(), puts.rend(), "v2/gfx94X-dcgpu/distribution.json").base() - puts.begin();
  EXPECT_LT(last_file.base() - puts.begin(), pointer);
  EXPECT_LE(pointer, first_page - puts.begin());
  EXPECT_EQ(puts.back(), "v2/gfx94X-dcgpu/pages.json");
}

TEST_F(Distribute, KilledAtAnyWriteItIsCompleted) {
  ASSERT_TRUE(copy(*target_, "42"));
  ASSERT_TRUE(copy(*target_, "43"));
  auto expected = testing::snapshot(*target_);
  int deaths = 0;
  for (std::uint64_t at = 1;; ++at) {
    auto target = store::make_memory_store();
    ASSERT_TRUE(copy(*target, "42"));
    FaultyStore dying(*target, {FaultyStore::Fault::die_after, at, true});
    bool whole = copy(dying, "43").has_value() && !dying.fired();
    EXPECT_EQ(testing::broken_links(testing::snapshot(*target)), "") << at;
    auto again = copy(*target, "43");
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(testing::differences(expected, testing::snapshot(*target)), "") << at;
    if (whole) break;
    ++deaths;
  }
  EXPECT_GT(deaths, 8);
}

TEST_F(Distribute, AnotherFileUnderTheNameIsAConflictAndChangesNothing) {
  auto name = "v2/gfx94X-dcgpu/rocm-7.0.tar.gz";
  ASSERT_TRUE(target_->put(name, content::Rope::literal("somebody else's"), {}));
  auto refused = copy(*target_, "42");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R009");
  EXPECT_TRUE(target_->list("v2/gfx94X-dcgpu/simple")->empty());
}

TEST_F(Distribute, AFileThatIsGoneIsSaid) {
  ASSERT_TRUE(source_->remove("42-linux/python/gfx94X-dcgpu/dist/rocm-7.0.tar.gz"));
  EXPECT_EQ(copy(*target_, "42").error().code, "R001");
}

TEST_F(Distribute, AProjectOfTheTargetsBaseIndexIsRefused) {
  ASSERT_TRUE(target_->put("python-deps/simple/rocm/index.html", content::Rope::literal("<a>"), {}));
  auto refused = check_distribution(*target_, planned("42"), 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P017");
}

TEST_F(Distribute, NoRepositoryInOrAroundAnother) {
  ASSERT_TRUE(copy(*target_, "42"));
  ASSERT_TRUE(target_->put("mine/notes.txt", content::Rope::literal("kept"), {}));
  ASSERT_TRUE(target_->put("other/deep/er.txt", content::Rope::literal("kept"), {}));
  const auto sets = registry::resolve_run(*source_, "42-linux")->sets;
  for (const auto& [prefix, code] : {std::pair{"v2", "P052"},
                                     {"v2/gfx94X-dcgpu/rocm", "P052"},
                                     {"v2/gfx94X-dcgpu/a/b", "P052"},
                                     {"other", "P052"},
                                     {"mine", ""},
                                     {"v2/gfx94X-dcgpu", ""},
                                     {"v2/another", ""}}) {
    auto checked = check_distribution(*target_, *plan_distribution(sets, prefix), 1);
    EXPECT_EQ(checked ? "" : checked.error().code, code) << prefix;
  }
}

TEST_F(Distribute, EachMoveIsAGenerationThatNamesTheOneBefore) {
  ASSERT_TRUE(copy(*target_, "42") && copy(*target_, "43"));
  auto now = registry::require_distribution(*target_, "v2/gfx94X-dcgpu");
  ASSERT_TRUE(now) << render(now.error());
  EXPECT_EQ(now->record.generation, 2u);
  EXPECT_THAT(now->record.shown.sets, ::testing::SizeIs(2));
  auto moves = registry::distribution_moves(*target_, now->record, 10);
  ASSERT_TRUE(moves) << render(moves.error());
  ASSERT_THAT(*moves, ::testing::SizeIs(2));
  EXPECT_EQ((*moves)[1].generation, 1u);
  EXPECT_THAT((*moves)[1].shown.sets, ::testing::ElementsAre(now->record.shown.sets[0]));
  EXPECT_EQ(registry::require_distribution(*target_, "v2/none").error().code, "P120");
}

TEST_F(Distribute, APointerOfTheFirstFormatIsGenerationOneWithAllThatIsSealed) {
  ASSERT_TRUE(copy(*target_, "42") && copy(*target_, "43"));
  const auto pages = pages_of(testing::snapshot(*target_));
  const auto first = planned("42").front(), second = planned("43").front();
  const auto key = registry::distribution_key("v2/gfx94X-dcgpu");
  // An earlier version was killed after it had sealed and shown the second set: its pointer does not name it.
  Json row{{"set", first.digest}, {"source", ""}};
  Json old{{"schema", "quarry.distribution/1"}, {"directory", "v2/gfx94X-dcgpu"}, {"sets", Json::array({row})}};
  ASSERT_TRUE(target_->put(key, content::Rope::literal(registry::with_own_digest(old)), {}));
  auto now = registry::require_distribution(*target_, "v2/gfx94X-dcgpu");
  ASSERT_TRUE(now) << render(now.error());
  EXPECT_EQ(now->record.generation, 1u);
  EXPECT_THAT(now->record.shown.sets, ::testing::SizeIs(2));
  ASSERT_TRUE(*repair_distribution(*target_, "v2/gfx94X-dcgpu"));
  EXPECT_EQ(pages_of(testing::snapshot(*target_)), pages) << "no link is lost";
  Packages third;
  third.add("rocm-7.2.tar.gz");
  publish(third, "44");
  ASSERT_TRUE(copy(*target_, "44"));
  now = registry::require_distribution(*target_, "v2/gfx94X-dcgpu");
  EXPECT_EQ(now->record.generation, 2u);
  auto moves = registry::distribution_moves(*target_, now->record, 10);
  ASSERT_TRUE(moves && moves->size() == 2);
  EXPECT_EQ((*moves)[1].move.action.text(), "found");
  EXPECT_THAT((*moves)[1].shown.sets, ::testing::SizeIs(2)) << "so that a rollback can return to it";
}

TEST_F(Distribute, TwoThatSwapOnePointerLoseNothing) {
  bool once = false;
  FaultyStore watched(*target_);
  watched.after_call = [&](std::uint64_t) {
    auto now = registry::read_distribution(*target_, "v2/gfx94X-dcgpu");
    if (once || !now || !*now) return;
    once = true; // the first has claimed the directory: the second runs completely in between
    auto rival = copy(*target_, "43");
    ASSERT_TRUE(rival) << render(rival.error());
  };
  ASSERT_TRUE(copy(watched, "42"));
  auto now = registry::require_distribution(*target_, "v2/gfx94X-dcgpu");
  EXPECT_THAT(now->record.shown.sets, ::testing::SizeIs(2));
  EXPECT_EQ(testing::broken_links(testing::snapshot(*target_)), "");
}

TEST_F(Distribute, WhatWasWithdrawnIsShownNoMore) {
  ASSERT_TRUE(copy(*target_, "42"));
  const auto first = pages_of(testing::snapshot(*target_));
  ASSERT_TRUE(copy(*target_, "43"));
  auto withdraw = [&](const std::string& run) {
    for (const auto& set : planned(run)) {
      for (const auto& file : set.set.files) ASSERT_TRUE(target_->remove(file.key));
      ASSERT_TRUE(target_->remove(set.set.directory + "/seals/" + set.digest.hex() + ".json"));
    }
  };
  withdraw("43");
  ASSERT_TRUE(*repair_distribution(*target_, "v2/gfx94X-dcgpu"));
  EXPECT_EQ(pages_of(testing::snapshot(*target_)), first);
  withdraw("42");
  auto repaired = repair_distribution(*target_, "v2/gfx94X-dcgpu");
  ASSERT_TRUE(repaired && *repaired);
  auto now = testing::snapshot(*target_);
  EXPECT_EQ(testing::broken_links(now), "");
  EXPECT_FALSE(now.contains("v2/gfx94X-dcgpu/rocm/index.html") || now.contains("v2/gfx94X-dcgpu/rocm/"));
  EXPECT_FALSE(*repair_distribution(*target_, "v2/none"));
}

// The pointer does not move when a seal goes or comes.
TEST_F(Distribute, ASealThatReturnsWhilePagesAreWrittenIsShown) {
  ASSERT_TRUE(copy(*target_, "42"));
  ASSERT_TRUE(copy(*target_, "43"));
  auto shown = testing::snapshot(*target_);
  auto set = planned("43").front();
  auto seal = set.set.directory + "/seals/" + set.digest.hex() + ".json";
  ASSERT_TRUE(target_->remove(seal));
  FaultyStore watched(*target_);
  bool once = false;
  watched.after_call = [&](std::uint64_t) {
    if (once || !watched.log().back().starts_with("put ")) return;
    once = true;
    ASSERT_TRUE(target_->put(seal, content::Rope::literal(shown.at(seal)), {}));
    ASSERT_TRUE(pages::project_distribution(*target_, set.set.directory));
  };
  ASSERT_TRUE(pages::project_distribution(watched, set.set.directory));
  EXPECT_TRUE(once);
  EXPECT_EQ(testing::differences(shown, testing::snapshot(*target_)), "");
}

TEST_F(Distribute, PagesOfAnotherToolForProjectsThatWeLackAreLeft) {
  ASSERT_TRUE(copy(*target_, "42"));
  const std::string place = "v2/gfx94X-dcgpu/", page = "<a href=\"https://host/x-1.0.tar.gz\">x-1.0.tar.gz</a>";
  for (const std::string key : {"x/index.html", "simple/x/index.html"})
    ASSERT_TRUE(target_->put(place + key, content::Rope::literal(page), {}));
  ASSERT_TRUE(target_->put(place + "gone/index.html", content::Rope::literal("no links"), {}));
  auto copied = copy(*target_, "43");
  ASSERT_TRUE(copied) << render(copied.error());
  auto now = testing::snapshot(*target_);
  for (const std::string key : {"x/index.html", "simple/x/index.html"}) EXPECT_TRUE(now.contains(place + key)) << key;
  EXPECT_FALSE(now.contains(place + "gone/index.html"));
}

TEST_F(Distribute, AStructuredIndexKeepsEachFileWithItsProject) {
  auto sets = *plan_distribution(registry::resolve_run(*source_, "42-linux")->sets, "v5/rocm/{product}/whl/{project}");
  ASSERT_TRUE(check_distribution(*target_, sets, 1));
  ASSERT_TRUE(distribute(*source_, *target_, sets, {k_distributed_at, 1}));
  auto now = testing::snapshot(*target_);
  EXPECT_EQ(testing::broken_links(now), "");
  const std::string root = "v5/rocm/core/whl/", core = root + "rocm-sdk-core/";
  EXPECT_TRUE(now.contains(core + "rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
  auto page = *index::read_page({now.at(core + "index.html"), "page"});
  ASSERT_EQ(page.files.size(), 1u);
  EXPECT_EQ(page.files[0].url, "rocm_sdk_core-7.0-py3-none-any.whl");
  EXPECT_TRUE(now.contains(root + "rocm/rocm-7.0.tar.gz"));
  EXPECT_TRUE(check_distribution(*target_, sets, 1)); // what lies there is ours
  EXPECT_EQ(distribute(*source_, *target_, sets, {k_distributed_at, 1})->writes, 0u);
}

TEST_F(Distribute, AProductIsToldByItsProjects) {
  auto prefix_of = [](std::vector<std::string> projects, const std::string& directory) {
    registry::SetRecord set;
    set.origin.run_id = "42";
    set.directory = directory;
    for (const auto& project : projects) {
      set.files.emplace_back();
      set.files.back().project = project;
    }
    auto placement = placement_of("v5/{product}/whl/{project}", set);
    return placement ? placement->directory : placement.error().code;
  };
  EXPECT_EQ(prefix_of({"rocm", "rocm-sdk-core", "numpy"}, "42-linux/python"), "v5/core/whl");
  EXPECT_EQ(prefix_of({"torch", "triton"}, "42-linux/python"), "v5/pytorch/whl");
  EXPECT_EQ(prefix_of({"amd-torch-device-gfx942"}, "42-linux/python"), "v5/pytorch/whl");
  EXPECT_EQ(prefix_of({"jax-rocm7-plugin", "jaxlib"}, "42-linux/python"), "v5/jax/whl");
  EXPECT_EQ(prefix_of({"numpy"}, "42-linux/jax/g"), "v5/jax/whl");
  EXPECT_EQ(prefix_of({"numpy"}, "42-linux/python"), "v5/core/whl");
  EXPECT_EQ(prefix_of({"rocm", "torch"}, "42-linux/python"), "P041");
}

TEST_F(Distribute, WhatAnotherToolListedIsNotHidden) {
  using Objects = std::map<std::string, std::string>;
  const std::string page = "<html><body><a href=\"rocm-6.4.tar.gz#sha256=00\">rocm-6.4.tar.gz</a></body></html>";
  const std::string root = "<a href=\"numpy/\">numpy</a><a href=\"../\">up</a><a href=\"?C=N\">sorted</a>";
  const std::string wheel = "demo_pkg-1.0%2Brocm7-py3-none-any.whl";
  struct Case {
    Objects objects;
    std::string lost; ///< "": nothing is hidden
  };
  const std::vector<Case> cases = {
      {{{"index.html", page}}, "rocm-6.4.tar.gz  in v9/index.html"},
      {{{"", page}}, "rocm-6.4.tar.gz  in v9/"},
      {{{"rocm/index.html", page}}, "rocm-6.4.tar.gz  in v9/rocm/index.html"},
      {{{"rocm/", page}}, "rocm-6.4.tar.gz  in v9/rocm/"},
      {{{"simple/rocm/index.html", page}}, "rocm-6.4.tar.gz  in v9/simple/rocm/index.html"},
      {{{"index.html", root}}, ""},
      {{{"index.html", "<a href=\"https://host/whl/" + wheel + "\">x</a>"}},
       "demo_pkg-1.0+rocm7-py3-none-any.whl  in v9/index.html"},
      {{{"rocm-6.4.tar.gz", "bytes"}}, "rocm-6.4.tar.gz  in v9/"}, // no page yet: the next one would list it
      {{{"index.html", std::string(index::k_generator_mark) + page}},
       "rocm-6.4.tar.gz  in v9/index.html"}, // `index build` was here
      {{{"index.html", "<a href=\"rocm-7.0.tar.gz\">rocm-7.0.tar.gz</a><a href=\"rocm/\">rocm</a>"}}, ""},
      {{{"index.html", "<h1>Welcome</h1><a href=\"https://example.org/\">us</a>"}}, ""},
      {{{"notes.txt", "kept"}}, ""},
  };
  const auto sets = *plan_distribution(registry::resolve_run(*source_, "42-linux")->sets, "v9");
  for (const auto& each : cases) {
    SCOPED_TRACE(each.objects.begin()->first + " " + each.objects.begin()->second);
    auto target = store::make_memory_store();
    for (const auto& [name, bytes] : each.objects)
      ASSERT_TRUE(target->put("v9/" + name, content::Rope::literal(bytes), {}));
    auto checked = check_distribution(*target, sets, 2);
    ASSERT_EQ(checked.has_value(), each.lost.empty()) << (checked ? "" : render(checked.error()));
    if (checked) continue;
    EXPECT_EQ(checked.error().code, "P090");
    EXPECT_THAT(checked.error().details, ::testing::ElementsAre(::testing::StartsWith(each.lost)));
  }
  auto target = store::make_memory_store();
  ASSERT_TRUE(target->put("v9/index.html", content::Rope::literal("\xff"), {}));
  auto unreadable = check_distribution(*target, sets, 2);
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().code, "P121") << "nobody knows what it lists";
}

TEST_F(Distribute, WhatIsAddedToOurRepositoryByHandIsNotHiddenEither) {
  ASSERT_TRUE(copy(*target_, "42"));
  ASSERT_TRUE(check_distribution(*target_, planned("43"), 1));
  const std::string place = "v2/gfx94X-dcgpu/";
  ASSERT_TRUE(
      target_->put(place + "rocm-6.4.tar.gz", content::Rope::literal("bytes"), {})); // on no page: nothing to hide
  ASSERT_TRUE(check_distribution(*target_, planned("43"), 1));
  ASSERT_TRUE(target_->put(place + "rocm/index.html",
                           content::Rope::literal("<a href=\"../rocm-6.4.tar.gz\">rocm-6.4.tar.gz</a>"), {}));
  auto refused = check_distribution(*target_, planned("43"), 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P090");
}

TEST_F(Distribute, TheSecondOfTwoThatBeginTogetherIsNotRefused) {
  std::uint64_t files = 0;
  FaultyStore watched(*target_);
  watched.after_call = [&](std::uint64_t) {
    if (!target_->list("v2/gfx94X-dcgpu/rocm-")->empty()) ++files;
    if (files != 1) return;
    auto checked = check_distribution(*target_, planned("43"), 1);
    EXPECT_TRUE(checked) << render(checked.error());
  };
  ASSERT_TRUE(copy(watched, "42"));
  EXPECT_GT(files, 1u);
}

TEST_F(Distribute, TheDirectoriesOfTheSourceAreNotReachedFromInsideOrAroundIt) {
  auto root = *sys::make_temporary_directory(::testing::TempDir(), "quarry-nested-");
  auto at = [&](const std::string& below) { return *store::open_file_store(root + below); };
  auto refused = [&](const std::string& below, const std::string& prefix) {
    auto done = refuse_inside(*at("/s"), *at(below), prefix);
    return done ? std::string() : done.error().code;
  };
  ASSERT_TRUE(sys::make_directories(root + "/s/channels"));
  EXPECT_EQ(refused("/s/channels", "stable"), "P041");
  EXPECT_EQ(refused("/s/sets/new", "x"), "P041") << "a directory that does not exist yet";
  EXPECT_EQ(refused("", "s/channels/stable"), "P041");
  EXPECT_EQ(refused("", "s"), "P041") << "its views/ would be those of the store";
  EXPECT_EQ(refused("/s/v2", "g"), "");
  EXPECT_EQ(refused("", "v2/g"), "");
  EXPECT_EQ(refused("/other", "channels/x"), "") << "expand_prefix() refuses that";
  ASSERT_TRUE(sys::remove_tree(root));
}

TEST_F(Distribute, PagesOfAChannelAreNotOverwritten) {
  auto sets = registry::resolve_run(*source_, "42-linux")->sets;
  ASSERT_TRUE(add_sets(*target_, "stable", sets, {registry::Action::publish, {}, {}, "a", k_distributed_at, ""}));
  ASSERT_TRUE(pages::project_channel(*target_, "stable"));
  EXPECT_EQ(check_place(*target_, "channels/stable").error().code, "P041");
  auto state = **target_->get("channels/stable/pages.json", 1 << 20); // as in a store that is opened inside another one
  ASSERT_TRUE(target_->put("stable/pages.json", content::Rope::literal(state), {}));
  auto place = check_place(*target_, "stable");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, "P052");
  EXPECT_THAT(place.error().message, ::testing::HasSubstr("the pages of channel stable are there"));
}

TEST_F(Distribute, TwoContentsOfANameAreFoundBeforeAnythingIsCopied) {
  Packages other;
  other.add("rocm-7.0.tar.gz", "of another family").add("rocm_sdk_core-7.0-py3-none-any.whl");
  publish(other, "44", "gfx110X-all");
  auto both = registry::resolve_run(*source_, "42-linux")->sets;
  auto second = registry::resolve_run(*source_, "44-linux")->sets;
  both.insert(both.end(), second.begin(), second.end());
  auto flat = *plan_distribution(both, "v4/whl");
  auto refused = check_distribution(*target_, flat, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R023") << render(refused.error());
  EXPECT_THAT(render(refused.error()),
              ::testing::AllOf(::testing::HasSubstr("gfx94X-dcgpu"), ::testing::HasSubstr("gfx110X-all"),
                               ::testing::HasSubstr("in the repository v4/whl")));
  EXPECT_TRUE(check_distribution(*target_, *plan_distribution(both, k_prefix), 1)) << "a repository for each family";
  EXPECT_TRUE(target_->list("")->empty());
}

TEST_F(Distribute, ALostPointerIsFoundByTheCheck) {
  ASSERT_TRUE(copy(*target_, "42"));
  ASSERT_TRUE(target_->remove("v2/gfx94X-dcgpu/distribution.json"));
  EXPECT_EQ(check_distribution(*target_, planned("43"), 1).error().code, "R010");
}

TEST_F(Distribute, WhetherTheTargetCanBeWrittenIsAskedWithoutWriting) {
  FaultyStore refusing(*target_, {FaultyStore::Fault::refuse, 1, true});
  EXPECT_EQ(check_writable(refusing, planned("42")).error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(check_writable(*target_, planned("42")));
  EXPECT_TRUE(target_->list("")->empty());
  ASSERT_TRUE(copy(*target_, "42"));
  auto before = testing::snapshot(*target_);
  EXPECT_TRUE(check_writable(*target_, planned("43")));
  EXPECT_EQ(testing::differences(before, testing::snapshot(*target_)), "");
}

TEST_F(Distribute, EveryPlaceThatIsWrittenIsAsked) {
  auto policy = *registry::put_policy(*source_, {"{}"});
  Feeders feeders{{"v2/gfx94X-dcgpu", {{"stable", policy, registry::LedgerDigest(sha256(std::string("a move")))}}}};
  FaultyStore asked(*target_);
  ASSERT_TRUE(check_writable(asked, planned("42"), feeders, true));
  auto log = asked.log();
  std::erase_if(log, [](const std::string& line) { return !line.starts_with("put "); });
  EXPECT_THAT(log, ::testing::ElementsAre("put v2/gfx94X-dcgpu/views/writable.json", "put sets/writable.json",
                                          "put policies/writable.json", "put signatures/writable.json"));
  for (std::uint64_t at = 1; at <= log.size(); ++at) {
    FaultyStore refusing(*target_, {FaultyStore::Fault::refuse, at, true});
    EXPECT_FALSE(check_writable(refusing, planned("42"), feeders, true)) << at;
  }
  EXPECT_TRUE(target_->list("")->empty());
  ASSERT_TRUE(registry::put_policy(*target_, {"{}"}));
  FaultyStore last(*target_, {FaultyStore::Fault::refuse, 3, true});
  EXPECT_TRUE(check_writable(last, planned("42"), feeders)) << "the policy is there, and nothing is signed";
}

TEST_F(Distribute, RemarksAreOnThePagesOfTheirProjects) {
  auto sets = planned("42");
  for (auto& set : sets) set.remarks = {{"Not tested: <why>", "rocm"}, {"Unsigned", ""}};
  ASSERT_TRUE(distribute(*source_, *target_, sets, {k_distributed_at, 1}));
  ASSERT_TRUE(copy(*target_, "43"));
  auto now = testing::snapshot(*target_);
  for (const std::string page : {"index.html", "rocm/index.html", "simple/rocm/index.html"}) {
    EXPECT_THAT(now.at("v2/gfx94X-dcgpu/" + page), ::testing::HasSubstr("<p>Not tested: &lt;why&gt;</p>")) << page;
    EXPECT_THAT(now.at("v2/gfx94X-dcgpu/" + page), ::testing::HasSubstr("<p>Unsigned</p>")) << page;
  }
  for (const std::string page : {"rocm-sdk-core/index.html", "simple/rocm-sdk-core/index.html"}) {
    EXPECT_THAT(now.at("v2/gfx94X-dcgpu/" + page), ::testing::Not(::testing::HasSubstr("Not tested"))) << page;
    EXPECT_THAT(now.at("v2/gfx94X-dcgpu/" + page), ::testing::HasSubstr("<p>Unsigned</p>")) << page;
  }
  auto pointer = registry::require_distribution(*target_, "v2/gfx94X-dcgpu");
  ASSERT_TRUE(pointer && pointer->record.shown.sets.size() == 2);
  EXPECT_EQ(pointer->record.shown.sets[0].remarks, sets[0].remarks);
  EXPECT_TRUE(pointer->record.shown.sets[1].remarks.empty());
}

// What an extra names may come later, and leave again.
TEST_F(Distribute, ARemarkAboutAnExtraIsSaidUntilItsPackagesAreThere) {
  auto sets = planned("42");
  sets[0].remarks = {{"rocm[x] 7.2 cannot be installed from here.", "rocm", "extra-of-43", "7.2"}};
  ASSERT_TRUE(distribute(*source_, *target_, sets, {k_distributed_at, 1}));
  auto says = [&] {
    return testing::snapshot(*target_).at("v2/gfx94X-dcgpu/rocm/index.html").find("cannot be installed") !=
           std::string::npos;
  };
  EXPECT_TRUE(says());
  auto later = planned("42");
  for (const auto* version : {"7.1", "7.2"}) {
    later[0].set.files.resize(1);
    auto& file = later[0].set.files[0];
    file.project = "extra-of-43", file.version = version;
    file.filename = fmt::format("extra_of_43-{}.tar.gz", version);
    file.key = later[0].set.directory + "/" + file.filename;
    file.metadata_sha256.reset();
    later[0].digest = registry::digest_of(later[0].set);
    later[0].from.resize(1);
    ASSERT_TRUE(distribute(*source_, *target_, {later[0]}, {k_distributed_at, 1}));
    EXPECT_EQ(says(), version == std::string("7.1")) << version;
  }
}

struct Prefix {
  std::string prefix, group, expanded; ///< expanded: the code when it is refused
};
class Prefixes : public ::testing::TestWithParam<Prefix> {};
TEST_P(Prefixes, AreExpanded) {
  registry::Origin origin;
  origin.group = GetParam().group;
  origin.platform = Platform::linux;
  auto expanded = expand_prefix(GetParam().prefix, origin);
  EXPECT_EQ(expanded ? *expanded : expanded.error().code, GetParam().expanded);
}
INSTANTIATE_TEST_SUITE_P(Table, Prefixes,
                         ::testing::Values(Prefix{"v2/{family}", "gfx94X-dcgpu", "v2/gfx94X-dcgpu"},
                                           Prefix{"{platform}/{family}/x", "g", "linux/g/x"}, Prefix{"v2", "", "v2"},
                                           Prefix{"v2/{family}", "", "P041"}, Prefix{"v2/{famly}", "g", "P041"},
                                           Prefix{"v2/../x", "g", "P041"}, Prefix{"v2/{family}", "..", "P041"},
                                           Prefix{"", "g", "P041"}, Prefix{"python-deps", "g", "P041"},
                                           Prefix{"channels/x", "g", "P041"}, Prefix{"{family}", "sets", "P041"},
                                           Prefix{"42-linux/python", "g", "P041"}));

TEST(DistributionRules, TheFirstRowThatFitsDecides) {
  std::string head = "schema = \"quarry.distributions/1\"\nname = \"n\"\n";
  auto row = [](const std::string& channel, const std::string& prefix) {
    return "[[distribution]]\nchannel = \"" + channel + "\"\nprefix = \"" + prefix + "\"\n";
  };
  auto rules = parse_distribution_rules({head + row("staging", "a") + row("*", "b"), "f"});
  ASSERT_TRUE(rules) << render(rules.error());
  EXPECT_EQ(*rules->prefix_of("staging"), "a");
  EXPECT_EQ(*rules->prefix_of("stable"), "b");
  EXPECT_EQ(parse_distribution_rules({head + row("staging", "a"), "f"})->prefix_of("stable").error().code, "P040");
  for (const auto& wrong : {std::string("name = 3"), head + "colour = 1\n", head + row("a b", "x"),
                            head + row("*", "/x"), std::string("schema = \"quarry.distributions/2\"\nname = \"n\"\n")})
    EXPECT_EQ(parse_distribution_rules({wrong, "f"}).error().code, "P042") << wrong;
}

} // namespace
} // namespace quarry::publish
