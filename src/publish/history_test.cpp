#include "publish/history.hpp"

#include "index/read_page.hpp"
#include "pages/projection.hpp"
#include "pages/settings.hpp"
#include "publish/adoption.hpp"
#include "publish/distribute.hpp"
#include "publish/publish.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/testing/packages.hpp"
#include "publish/upkeep.hpp"
#include "publish/verify.hpp"
#include "store/testing/faulty_store.hpp"
#include "wheel/wheel.hpp"
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::publish {
namespace {

using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Packages;

const auto k_history_at = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
const auto k_a_second_later = sys::Timestamp::from_us(k_history_at.us() + 1'000'000);
const std::string k_dir = "v2/gfx94X-dcgpu";
constexpr const char* k_foreign = "<html><body><a href=\"demo-0.9-py3-none-any.whl\">demo</a></body></html>";

/// The bytes of a small sound wheel.
std::string wheel_bytes(const std::string& version) {
  auto directory = *sys::make_temporary_directory(::testing::TempDir(), "quarry-history-");
  wheel::WheelSpec spec;
  spec.metadata.name = "demo";
  spec.metadata.version = version;
  spec.metadata.metadata_version = "2.1";
  spec.root_is_purelib = true;
  spec.members = {{"demo.py", content::Rope::literal("VERSION = '" + version + "'\n"), false}};
  auto built = wheel::pack(spec, directory, {});
  EXPECT_TRUE(built) << (built ? "" : render(built.error()));
  auto bytes = *sys::read_file(built->path);
  EXPECT_TRUE(sys::remove_tree(directory));
  return bytes;
}

class UntestedHistory : public ::testing::Test {
protected:
  void SetUp() override {
    source_ = store::make_memory_store();
    target_ = store::make_memory_store();
    Packages packages;
    packages.add("rocm_sdk_core-7.0-py3-none-any.whl");
    Target target{.layout = *run::Layout::create({{}, "42", Platform::linux}), .group = "gfx94X-dcgpu"};
    auto plan = make_plan(*source_, target, *collect({packages.path(), testing::fake_describe, 1}), k_history_at);
    ASSERT_TRUE(plan && execute(*source_, *plan, {k_history_at, "tester", {}, 1, {}, {}}));
    sets_ = *plan_distribution(registry::resolve_run(*source_, "42-linux")->sets, "v2/{family}");
  }
  void put(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(target_->put(k_dir + "/" + name, content::Rope::literal(bytes), {}));
  }
  Result<std::vector<HistoryPlan>> look(std::vector<std::string> let_go = {}) {
    HistoryOptions options;
    options.temporary = ::testing::TempDir();
    options.let_go = std::move(let_go);
    return check_distribution(*target_, sets_, options);
  }
  Result<DistributeReceipt> copy(std::vector<HistoryPlan> histories, store::ObjectStore* to = nullptr) {
    DistributeOptions options{k_history_at, 1};
    options.histories = std::move(histories);
    options.who = "tester";
    return distribute(*source_, to ? *to : *target_, sets_, options);
  }
  index::IndexPage page(const std::string& name) {
    return *index::read_page({**target_->get(k_dir + "/" + name, 1 << 20), name});
  }
  void only_a_wheel(const std::string& bytes) {
    target_ = store::make_memory_store();
    put("demo-0.9-py3-none-any.whl", bytes);
  }
  /// Kills a run before each of its requests: the next one must leave what an undisturbed one leaves.
  template <class Run> void is_completed_wherever_it_is_killed(const std::function<void()>& prepare, Run run) {
    prepare();
    FaultyStore counter(*target_);
    ASSERT_TRUE(run(counter));
    const auto expected = testing::snapshot(*target_);
    for (std::uint64_t at = 1; at <= counter.calls(); ++at) {
      prepare();
      FaultyStore dying(*target_, {FaultyStore::Fault::die_before, at, false});
      ASSERT_FALSE(run(dying)) << at;
      auto again = run(*target_);
      ASSERT_TRUE(again) << at << render(again.error());
      EXPECT_EQ(testing::differences(expected, testing::snapshot(*target_)), "")
          << "killed at " << at << ": " << dying.log().at(at - 1);
    }
  }
  /// The actions of the recorded moves, newest first.
  std::vector<std::string> actions() {
    std::vector<std::string> words;
    auto moves = registry::distribution_moves(*target_, registry::require_distribution(*target_, k_dir)->record, 9);
    for (const auto& move : *moves) words.emplace_back(move.move.action.text());
    return words;
  }
  std::unique_ptr<store::ObjectStore> source_, target_;
  std::vector<Distributed> sets_;
};

// The sets of a directory may leave it; what was taken over stays, with pages that say what it is.
TEST_F(UntestedHistory, ADirectoryWithNothingElseHasPages) {
  registry::HistoryFile file;
  const auto old = wheel_bytes("0.9");
  file.filename = "demo-0.9-py3-none-any.whl", file.project = "demo", file.version = "0.9", file.size = old.size();
  file.sha256 = sha256(old), file.digest_from = registry::digest_source::k_read;
  file.upload_time = "2026-11-20T10:00:00.000000Z", file.key = k_dir + "/" + file.filename;
  put(file.filename, old);
  EXPECT_EQ(pages::project_directory(*target_, k_dir)->pages_written, 0u) << "a file alone is nothing of ours";
  EXPECT_FALSE(*target_->head(k_dir + "/index.html"));
  ASSERT_TRUE(registry::put_history(*target_, {k_dir, {file}, k_history_at, "tester", "taken over", "quarry"}));
  auto written = pages::project_directory(*target_, k_dir);
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_GT(written->pages_written, 0u);
  EXPECT_EQ(testing::broken_links(testing::snapshot(*target_)), "");
  EXPECT_THAT(**target_->get(k_dir + "/index.html", 1 << 20), HasSubstr("1 file of untested history"));
  auto project = page("simple/demo/index.html");
  ASSERT_EQ(project.files.size(), 1u);
  EXPECT_EQ(project.files[0].filename, file.filename);
  EXPECT_EQ(project.files[0].sha256(), sha256(old));
  EXPECT_EQ(pages::project_directory(*target_, k_dir)->pages_written, 0u) << "and they are right already";
}

TEST_F(UntestedHistory, WhatIsSoundIsTakenOverAndListedBesideOurs) {
  const auto old = wheel_bytes("0.9");
  put("demo-0.9-py3-none-any.whl", old);
  put("index.html", k_foreign);
  put("demo/index.html", "<a href=\"../demo-0.9-py3-none-any.whl#sha256=" + sha256(old).hex() +
                             "\" data-yanked=\"slow\">demo-0.9-py3-none-any.whl</a>");
  auto found = look();
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_EQ(found->size(), 1u);
  ASSERT_EQ((*found)[0].files.size(), 1u);
  const auto& file = (*found)[0].files[0];
  EXPECT_EQ(file.sha256, sha256(old));
  EXPECT_EQ(file.digest_from, registry::digest_source::k_page);
  EXPECT_EQ(file.size, old.size());
  EXPECT_FALSE(file.etag.empty());
  EXPECT_EQ(file.yanked, "slow");
  ASSERT_TRUE(copy(*found));
  EXPECT_EQ(testing::broken_links(testing::snapshot(*target_)), "");
  auto links = page("index.html");
  EXPECT_TRUE(links.ours);
  std::vector<std::string> names;
  for (const auto& link : links.files)
    if (!link.url.ends_with('/')) names.push_back(link.filename);
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre("demo-0.9-py3-none-any.whl", "rocm_sdk_core-7.0-py3-none-any.whl"));
  EXPECT_THAT(**target_->get(k_dir + "/index.html", 1 << 20), HasSubstr("1 file of untested history"));
  EXPECT_TRUE(page("demo/index.html").files.at(0).yanked);
  EXPECT_EQ(**target_->get(k_dir + "/demo-0.9-py3-none-any.whl", 1 << 20), old); // not touched
  EXPECT_EQ(registry::history_of(*target_, k_dir)->files.size(), 1u);
  EXPECT_TRUE(look()->empty()); // known from now on
  auto sealed = registry::sealed_sets_below(*target_, k_dir);
  for (const auto& set : *sealed)
    for (const auto& each : set.set.files) EXPECT_NE(each.project, "demo"); // no set holds it
}

TEST_F(UntestedHistory, AChangeBehindOurBackIsNoted) {
  const auto old = wheel_bytes("0.9");
  put("demo-0.9-py3-none-any.whl", old);
  put("index.html", k_foreign);
  ASSERT_TRUE(copy(*look()));
  auto note = [&]() -> std::string {
    auto found = look();
    if (!found || found->size() != 1 || found->front().notes.size() != 1) return "";
    EXPECT_TRUE(found->front().files.empty());
    const auto& one = found->front().notes.front();
    return one.code + " " + one.place + " " + one.message;
  };
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9.1"));
  EXPECT_THAT(note(), HasSubstr("P117 " + k_dir +
                                "/demo-0.9-py3-none-any.whl was taken over as untested history, and "
                                "was replaced since"));
  ASSERT_TRUE(target_->remove(k_dir + "/demo-0.9-py3-none-any.whl"));
  EXPECT_THAT(note(), HasSubstr("and is gone"));
  put("demo-0.9-py3-none-any.whl", old);
  EXPECT_TRUE(look()->empty()) << "the old bytes are the old file, whenever they were written";
}

TEST_F(UntestedHistory, ManyFilesThatAreGoneAreOneNote) {
  for (const auto* version : {"0.7", "0.8", "0.9"})
    put(std::string("demo-") + version + "-py3-none-any.whl", wheel_bytes(version));
  put("index.html", k_foreign);
  ASSERT_TRUE(copy(*look()));
  for (const auto* version : {"0.7", "0.8", "0.9"})
    ASSERT_TRUE(target_->remove(k_dir + "/demo-" + version + "-py3-none-any.whl"));
  auto found = look();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  ASSERT_EQ(found->front().notes.size(), 1u);
  EXPECT_THAT(found->front().notes.front().message,
              HasSubstr("is gone; likewise " + k_dir + "/demo-0.8-py3-none-any.whl, "));
}

TEST_F(UntestedHistory, BesideJudgedPackagesNothingIsTakenOver) {
  ASSERT_TRUE(copy({}));
  auto now = registry::require_distribution(*target_, k_dir);
  now->record.fed_by = {{"stable", registry::PolicyDigest(sha256(std::string("law"))),
                         registry::LedgerDigest(sha256(std::string("a move")))}};
  ASSERT_TRUE(registry::move_distribution(*target_, *now, now->record.shown,
                                          {registry::Action::promote, {}, "", k_history_at, ""}));
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("broken-1-py3-none-any.whl", "not a wheel");
  put("index.html", "<a href=\"demo-0.9-py3-none-any.whl\">demo</a><a href=\"broken-1-py3-none-any.whl\">b</a>");
  auto found = look();
  ASSERT_TRUE(found) << "a page of another tool stays, so no link is lost: " << render(found.error());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_TRUE(found->front().files.empty());
  ASSERT_EQ(found->front().notes.size(), 1u);
  const auto& note = found->front().notes.front();
  EXPECT_EQ(note.code, "P124");
  EXPECT_THAT(note.message, HasSubstr("broken-1-py3-none-any.whl, demo-0.9-py3-none-any.whl"));
  EXPECT_THAT(note.fix, HasSubstr("quarry set adopt " + k_dir + " --store " + target_->describe()));
  auto refused = look({"mistyped"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P110") << "nothing would be lost";
  HistoryOptions all;
  all.all = true;
  all.temporary = ::testing::TempDir();
  all.let_go = {"broken"};
  auto adopted = plan_history(*target_, {k_dir, *target_->list(k_dir + "/")}, all);
  ASSERT_TRUE(adopted) << render(adopted.error());
  EXPECT_EQ(adopted->files.size(), 1u) << "`set adopt` takes it over as ever";
}

TEST_F(UntestedHistory, APackageInADirectoryBelowIsNotOneOfThisDirectory) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("gfx94X/demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  EXPECT_EQ(check_place(*target_, k_dir).error().code, "P052");
  HistoryOptions options;
  options.all = true;
  auto plan = plan_history(*target_, {k_dir, *target_->list(k_dir + "/")}, options);
  ASSERT_TRUE(plan) << render(plan.error());
  ASSERT_EQ(plan->files.size(), 1u);
  EXPECT_EQ(plan->files[0].key, k_dir + "/demo-0.9-py3-none-any.whl");
}

TEST_F(UntestedHistory, AStructuredIndexIsTakenOverWhereItsFilesLie) {
  const auto old = wheel_bytes("0.9");
  put("demo/demo-0.9-py3-none-any.whl", old);
  put("demo/index.html", "<a href=\"./demo-0.9-py3-none-any.whl#sha256=" + sha256(old).hex() + "\">demo</a>");
  put("index.html", "<a href=\"demo/\">demo</a>");
  auto found = look();
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_EQ(found->at(0).files.size(), 1u);
  EXPECT_EQ(found->at(0).files[0].key, k_dir + "/demo/demo-0.9-py3-none-any.whl");
  ASSERT_TRUE(copy(*found));
  EXPECT_EQ(testing::broken_links(testing::snapshot(*target_)), "");
  auto links = page("demo/index.html");
  EXPECT_TRUE(links.ours);
  ASSERT_EQ(links.files.size(), 1u);
  EXPECT_EQ(links.files[0].url, "demo-0.9-py3-none-any.whl");
  EXPECT_TRUE(look()->empty());
}

TEST_F(UntestedHistory, OneNameInTwoPlacesWithDifferentBytesIsNotTakenOver) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("demo/demo-0.9-py3-none-any.whl", wheel_bytes("0.9") + "more");
  auto found = look();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "P090");
  EXPECT_THAT(render(found.error()), HasSubstr("lies there twice"));
}

TEST_F(UntestedHistory, ARecordThatNobodyCouldReadIsNotWritten) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  auto found = look();
  ASSERT_TRUE(found);
  auto twice = found->at(0);
  twice.files.push_back(twice.files[0]);
  EXPECT_EQ(take_over(*target_, twice, {k_history_at, "", "", "", 1}).error().code, "R012");
  EXPECT_TRUE(target_->list(registry::history_prefix(k_dir))->empty());
}

TEST_F(UntestedHistory, AnAlteredRecordIsNotBelieved) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  ASSERT_TRUE(copy(*look()));
  auto records = *target_->list(registry::history_prefix(k_dir));
  ASSERT_EQ(records.size(), 1u);
  auto text = **target_->get(records[0].key, 1 << 20);
  text.replace(text.find("demo"), 4, "evil");
  ASSERT_TRUE(target_->put(records[0].key, content::Rope::literal(text), {}));
  EXPECT_EQ(repair_distribution(*target_, k_dir).error().kind, ErrorKind::corrupt);
}

TEST_F(UntestedHistory, AFileWhoseDigestNobodyKnowsIsListedWithoutOne) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("index.html", k_foreign);
  auto found = look();
  ASSERT_TRUE(found);
  EXPECT_FALSE((*found)[0].files[0].sha256);
  ASSERT_TRUE(copy(*found));
  EXPECT_TRUE(page("demo/index.html").files.at(0).hashes.empty());
  EXPECT_TRUE(page("simple-json/demo/index.html").files.at(0).hashes.empty());
  EXPECT_FALSE(page("demo/index.html").files.at(0).core_metadata.empty());
}

TEST_F(UntestedHistory, WhatCannotBeTakenOverStopsTheMoveUntilItIsGivenUpByName) {
  put("demo-0.9-py3-none-any.whl", "not a wheel");
  put("other-1.0-py3-none-any.whl", wheel_bytes("1.0")); // holds METADATA of demo
  put("index.html", std::string(k_foreign) + "<a href=\"https://host/far-1.0-py3-none-any.whl\">far</a>");
  auto before = testing::snapshot(*target_);
  auto refused = look();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P090");
  EXPECT_THAT(refused.error().details,
              ElementsAre(HasSubstr("demo-0.9-py3-none-any.whl  in v2/gfx94X-dcgpu/: Z"),
                          HasSubstr("demo-0.9-py3-none-any.whl  in v2/gfx94X-dcgpu/index.html: Z"),
                          "far-1.0-py3-none-any.whl  in v2/gfx94X-dcgpu/index.html",
                          HasSubstr("other-1.0-py3-none-any.whl  in v2/gfx94X-dcgpu/: W006")));
  EXPECT_EQ(look({"demo", "far"}).error().code, "P090");
  EXPECT_EQ(look({"demo", "far", "other", "mistyped"}).error().code, "P110");
  EXPECT_EQ(testing::differences(before, testing::snapshot(*target_)), "");
  auto given_up = look({"demo", "far-1.0-py3-none-any.whl", "other"});
  ASSERT_TRUE(given_up) << render(given_up.error());
  EXPECT_EQ((*given_up)[0].let_go.size(), 3u);
  ASSERT_TRUE(copy(*given_up));
  EXPECT_EQ(page("simple-json/index.html").projects, std::vector<std::string>{"rocm-sdk-core"});
}

TEST_F(UntestedHistory, TwoPagesWithTwoDigestsOfOneFileAreNotBelieved) {
  const auto old = wheel_bytes("0.9");
  put("demo-0.9-py3-none-any.whl", old);
  auto link = [](const Sha256& digest) {
    return "<a href=\"../demo-0.9-py3-none-any.whl#sha256=" + digest.hex() + "\">demo</a>";
  };
  put("demo/index.html", link(sha256(old)));
  put("simple/demo/index.html", link(sha256("other")));
  auto refused = look();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P090");
  EXPECT_THAT(refused.error().details.at(0), HasSubstr("P114"));
}

TEST_F(UntestedHistory, WhatThisMachineLacksIsNotBlamedOnAPackage) {
  put("demo-0.9.tar.gz", "a source distribution");
  HistoryOptions options;
  options.temporary = ::testing::TempDir() + "/does-not-exist";
  auto refused = check_distribution(*target_, sets_, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code[0], 'D') << render(refused.error());
}

TEST_F(UntestedHistory, TwoDigestsOfOneFileAreNotBelieved) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("index.html", "<a href=\"demo-0.9-py3-none-any.whl#sha256=" + sha256("other").hex() + "\">demo</a>");
  auto found = look(); // nobody else knows one, so the page is believed until `--seal`
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].files[0].digest_from, registry::digest_source::k_page);
}

TEST_F(UntestedHistory, APrefixThatChangesMeanwhileIsNotTakenOver) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("index.html", k_foreign);
  auto found = look();
  ASSERT_TRUE(found);
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9") + "changed");
  auto refused = copy(*found);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P111");
  EXPECT_TRUE(registry::history_of(*target_, k_dir)->files.empty());
  EXPECT_THAT(**target_->get(k_dir + "/index.html", 1 << 20), k_foreign);
}

TEST_F(UntestedHistory, APrefixThatAProtectedChannelFeedsMeanwhileIsNotTakenOver) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("index.html", k_foreign);
  auto found = look();
  ASSERT_TRUE(found && !found->front().files.empty());
  ASSERT_TRUE(registry::claim_distribution(*target_, k_dir));
  auto now = registry::require_distribution(*target_, k_dir);
  now->record.fed_by = {{"stable", registry::PolicyDigest(sha256(std::string("a policy"))),
                         registry::LedgerDigest(sha256(std::string("a move")))}};
  ASSERT_TRUE(registry::move_distribution(*target_, *now, {}, {registry::Action::promote, {}, "", k_history_at, ""}));
  auto refused = copy(*found);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P111") << render(refused.error());
  EXPECT_TRUE(registry::history_of(*target_, k_dir)->files.empty());
}

TEST_F(UntestedHistory, APageThatCannotBeReadIsNotReplaced) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  for (const auto& page :
       {std::string("\x1f\x8b\x08 compressed"), std::string("<\0a\0 \0", 6), std::string("caf\xe9 <a>")}) {
    put("index.html", page);
    auto refused = look();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "P121") << render(refused.error());
  }
  put("index.html", "");
  EXPECT_TRUE(look()) << "nothing in it can be lost";
}

class UntestedHistoryFails : public UntestedHistory, public ::testing::WithParamInterface<FaultyStore::Fault> {};

TEST_P(UntestedHistoryFails, AtAnyWriteItIsCompletedByTheNextRun) {
  auto fill = [](store::ObjectStore& store, const std::string& old) {
    ASSERT_TRUE(store.put(k_dir + "/demo-0.9-py3-none-any.whl", content::Rope::literal(old), {}));
    auto link = "<a href=\"demo-0.9-py3-none-any.whl#sha256=" + sha256(old).hex() + "\">demo</a>";
    ASSERT_TRUE(store.put(k_dir + "/index.html", content::Rope::literal(link), {}));
  };
  const auto old = wheel_bytes("0.9");
  HistoryOptions options;
  for (std::uint64_t at = 1;; ++at) {
    auto target = store::make_memory_store();
    fill(*target, old);
    FaultyStore dying(*target, {GetParam(), at, true});
    bool whole = copy(*check_distribution(*target, sets_, options), &dying).has_value() && !dying.fired();
    EXPECT_EQ(testing::broken_links(testing::snapshot(*target)), "") << at;
    auto again = check_distribution(*target, sets_, options);
    ASSERT_TRUE(again) << at << render(again.error());
    ASSERT_TRUE(copy(*again, target.get())) << at;
    auto shown = index::read_page({**target->get(k_dir + "/demo/index.html", 1 << 20), "page"});
    EXPECT_EQ(shown->files.size(), 1u) << at;
    for (const char* each : {"index.html", "demo/index.html"}) // not left to the other tool for ever
      EXPECT_TRUE(index::read_page({**target->get(k_dir + "/" + each, 1 << 20), each})->ours) << at << " " << each;
    if (whole) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, UntestedHistoryFails,
                         ::testing::Values(FaultyStore::Fault::die_after, FaultyStore::Fault::lose_request,
                                           FaultyStore::Fault::lose_reply));

// The page was left to the other tool in a round that lost, and is ours in the next one.
TEST_F(UntestedHistory, APageThatBecameOursIsNotReported) {
  registry::HistoryFile file;
  file.filename = "demo-0.9-py3-none-any.whl", file.project = "demo", file.version = "0.9", file.size = 3;
  file.sha256 = sha256("old"), file.digest_from = registry::digest_source::k_read;
  file.upload_time = "2026-11-20T10:00:00.000000Z", file.key = k_dir + "/" + file.filename;
  ASSERT_TRUE(registry::put_history(*target_, {k_dir, {file}, k_history_at, "tester", "taken over", "quarry"}));
  ASSERT_TRUE(pages::project_directory(*target_, k_dir));
  put("index.html", k_foreign);
  EXPECT_THAT(pages::project_directory(*target_, k_dir)->foreign, ElementsAre(k_dir + "/index.html"));
  FaultyStore racing(*target_);
  bool came = false;
  racing.after_call = [&](std::uint64_t) {
    if (came || !racing.log().back().ends_with(k_dir + "/index.html")) return;
    came = true;
    ASSERT_TRUE(target_->remove(k_dir + "/index.html"));
    ASSERT_TRUE(registry::put_history(*target_, {k_dir, {file}, k_a_second_later, "tester", "again", "quarry"}));
  };
  auto written = pages::project_directory(racing, k_dir);
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_TRUE(came);
  EXPECT_THAT(written->foreign, ElementsAre());
  EXPECT_TRUE(page("index.html").ours);
}

TEST_F(UntestedHistory, WhatWasYankedStaysYankedInTheSeal) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("index.html", k_foreign);
  put("demo/index.html", "<a href=\"../demo-0.9-py3-none-any.whl\" data-yanked=\"slow\">demo-0.9-py3-none-any.whl</a>");
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  for (bool taken_over : {false, true}) { // by the other tool's page; then by what was taken over from it
    if (taken_over) ASSERT_TRUE(copy(*look()));
    auto plan = plan_sealing(*target_, k_dir, options);
    ASSERT_TRUE(plan && *plan) << render(plan.error());
    EXPECT_EQ((*plan)->set.files.at(0).yanked, "slow");
    if (taken_over) ASSERT_TRUE(seal_in_place(*target_, **plan, {k_history_at, "ann"}));
  }
  EXPECT_TRUE(page("demo/index.html").files.at(0).yanked);
}

TEST_F(UntestedHistory, AFileThatIsReplacedBeforeTheSealIsNotSealed) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  auto plan = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(plan && *plan) << render(plan.error());
  FaultyStore racing(*target_);
  racing.after_call = [&](std::uint64_t) {
    if (racing.log().back().ends_with("/distribution.json")) put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9") + "x");
  };
  auto refused = seal_in_place(racing, **plan, {k_history_at, "ann"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P111") << render(refused.error());
  EXPECT_TRUE(registry::sealed_sets_below(*target_, k_dir)->empty());
}

TEST_F(UntestedHistory, ASealLeavesOutWhatIsBrokenAndGivenUpByName) {
  const std::string broken = "demo-0.8-py3-none-any.whl";
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put(broken, "");
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  auto refused = plan_sealing(*target_, k_dir, options);
  ASSERT_FALSE(refused);
  auto text = render(refused.error());
  EXPECT_THAT(text, HasSubstr(k_dir + "/" + broken));
  EXPECT_THAT(text, HasSubstr("--replace " + broken));
  EXPECT_THAT(text, Not(HasSubstr("quarry-check-"))) << "nobody has that file any more";
  for (const auto* name : {"demo-0.8-py3-none-any.whl", "demo"}) {
    options.let_go = {name};
    auto plan = plan_sealing(*target_, k_dir, options);
    ASSERT_TRUE(plan && *plan) << render(plan.error());
    ASSERT_EQ((*plan)->set.files.size(), 1u);
    EXPECT_EQ((*plan)->set.files[0].version, "0.9");
    ASSERT_EQ((*plan)->notes.size(), 1u);
    EXPECT_EQ((*plan)->notes[0].code, "P123");
  }
  options.let_go = {broken, "demo-0.9-py3-none-any.whl"};
  auto sound = plan_sealing(*target_, k_dir, options);
  ASSERT_FALSE(sound);
  EXPECT_EQ(sound.error().code, "P110") << render(sound.error());
}

TEST_F(UntestedHistory, WhatAnEarlierMoveGaveUpIsNotAskedForAgain) {
  const std::string broken = "demo-0.8-py3-none-any.whl";
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put(broken, "");
  put("index.html", k_foreign + ("<a href=\"" + broken + "\">demo</a>"));
  EXPECT_EQ(look().error().code, "P090");
  auto given_up = look({"demo"});
  ASSERT_TRUE(given_up) << render(given_up.error());
  ASSERT_TRUE(copy(*given_up));
  EXPECT_THAT(registry::history_of(*target_, k_dir)->given_up, ElementsAre(broken));

  HistoryOptions all;
  all.all = true;
  all.temporary = ::testing::TempDir();
  auto again = plan_history(*target_, {k_dir, *target_->list(k_dir + "/")}, all);
  EXPECT_TRUE(again) << render(again.error());
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  auto plan = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(plan && *plan) << render(plan.error());
  ASSERT_EQ((*plan)->set.files.size(), 1u);
  ASSERT_EQ((*plan)->notes.size(), 1u);
  EXPECT_EQ((*plan)->notes[0].code, "P123") << "it is told all the same";
  ASSERT_TRUE(seal_in_place(*target_, **plan, {k_history_at, "ann"}));
  auto nothing = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(nothing) << render(nothing.error());
  EXPECT_FALSE(*nothing);

  put("demo-0.7-py3-none-any.whl", ""); // another broken one was not given up
  EXPECT_FALSE(plan_sealing(*target_, k_dir, options));
}

TEST_F(UntestedHistory, ASealTakesTheFilesOutOfTheHistory) {
  const auto old = wheel_bytes("0.9");
  put("demo-0.9-py3-none-any.whl", old);
  put("index.html", k_foreign);
  ASSERT_TRUE(copy(*look()));
  std::uint64_t bytes = 0;
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  options.keep_notes = true;
  options.on_start = [&](std::uint64_t, std::uint64_t more) { bytes += more; };
  auto plan = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(plan && *plan) << render(plan.error());
  EXPECT_EQ(bytes, old.size());
  auto again = plan_sealing(*target_, k_dir, options); // as if the first run had been killed: nothing is read twice
  ASSERT_TRUE(again && *again);
  EXPECT_EQ(bytes, old.size());
  EXPECT_EQ((*again)->set_digest, (*plan)->set_digest);
  ASSERT_TRUE(seal_in_place(*target_, **again, {k_history_at, "ann"}));
  EXPECT_TRUE(target_->list(registry::history_prefix(k_dir) + "notes/")->empty());
  EXPECT_EQ(page("demo/index.html").files.at(0).sha256(), sha256(old));
  EXPECT_THAT(**target_->get(k_dir + "/index.html", 1 << 20), Not(HasSubstr("untested")));
  EXPECT_FALSE(*plan_sealing(*target_, k_dir, options));
}

// Wherever a run is killed, the next one ends with the same seal and the same pages.
TEST_F(UntestedHistory, ASealThatIsKilledIsCompleted) {
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  options.keep_notes = true;
  auto seal = [&](store::ObjectStore& store) -> Result<Findings> {
    TRY(auto plan, plan_sealing(store, k_dir, options));
    return plan ? seal_in_place(store, *plan, {k_history_at, "ann"}) : complete_adoption(store, k_dir);
  };
  const auto bytes = wheel_bytes("0.9");
  put("demo-0.9-py3-none-any.whl", bytes);
  EXPECT_TRUE(complete_adoption(*target_, k_dir)) << "a directory that is not a distribution stays as it is";
  EXPECT_EQ(target_->list("")->size(), 1u);
  is_completed_wherever_it_is_killed([&] { only_a_wheel(bytes); }, seal);
}

TEST_F(UntestedHistory, ATakingOverThatIsKilledIsCompleted) {
  HistoryOptions options;
  options.temporary = ::testing::TempDir();
  options.all = options.keep_notes = true;
  auto adopt = [&](store::ObjectStore& store) -> Result<Findings> {
    TRY(auto objects, check_place(store, k_dir));
    TRY(auto plan, plan_history(store, {k_dir, std::move(objects)}, options));
    TRY_DO(take_over(store, plan, {k_history_at, "tester", {}, "quarry", 1}));
    return complete_adoption(store, k_dir);
  };
  const auto bytes = wheel_bytes("0.9");
  is_completed_wherever_it_is_killed([&] { only_a_wheel(bytes); }, adopt);
}

// A directory that has moved already: the move of the one that was killed is not lost.
TEST_F(UntestedHistory, ATakingOverThatIsKilledInAMovedDirectoryIsCompleted) {
  HistoryOptions options;
  options.temporary = ::testing::TempDir();
  options.all = options.keep_notes = true;
  auto adopt = [&](store::ObjectStore& store) -> Result<Findings> {
    TRY(auto objects, check_place(store, k_dir));
    TRY(auto plan, plan_history(store, {k_dir, std::move(objects)}, options));
    TRY_DO(take_over(store, plan, {k_a_second_later, "ann", "ours", "quarry", 1}));
    return complete_adoption(store, k_dir);
  };
  auto prepare = [&] {
    target_ = store::make_memory_store();
    ASSERT_TRUE(copy({}));
    put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  };
  is_completed_wherever_it_is_killed(prepare, adopt);
  EXPECT_THAT(actions(), ElementsAre("adopt", "promote"));
}

class RecordsAndMoves : public UntestedHistory {
protected:
  /// Somebody writes a record without Quarry.
  registry::HistoryDigest forge(const std::string& name, const sys::Timestamp& time, const std::string& who) {
    registry::HistoryFile file;
    file.filename = name, file.project = "demo", file.version = "1", file.key = k_dir + "/" + name;
    auto written = registry::put_history(*target_, {k_dir, {file}, time, who, "", "quarry"});
    EXPECT_TRUE(written);
    return *written;
  }
  std::vector<registry::HistoryDigest> left() {
    std::vector<registry::HistoryDigest> digests;
    auto records = without_move(*target_, k_dir);
    EXPECT_TRUE(records) << render(records.error());
    for (const auto& one : *records) digests.push_back(one.digest);
    return digests;
  }
};

TEST_F(RecordsAndMoves, AMoveAnswersForTheRecordsThatItNames) {
  auto first = forge("demo-1.tar.gz", k_history_at, "ann");
  ASSERT_TRUE(record_adoptions(*target_, k_dir));
  EXPECT_THAT(left(), ElementsAre());
  auto copied = forge("demo-2.tar.gz", k_history_at, "ann"); // the same time and person
  EXPECT_THAT(left(), ElementsAre(copied));
  auto moves = registry::distribution_moves(*target_, registry::require_distribution(*target_, k_dir)->record, 9);
  ASSERT_TRUE(moves && moves->size() == 1u);
  EXPECT_THAT(moves->front().move.history, ElementsAre(first));
}

// Moves of earlier versions name no record.
TEST_F(RecordsAndMoves, AMoveWithoutDigestsAnswersForOneRecord) {
  ASSERT_TRUE(registry::claim_distribution(*target_, k_dir));
  auto now = *registry::require_distribution(*target_, k_dir);
  ASSERT_TRUE(
      registry::move_distribution(*target_, now, {}, {registry::Action::read("adopt"), {}, "ann", k_history_at}));
  forge("demo-1.tar.gz", k_history_at, "ann");
  EXPECT_THAT(left(), ElementsAre());
  forge("demo-2.tar.gz", k_history_at, "ann");
  EXPECT_EQ(left().size(), 2u);
}

TEST_F(RecordsAndMoves, AnAlteredRecordIsRefused) {
  auto digest = forge("demo-1.tar.gz", k_history_at, "ann");
  auto key = registry::history_prefix(k_dir) + digest.hex() + ".json";
  auto bytes = *target_->get(key, 1 << 20);
  bytes->replace(bytes->find("ann"), 3, "bob");
  ASSERT_TRUE(target_->put(key, content::Rope::literal(*bytes), {}));
  auto records = without_move(*target_, k_dir);
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().code, "R011");
}

TEST_F(RecordsAndMoves, AKeySignsOnlyWhatWasConfirmed) {
  auto digest = forge("demo-1.tar.gz", k_history_at, "ann");
  auto key = Ed25519PrivateKey::create();
  ASSERT_TRUE(key);
  ASSERT_TRUE(record_adoptions(*target_, k_dir, {*key}));
  EXPECT_THAT(left(), ElementsAre(digest));
  ASSERT_TRUE(record_adoptions(*target_, k_dir, {*key, {digest}}));
  EXPECT_THAT(left(), ElementsAre());
}

TEST_F(RecordsAndMoves, AMoveThatAnotherRunHasWrittenIsNotWrittenTwice) {
  forge("demo-1.tar.gz", k_history_at, "ann");
  int asked = 0;
  Completion completion;
  completion.may = [&](const registry::DistributionRecord&) {
    return ++asked == 1 ? record_adoptions(*target_, k_dir) : Result<void>();
  };
  ASSERT_TRUE(record_adoptions(*target_, k_dir, completion));
  EXPECT_THAT(actions(), ElementsAre("adopt"));
  EXPECT_EQ(asked, 1);
}

TEST_F(UntestedHistory, AFirstPromotionThatIsKilledKeepsItsMoveOfWhatWasThere) {
  const auto bytes = wheel_bytes("0.9");
  auto promote = [&](store::ObjectStore& store, const sys::Timestamp& when) -> Result<DistributeReceipt> {
    HistoryOptions looking;
    looking.temporary = ::testing::TempDir();
    DistributeOptions options{when, 1};
    options.who = "tester";
    TRY(options.histories, check_distribution(store, sets_, looking));
    return distribute(*source_, store, sets_, options);
  };
  auto prepare = [&] {
    target_ = store::make_memory_store();
    put("demo-0.9-py3-none-any.whl", bytes);
    put("index.html", k_foreign);
  };
  prepare();
  FaultyStore counter(*target_);
  ASSERT_TRUE(promote(counter, k_history_at));
  for (std::uint64_t at = 1; at <= counter.calls(); ++at) {
    prepare();
    FaultyStore dying(*target_, {FaultyStore::Fault::die_before, at, false});
    ASSERT_FALSE(promote(dying, k_history_at)) << at;
    auto again = promote(*target_, k_a_second_later);
    ASSERT_TRUE(again) << at << render(again.error());
    EXPECT_THAT(actions(), ElementsAre("promote", "adopt")) << "killed at " << at << ": " << dying.log().at(at - 1);
  }
}

TEST_F(UntestedHistory, ANoteIsBelievedOnlyForItsOwnObject) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  std::uint64_t files = 0;
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  options.keep_notes = true;
  options.on_start = [&](std::uint64_t more, std::uint64_t) { files = more; };
  auto plan = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(plan && *plan) << render(plan.error());
  auto notes = *target_->list(registry::history_prefix(k_dir) + "notes/");
  ASSERT_EQ(notes.size(), 1u);
  const auto right = **target_->get(notes[0].key, 1 << 20);
  auto write = [&](const std::string& text, const std::string& key) {
    ASSERT_TRUE(target_->remove(target_->list(registry::history_prefix(k_dir) + "notes/")->at(0).key));
    ASSERT_TRUE(target_->put(key, content::Rope::literal(text), {}));
  };
  auto altered = right;
  const auto real = sha256(wheel_bytes("0.9")).hex(), wrong = sha256("other").hex();
  altered.replace(altered.find(real), real.size(), wrong);
  write(altered, notes[0].key); // under a name that is not its digest
  EXPECT_EQ((*plan_sealing(*target_, k_dir, options))->set_digest, (*plan)->set_digest);
  EXPECT_EQ(files, 1u);
  write(right, notes[0].key);
  EXPECT_EQ((*plan_sealing(*target_, k_dir, options))->set_digest, (*plan)->set_digest);
  EXPECT_EQ(files, 0u);
}

TEST_F(UntestedHistory, ASealReplacesAMetadataFileThatIsNotThatOfItsWheel) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  put("demo-0.9-py3-none-any.whl.metadata", "Metadata-Version: 2.1\nName: other\nVersion: 9\n");
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  options.keep_notes = true;
  auto plan = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(plan && *plan) << render(plan.error());
  auto sealed = seal_in_place(*target_, **plan, {k_history_at, "ann"});
  ASSERT_TRUE(sealed) << render(sealed.error());
  EXPECT_THAT(**target_->get(k_dir + "/demo-0.9-py3-none-any.whl.metadata", 1 << 20), HasSubstr("Name: demo"));
}

TEST_F(UntestedHistory, WhatChangedAfterItWasReadIsNotSealed) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  AdoptOptions options{index::describe, k_history_at, "quarry"};
  options.temporary = ::testing::TempDir();
  auto plan = plan_sealing(*target_, k_dir, options);
  ASSERT_TRUE(plan && *plan) << render(plan.error());
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9") + "changed");
  auto before = testing::snapshot(*target_);
  EXPECT_EQ(seal_in_place(*target_, **plan, {k_history_at, "ann"}).error().code, "P111");
  ASSERT_TRUE(target_->remove(k_dir + "/demo-0.9-py3-none-any.whl"));
  EXPECT_EQ(seal_in_place(*target_, **plan, {k_history_at, "ann"}).error().code, "P111");
  before.erase(k_dir + "/demo-0.9-py3-none-any.whl");
  EXPECT_EQ(testing::differences(before, testing::snapshot(*target_)), "");
}

TEST_F(UntestedHistory, ARunThatWasKilledDoesNotLookAgain) {
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9"));
  HistoryOptions options;
  options.all = options.keep_notes = true;
  auto look_again = [&] { return plan_history(*target_, {k_dir, *target_->list(k_dir + "/")}, options); };
  EXPECT_EQ(look_again()->noted, 0u);
  auto second = look_again();
  EXPECT_EQ(second->noted, 1u);
  put("demo-0.9-py3-none-any.whl", wheel_bytes("0.9") + "x"); // another object: the note does not count
  EXPECT_EQ(look_again().error().code, "P090");
}

/// A function that the bucket calls: it writes `index.html` of the directory again after each other change.
class Lambda {
public:
  Lambda(store::ObjectStore& inner, store::ObjectStore& watched) : inner_(inner), watched_(watched) {}
  void operator()(std::uint64_t) {
    auto puts = inner_.counters().puts;
    if (puts == seen_ || busy_) return;
    busy_ = true;
    std::string body = "<!-- " + std::to_string(rewrites) + " -->\n"; // as a time would be
    auto objects = *watched_.list(k_dir + "/");
    for (const auto& object : objects)
      if (object.key.ends_with(".whl")) body += "<a href=\"" + object.key.substr(k_dir.size() + 1) + "\">x</a>\n";
    EXPECT_TRUE(inner_.put(k_dir + "/index.html", content::Rope::literal(body), {}));
    ++rewrites;
    seen_ = inner_.counters().puts;
    busy_ = false;
  }
  int rewrites = 0;

private:
  store::ObjectStore &inner_, &watched_;
  std::uint64_t seen_ = 0;
  bool busy_ = false;
};

TEST_F(UntestedHistory, AnActiveWriterOfThePageIsLeftAloneAndNamed) {
  FaultyStore watched(*target_);
  Lambda lambda(*target_, *target_);
  watched.after_call = std::ref(lambda);
  auto first = copy({}, &watched);
  ASSERT_TRUE(first) << render(first.error());
  ASSERT_EQ(first->notes.size(), 1u);
  EXPECT_EQ(first->notes[0].code, "P113");
  EXPECT_EQ(first->notes[0].place, k_dir + "/index.html");
  auto writes = target_->counters().puts;
  auto second = copy({}, &watched);
  ASSERT_TRUE(second) << render(second.error());
  EXPECT_EQ(target_->counters().puts, writes); // no fight
  EXPECT_TRUE(page("simple/index.html").ours);
  EXPECT_FALSE(page("index.html").ours);
}

TEST_F(UntestedHistory, APageThatAnotherToolWroteLaterIsLeftToItAlsoByRepair) {
  ASSERT_TRUE(copy({}));
  put("index.html", "<a href=\"rocm_sdk_core-7.0-py3-none-any.whl\">core</a>");
  auto repaired = repair_distribution(*target_, k_dir);
  ASSERT_TRUE(repaired && *repaired);
  ASSERT_EQ((*repaired)->notes.size(), 1u);
  EXPECT_EQ((*repaired)->notes[0].code, "P113");
  EXPECT_FALSE(page("index.html").ours);
  ASSERT_TRUE(target_->remove(k_dir + "/index.html"));
  ASSERT_TRUE(*repair_distribution(*target_, k_dir));
  EXPECT_TRUE(page("index.html").ours);
}

TEST_F(UntestedHistory, OurCopyOfAFindLinksPageGoesWhenAnotherToolWritesThePage) {
  ASSERT_TRUE(copy({}));
  const auto slash = k_dir + "/";
  ASSERT_TRUE(*target_->head(slash));
  const auto ours = **target_->get(slash, 1 << 20);
  ASSERT_TRUE(*pages::write_settings(*target_, {pages::FindLinks::other}));
  ASSERT_TRUE(*repair_distribution(*target_, k_dir));
  EXPECT_FALSE(*target_->head(slash)) << "it would show for ever what the directory had";
  EXPECT_TRUE(*target_->head(k_dir + "/index.html")) << "the other tool replaces the page";
  EXPECT_TRUE(*target_->head(k_dir + "/simple/"));
  const std::string theirs = "<a href=\"rocm_sdk_core-7.0-py3-none-any.whl\">core</a>";
  ASSERT_TRUE(target_->put(slash, content::Rope::literal(theirs), {}));
  ASSERT_TRUE(*repair_distribution(*target_, k_dir));
  EXPECT_EQ(**target_->get(slash, 1 << 20), theirs);
}

TEST_F(UntestedHistory, TheSettingLeavesTheFindLinksPageToTheOtherTool) {
  EXPECT_FALSE(*pages::write_settings(*target_, {}));
  EXPECT_TRUE(*pages::write_settings(*target_, {pages::FindLinks::other}));
  EXPECT_FALSE(*pages::write_settings(*target_, {pages::FindLinks::other}));
  auto receipt = copy({});
  ASSERT_TRUE(receipt);
  EXPECT_TRUE(receipt->notes.empty());
  EXPECT_FALSE(*target_->head(k_dir + "/index.html"));
  EXPECT_FALSE(*target_->head(k_dir + "/"));
  EXPECT_TRUE(page("simple/index.html").ours);
  for (const std::string said : {R"("nobody")", "7", "null", "[]"}) {
    auto text = R"({"find_links":)" + said + R"(,"schema":"quarry.settings/1"})";
    ASSERT_TRUE(target_->put("settings.json", content::Rope::literal(text), {}));
    auto read = pages::read_settings(*target_);
    ASSERT_FALSE(read) << said;
    EXPECT_EQ(read.error().code, "P115");
  }
}

} // namespace
} // namespace quarry::publish
