#include "publish/publish.hpp"

#include "dist/name.hpp"
#include "pages/addresses.hpp"
#include "pages/projection.hpp"
#include "publish/outputs.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/testing/packages.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::publish {
namespace {

using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Packages;

const auto k_now = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");

Target target(const std::string& channel = {}, const std::string& run = "42") {
  Target t{*run::Layout::create({{}, run, Platform::linux}),
           "python",
           "gfx94X-dcgpu",
           run::PackageForm::quarry,
           channel,
           "c0ffee",
           {},
           {},
           "quarry 0.1"};
  return t;
}

Result<Plan> plan(store::ObjectStore& store, const Packages& packages, const Target& t,
                  const sys::Timestamp& now = k_now) {
  TRY(auto collected, collect({packages.path(), testing::fake_describe, 2}));
  return make_plan(store, t, std::move(collected), now);
}

Result<Receipt> publish(store::ObjectStore& store, const Packages& packages, const Target& t,
                        const sys::Timestamp& now = k_now) {
  TRY(auto planned, plan(store, packages, t, now));
  return execute(store, planned, {now, "tester", {}, 1, {}});
}

void fill(Packages& packages) {
  packages.add("dist/rocm-7.2.0.tar.gz")
      .add("dist/rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl")
      .add("dist/rocm_sdk_libraries_gfx94x_dcgpu-7.2.0+r1-py3-none-linux_x86_64.whl");
}

class Publish : public ::testing::Test {
protected:
  void SetUp() override { fill(packages_); }
  std::vector<std::string> keys(const std::string& prefix) {
    std::vector<std::string> found;
    auto objects = store_->list(prefix);
    for (const auto& object : *objects) found.push_back(object.key);
    return found;
  }
  Packages packages_;
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

/// Believes that a file still has the bytes it had when it was packed, as a proof does.
Describe from_proofs(const std::string& packed) {
  return [packed](const std::string& path, unsigned) -> Result<index::Described> {
    TRY(auto described, testing::fake_describe(path));
    described.file.sha256 = sha256(packed + " of dist/" + described.file.filename);
    described.hashed = false;
    return described;
  };
}

TEST_F(Publish, AFileThatChangedAfterItWasProvenIsRefusedWhenItIsStored) {
  auto collected = collect({packages_.path(), from_proofs("other!!"), 1});
  ASSERT_TRUE(collected);
  auto planned = make_plan(*store_, target(), std::move(*collected), k_now);
  ASSERT_TRUE(planned);
  auto refused = execute(*store_, *planned, {k_now, "tester", {}, 1, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R008");
  EXPECT_TRUE(keys("").empty());
}

TEST_F(Publish, AProvenFileThatTheStoreHasIsHashedBeforeItCountsAsPublished) {
  ASSERT_TRUE(publish(*store_, packages_, target()));
  auto republish = [&] {
    auto collected = collect({packages_.path(), from_proofs("content"), 1});
    auto planned = make_plan(*store_, target(), std::move(*collected), k_now);
    return execute(*store_, *planned, {k_now, "tester", {}, 1, {}});
  };
  EXPECT_TRUE(republish());
  packages_.add("dist/rocm-7.2.0.tar.gz", "CONTENT");
  auto refused = republish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R008");
}

TEST_F(Publish, LargeDistributionsGetAllWorkersAndSmallOnesOneEach) {
  packages_.add("dist/big-1.0-py3-none-any.whl", std::string(33u << 20, 'x'));
  std::mutex mutex;
  std::map<std::string, unsigned> seen;
  auto describe = [&](const std::string& path, unsigned workers) {
    std::lock_guard lock(mutex);
    seen[std::string(path::basename(path))] = workers;
    return testing::fake_describe(path);
  };
  ASSERT_TRUE(collect({packages_.path(), describe, 3}));
  EXPECT_EQ(seen["big-1.0-py3-none-any.whl"], 3u);
  EXPECT_EQ(seen["rocm-7.2.0.tar.gz"], 1u);
}

TEST_F(Publish, WhatIsStillBeingBuiltIsNotPublished) {
  packages_.add(std::string("dist/") + dist::k_being_built);
  auto refused = collect({packages_.path(), testing::fake_describe, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P014");
  EXPECT_EQ(traits(refused.error().kind).exit_code, 8);
}

TEST_F(Publish, PackagesOfAnotherPlatformAndSeveralVersionsAreRefused) {
  EXPECT_EQ(collect({packages_.path(), testing::fake_describe, 1, {}, Platform::windows}).error().code, "P015");
  ASSERT_TRUE(collect({packages_.path(), testing::fake_describe, 1, {}, Platform::linux}));
  packages_.add("dist/rocm_sdk_core-7.1.0-py3-none-linux_x86_64.whl");
  auto refused = collect({packages_.path(), testing::fake_describe, 1, {}, Platform::linux});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P016");
  EXPECT_THAT(refused.error().details, ElementsAre(HasSubstr("rocm-sdk-core: 2 versions")));
  auto collected = collect({packages_.path(), testing::fake_describe, 1, {}, Platform::linux, true});
  ASSERT_TRUE(collected);
  ASSERT_EQ(collected->notes.size(), 1u);
  EXPECT_EQ(collected->notes.front().code, "P016");
  EXPECT_THAT(collected->notes.front().message, HasSubstr("7.1.0, 7.2.0"));
}

/// A publish of other bytes that was killed after two files; the clock of its store.
struct LeftBehind {
  LeftBehind() {
    Packages first;
    for (const char* name : {"dist/rocm-7.2.0.tar.gz", "dist/rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl"})
      first.add(name, "bytes of the first attempt");
    auto planned = plan(*store, first, target(""));
    EXPECT_TRUE(planned);
    planned->files[1].sidecar = "Metadata-Version: 2.4\nName: of the first attempt\n"; // not that of the next attempt
    planned->files[1].file.metadata_sha256 = sha256(planned->files[1].sidecar);
    FaultyStore dying(*store, {FaultyStore::Fault::die_before, 4, true}); // two files and a sidecar
    EXPECT_FALSE(execute(dying, *planned, {k_now, "tester", {}, 1, {}}));
    EXPECT_EQ(store->list("42-linux/")->size(), 3u);
  }
  Target at(std::int64_t before_us) const {
    auto t = target("staging");
    t.replace_unsealed_before_us = before_us;
    return t;
  }
  sys::FixedClock clock{1'795'000'000'000'000};
  std::unique_ptr<store::ObjectStore> store = store::make_memory_store(&clock);
};

TEST_F(Publish, WhatAnInterruptedPublishLeftDoesNotOwnItsNames) {
  LeftBehind left;
  auto young = publish(*left.store, packages_, left.at(left.clock.now_us()));
  ASSERT_FALSE(young); // the other attempt may still run
  EXPECT_EQ(young.error().code, "P004");
  EXPECT_THAT(young.error().hint, HasSubstr("--replace-unsealed-after 0s"));
  EXPECT_EQ(publish(*left.store, packages_, left.at(0)).error().code, "P004");
  auto planned = plan(*left.store, packages_, left.at(left.clock.now_us() + 1));
  ASSERT_TRUE(planned) << render(planned.error());
  ASSERT_EQ(planned->notes.size(), 2u);
  EXPECT_EQ(planned->notes[0].code, "P081");
  auto receipt = execute(*left.store, *planned, {k_now, "tester", {}, 1, {}});
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_EQ(testing::violations(*left.store), "");
  EXPECT_EQ(publish(*left.store, packages_, left.at(INT64_MAX))->writes, 0u);
}

TEST_F(Publish, ASealedFileIsNeverReplaced) {
  LeftBehind left;
  ASSERT_TRUE(publish(*left.store, packages_, left.at(INT64_MAX)));
  Packages other;
  other.add("dist/rocm-7.2.0.tar.gz", "other bytes");
  EXPECT_EQ(publish(*left.store, other, left.at(INT64_MAX)).error().code, "P004");
  EXPECT_EQ(testing::violations(*left.store), "");
}

TEST_F(Publish, AReplacementThatIsKilledAnywhereIsCompleted) {
  std::uint64_t writes = 0;
  {
    LeftBehind left;
    FaultyStore counter(*left.store, {FaultyStore::Fault::none, 0, true});
    ASSERT_TRUE(publish(counter, packages_, left.at(INT64_MAX)));
    writes = counter.calls();
  }
  for (auto fault : {FaultyStore::Fault::die_before, FaultyStore::Fault::die_after, FaultyStore::Fault::lose_reply,
                     FaultyStore::Fault::lose_request})
    for (std::uint64_t at = 1; at <= writes; at += store::testing::moment_step()) {
      LeftBehind left;
      FaultyStore faulty(*left.store, {fault, at, true});
      static_cast<void>(publish(faulty, packages_, left.at(INT64_MAX)));
      auto again = publish(*left.store, packages_, left.at(INT64_MAX));
      ASSERT_TRUE(again) << at << render(again.error());
      EXPECT_EQ(testing::violations(*left.store), "") << at;
    }
}

TEST_F(Publish, ASealThatAppearsMeanwhileIsNotPassedOver) {
  LeftBehind left;
  Packages first;
  first.add("dist/rocm-7.2.0.tar.gz", "bytes of the first attempt");
  FaultyStore slow(*left.store);
  bool sealed = false;
  slow.after_call = [&](std::uint64_t) { // the first attempt was only slow
    if (sealed || !slow.log().back().starts_with("put 42-linux")) return;
    sealed = true;
    auto set = plan(*store_, first, target(""))->set; // as it planned it, before
    auto digest = *registry::put_set(*left.store, set);
    EXPECT_TRUE(registry::seal(*left.store, digest, k_now));
  };
  auto refused = publish(slow, packages_, left.at(INT64_MAX));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P082");
}

TEST_F(Publish, LaysOutFilesSidecarsRecordsAndPages) {
  auto receipt = publish(*store_, packages_, target("staging"));
  ASSERT_TRUE(receipt) << render(receipt.error());
  const std::string d = "42-linux/python/gfx94X-dcgpu/";
  EXPECT_THAT(
      keys(d),
      ElementsAre(
          d, d + "dist/rocm-7.2.0.tar.gz", d + "dist/rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl",
          d + "dist/rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl.metadata",
          d + "dist/rocm_sdk_libraries_gfx94x_dcgpu-7.2.0+r1-py3-none-linux_x86_64.whl",
          d + "dist/rocm_sdk_libraries_gfx94x_dcgpu-7.2.0+r1-py3-none-linux_x86_64.whl.metadata", d + "index.html",
          d + "seals/" + receipt->set.hex() + ".json", d + "simple-json/index.html",
          d + "simple-json/rocm-sdk-core/index.html", d + "simple-json/rocm-sdk-libraries-gfx94x-dcgpu/index.html",
          d + "simple-json/rocm/index.html", d + "simple/", d + "simple/index.html", d + "simple/rocm-sdk-core/",
          d + "simple/rocm-sdk-core/index.html", d + "simple/rocm-sdk-libraries-gfx94x-dcgpu/",
          d + "simple/rocm-sdk-libraries-gfx94x-dcgpu/index.html", d + "simple/rocm/", d + "simple/rocm/index.html"));
  EXPECT_EQ(testing::violations(*store_) + testing::broken_copies(testing::snapshot(*store_)), "");
  EXPECT_EQ(receipt->generation, 1u);
  EXPECT_EQ(receipt->channel_at.index_url, "memory:/channels/staging/simple/");
  EXPECT_EQ(receipt->find_links_url, "memory:/42-linux/python/gfx94X-dcgpu/index.html");
  auto page = **store_->get("channels/staging/simple/rocm-sdk-libraries-gfx94x-dcgpu/index.html", 1 << 20);
  EXPECT_THAT(page, HasSubstr("href=\"../../../../42-linux/python/gfx94X-dcgpu/dist/"
                              "rocm_sdk_libraries_gfx94x_dcgpu-7.2.0%2Br1-py3-none-linux_x86_64.whl#sha256="));
  auto set = *registry::load_set(*store_, receipt->set);
  EXPECT_EQ(set.files[1].tags, "py3-none-linux_x86_64");
  EXPECT_EQ(set.files[1].upload_time, k_now.text());
  EXPECT_EQ(set.origin.commit, "c0ffee");
}

TEST_F(Publish, TheOrderIsContentRecordPointerPages) {
  FaultyStore watched(*store_);
  ASSERT_TRUE(publish(watched, packages_, target("staging")));
  std::vector<std::string> kinds;
  for (const auto& line : watched.log()) {
    if (!line.starts_with("put ")) continue;
    auto key = line.substr(4);
    auto kind = key.find("/dist/") != key.npos         ? "file"
                : key.starts_with("sets/")             ? "set"
                : key.find("/seals/") != key.npos      ? "seal"
                : key.starts_with("views/")            ? "view"
                : key.starts_with("ledger/")           ? "ledger"
                : key == "channels/staging.json"       ? "channel"
                : key == "channels/staging/pages.json" ? "state"
                                                       : "page";
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
  }
  EXPECT_THAT(kinds, ElementsAre("file", "set", "seal", "page", "view", "ledger", "channel", "page", "state"));
}

TEST_F(Publish, TheProjectThatPinsTheOthersGetsItsPageLast) {
  FaultyStore watched(*store_);
  ASSERT_TRUE(publish(watched, packages_, target()));
  std::vector<std::string> pages;
  for (const auto& line : watched.log())
    if (line.starts_with("put ") && line.find("/simple/") != line.npos)
      pages.push_back(line.substr(line.find("/simple/") + 8));
  EXPECT_THAT(pages, ElementsAre("rocm-sdk-core/index.html", "rocm-sdk-core/", // a page, then its copy
                                 "rocm-sdk-libraries-gfx94x-dcgpu/index.html", "rocm-sdk-libraries-gfx94x-dcgpu/",
                                 "rocm/index.html", "rocm/", "index.html", ""));
}

TEST_F(Publish, ASecondRunWritesNothingAndKeepsTheDigest) {
  auto first = publish(*store_, packages_, target("staging"));
  auto before = testing::snapshot(*store_);
  auto second = publish(*store_, packages_, target("staging"), *sys::Timestamp::parse("2027-01-01T00:00:00.000000Z"));
  ASSERT_TRUE(second) << render(second.error());
  EXPECT_EQ(second->writes, 0u);
  EXPECT_EQ(second->set, first->set);
  EXPECT_FALSE(second->newly_sealed);
  EXPECT_FALSE(second->channel_moved);
  EXPECT_EQ(testing::differences(before, testing::snapshot(*store_)), "");
}

TEST_F(Publish, OtherBytesUnderAPublishedNameChangeNothing) {
  ASSERT_TRUE(publish(*store_, packages_, target()));
  auto before = testing::snapshot(*store_);
  auto old_bytes = **store_->get("42-linux/python/gfx94X-dcgpu/dist/rocm-7.2.0.tar.gz", 1000);
  packages_.add("dist/rocm-7.2.0.tar.gz", "changed").add("dist/rocm_sdk_devel-7.2.0-py3-none-linux_x86_64.whl");
  auto again = publish(*store_, packages_, target());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "P004");
  EXPECT_EQ(again.error().kind, ErrorKind::already_exists);
  EXPECT_THAT(again.error().details,
              ElementsAre("published  sha256 " + sha256(old_bytes).hex(),
                          "new        sha256 " + sha256("changed of dist/rocm-7.2.0.tar.gz").hex()));
  EXPECT_EQ(testing::differences(before, testing::snapshot(*store_)), "");
}

TEST_F(Publish, AFileThatWasAlteredInTheStoreIsCalledThat) {
  ASSERT_TRUE(publish(*store_, packages_, target()));
  ASSERT_TRUE(store_->put("42-linux/python/gfx94X-dcgpu/dist/rocm-7.2.0.tar.gz", content::Rope::literal("rot"), {}));
  auto again = publish(*store_, packages_, target());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "P021");
  EXPECT_EQ(again.error().kind, ErrorKind::corrupt);
}

TEST_F(Publish, AConflictWithAForeignFileWithoutSealIsSeenToo) {
  ASSERT_TRUE(
      store_->put("42-linux/python/gfx94X-dcgpu/dist/rocm-7.2.0.tar.gz", content::Rope::literal("foreign"), {}));
  auto refused = publish(*store_, packages_, target());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P004");
  EXPECT_EQ(keys("").size(), 1u);
}

TEST_F(Publish, AConflictInTheChannelIsSeenBeforeAnythingIsWritten) {
  ASSERT_TRUE(publish(*store_, packages_, target("staging")));
  auto before = testing::snapshot(*store_);
  Packages other;
  other.add("rocm-7.2.0.tar.gz", "other");
  auto refused = publish(*store_, other, target("staging", "43"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R018");
  EXPECT_EQ(refused.error().kind, ErrorKind::already_exists);
  EXPECT_EQ(testing::differences(before, testing::snapshot(*store_)), "");
}

TEST_F(Publish, AnUnsoundWheelStopsEverything) {
  packages_.add("dist/bad-1.0-py3-none-any.whl", "unsound");
  auto refused = publish(*store_, packages_, target());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "W010");
  EXPECT_THAT(keys(""), IsEmpty());
}

TEST_F(Publish, AFileThatChangesAfterItWasCheckedIsNotPublished) {
  auto planned = plan(*store_, packages_, target());
  packages_.add("dist/rocm-7.2.0.tar.gz", "swapped");
  auto refused = execute(*store_, *planned, {k_now, {}, {}, 1, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R008");
  EXPECT_THAT(keys("42-linux/python/gfx94X-dcgpu/seals/"), IsEmpty());
  EXPECT_THAT(keys("42-linux/python/gfx94X-dcgpu/simple/"), IsEmpty());
}

TEST_F(Publish, AnotherJobAddsItsSetToTheDirectory) {
  ASSERT_TRUE(publish(*store_, packages_, target()));
  Packages torch;
  torch.add("torch-2.9-cp312-cp312-linux_x86_64.whl");
  ASSERT_TRUE(publish(*store_, torch, target()));
  EXPECT_EQ(registry::resolve_run(*store_, "42-linux")->sets.size(), 2u);
  auto root = **store_->get("42-linux/python/gfx94X-dcgpu/simple/index.html", 1 << 20);
  EXPECT_THAT(root, HasSubstr("torch"));
  EXPECT_THAT(root, HasSubstr("rocm-sdk-core"));
  EXPECT_EQ(testing::violations(*store_), "");
}

TEST_F(Publish, TheIncumbentsFlatFormsHoldTheFilesBesideThePage) {
  auto feb = target();
  feb.form = run::PackageForm::feb;
  auto receipt = publish(*store_, packages_, feb);
  ASSERT_TRUE(receipt) << render(receipt.error());
  EXPECT_TRUE(*store_->head("42-linux/python/gfx94X-dcgpu/rocm-7.2.0.tar.gz"));
  EXPECT_EQ(receipt->find_links_url, "memory:/42-linux/python/gfx94X-dcgpu/index.html");
  EXPECT_EQ(testing::violations(*store_), "");
  auto aug = target({}, "43");
  aug.form = run::PackageForm::aug;
  aug.group = "multi-arch-release"; // packages for all targets
  receipt = publish(*store_, packages_, aug);
  ASSERT_TRUE(receipt);
  EXPECT_TRUE(*store_->head("43-linux/python/rocm-7.2.0.tar.gz"));
  EXPECT_EQ(receipt->find_links_url, "memory:/43-linux/python/index.html");
  EXPECT_TRUE(registry::resolve_run(*store_, "43-linux"));
  EXPECT_EQ(testing::violations(*store_), "");
}

TEST_F(Publish, ThePlanHasADigestThatTimeDoesNotChange) {
  auto one = plan(*store_, packages_, target("staging"));
  auto two = plan(*store_, packages_, target("staging"), *sys::Timestamp::parse("2027-01-01T00:00:00.000000Z"));
  EXPECT_EQ(one->digest, two->digest);
  EXPECT_NE(one->digest, plan(*store_, packages_, target("stable"))->digest);
  EXPECT_THAT(keys(""), IsEmpty());
  EXPECT_EQ(one->files_to_write(), 3u);
}

struct BadDirectory {
  const char* name;
  std::vector<std::string> files;
  const char* code;
};
class WrongDirectory : public ::testing::TestWithParam<BadDirectory> {};
INSTANTIATE_TEST_SUITE_P(All, WrongDirectory,
                         ::testing::Values(BadDirectory{"Empty", {}, "P001"},
                                           BadDirectory{"OnlyOthers", {"a.txt"}, "P001"},
                                           BadDirectory{"BothPlaces", {"a-1.0.tar.gz", "dist/b-1.0.tar.gz"}, "P002"},
                                           BadDirectory{"OneDistributionTwice",
                                                        {"A_b-1.0-py3-none-any.whl", "a_b-1.0-py3-none-any.whl"},
                                                        "P002"},
                                           BadDirectory{"BadWheelName", {"nonsense.whl"}, "M002"},
                                           BadDirectory{"BadSdistName", {"nonsense.tar.gz"}, "M003"}),
                         [](const auto& bad) { return bad.param.name; });
TEST_P(WrongDirectory, IsRefused) {
  Packages packages;
  for (const auto& file : GetParam().files) packages.add(file);
  auto collected = collect({packages.path(), testing::fake_describe, 1});
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().code, GetParam().code);
}

TEST(Collect, TakesDistAndTellsWhatItLeaves) {
  Packages packages;
  packages.add("dist/a-1.0.tar.gz")
      .add("dist/notes.txt")
      .add("dist/index.html")
      .add("dist/a.whl.metadata")
      .add("dist/sub/b-1.0.tar.gz");
  auto collected = collect({packages.path(), testing::fake_describe, 1});
  ASSERT_TRUE(collected) << render(collected.error());
  ASSERT_EQ(collected->candidates.size(), 1u);
  ASSERT_EQ(collected->notes.size(), 1u);
  EXPECT_THAT(collected->notes[0].place, HasSubstr("notes.txt"));
}

// ---- Kill tests: whatever happens at whichever call, the same command completes, and no reader ever sees a broken
// store.

class Interrupted : public ::testing::TestWithParam<FaultyStore::Fault> {};
INSTANTIATE_TEST_SUITE_P(Faults, Interrupted,
                         ::testing::Values(FaultyStore::Fault::refuse, FaultyStore::Fault::lose_reply,
                                           FaultyStore::Fault::lose_request, FaultyStore::Fault::die_before,
                                           FaultyStore::Fault::die_after));

TEST_P(Interrupted, PublishIsCompletedByTheSameCommand) {
  Packages first, second;
  first.add("rocm-7.1.0.tar.gz").add("old-1.0-py3-none-any.whl");
  fill(second);
  auto prepare = [&] {
    auto store = store::make_memory_store();
    EXPECT_TRUE(publish(*store, first, target("staging", "41")));
    return store;
  };
  auto undisturbed = prepare();
  FaultyStore counting(*undisturbed);
  ASSERT_TRUE(publish(counting, second, target("staging")));
  const auto expected = testing::snapshot(*undisturbed);
  ASSERT_GT(counting.calls(), 40u);
  for (std::uint64_t n = 1; n <= counting.calls(); n += store::testing::moment_step()) {
    SCOPED_TRACE("call " + std::to_string(n) + ": " + counting.log()[n - 1]);
    auto store = prepare();
    FaultyStore faulty(*store, {GetParam(), n, false});
    auto interrupted = publish(faulty, second, target("staging"));
    ASSERT_EQ(testing::violations(*store), "");
    EXPECT_TRUE(!interrupted || GetParam() != FaultyStore::Fault::die_before);
    auto again = publish(*store, second, target("staging"));
    ASSERT_TRUE(again) << render(again.error());
    ASSERT_EQ(testing::differences(expected, testing::snapshot(*store)), "");
    ASSERT_EQ(testing::violations(*store) + testing::broken_copies(testing::snapshot(*store)), "");
  }
}

TEST_F(Publish, AStoreWithoutSlashKeysGetsNoCopiesAndIsInstalledFromByLinks) {
  store_ = store::make_memory_store(nullptr, store::SlashKeys::refused);
  auto receipt = publish(*store_, packages_, target("staging"));
  ASSERT_TRUE(receipt) << render(receipt.error());
  for (const auto& key : keys("")) EXPECT_FALSE(key.ends_with('/')) << key;
  const std::string links = "memory:/42-linux/python/gfx94X-dcgpu/index.html";
  EXPECT_EQ(receipt->find_links_url, links);
  EXPECT_EQ(receipt->directory_at.index_url + receipt->channel_at.index_url, "");
  EXPECT_THAT(receipt->directory_at.find_links, ElementsAre(links));
  EXPECT_THAT(receipt->channel_at.find_links, ElementsAre("memory:/channels/staging/index.html"));
  auto outputs = github_outputs(*receipt);
  EXPECT_THAT(outputs, ::testing::Not(HasSubstr("index_url")));
  EXPECT_THAT(outputs, HasSubstr("package_find_links_url=" + links + "\n"));
  EXPECT_THAT(outputs, HasSubstr("channel_find_links_url=memory:/channels/staging/index.html\n"));
  EXPECT_THAT(step_summary(*plan(*store_, packages_, target("staging")), *receipt),
              HasSubstr("--no-index --find-links " + links + "\n"));
  auto public_url = *pages::PublicUrl::parse("https://cdn.example/x"); // a web server answers for it
  EXPECT_EQ(pages::addresses_of(*store_, public_url, "channels/staging")->index_url,
            "https://cdn.example/x/channels/staging/simple/");
}

TEST_F(Publish, PagesWithoutCopiesGetThemFromTheNextRun) { // an older program wrote them, or the server learned it
  ASSERT_TRUE(publish(*store_, packages_, target("staging")));
  const auto expected = testing::snapshot(*store_);
  for (const auto& key : keys(""))
    if (key.ends_with('/')) {
      ASSERT_TRUE(store_->remove(key));
    }
  auto state = **store_->get("channels/staging/pages.json", 1 << 20);
  auto at = state.find(",\"slash_keys\":true");
  ASSERT_NE(at, state.npos);
  ASSERT_TRUE(store_->put("channels/staging/pages.json", content::Rope::literal(state.erase(at, 18)), {}));
  auto again = publish(*store_, packages_, target("staging"));
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(testing::differences(expected, testing::snapshot(*store_)), "");
}

TEST(Publishing, AMoveWhoseWriteWasLostIsSentAgain) {
  Packages packages;
  fill(packages);
  auto expected = store::make_memory_store();
  FaultyStore counting(*expected);
  ASSERT_TRUE(publish(counting, packages, target("staging")));
  const auto log = counting.log();
  auto at = std::find(log.begin(), log.end(), "put channels/staging.json");
  ASSERT_NE(at, log.end());
  auto store = store::make_memory_store();
  FaultyStore faulty(*store,
                     {FaultyStore::Fault::lose_request, static_cast<std::uint64_t>(at - log.begin()) + 1, false});
  auto done = publish(faulty, packages, target("staging"));
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_TRUE(faulty.fired());
  EXPECT_EQ(testing::differences(testing::snapshot(*expected), testing::snapshot(*store)), "");
}

TEST(Publishing, NoMomentShowsABrokenStore) {
  Packages packages;
  fill(packages);
  auto store = store::make_memory_store();
  FaultyStore watched(*store);
  watched.after_call = [&](std::uint64_t) { ASSERT_EQ(testing::violations(*store), ""); };
  ASSERT_TRUE(publish(watched, packages, target("staging")));
}

// The same with processes that die by SIGKILL and a store on disk.
TEST(Publishing, KilledProcessesLeaveAStoreThatTheNextOneCompletes) {
  Packages packages;
  fill(packages);
  auto place = *sys::make_temporary_directory(::testing::TempDir(), "quarry-kill-");
  auto reference = std::move(*store::open_file_store(place + "/reference"));
  FaultyStore counting(*reference);
  ASSERT_TRUE(publish(counting, packages, target("staging")));
  const auto expected = testing::snapshot(*reference);
  for (std::uint64_t n = 1; n <= counting.calls(); n += 13) {
    SCOPED_TRACE("call " + std::to_string(n));
    auto root = place + "/" + std::to_string(n);
    auto child = ::fork();
    if (child == 0) {
      auto store = std::move(*store::open_file_store(root));
      FaultyStore deadly(*store);
      deadly.after_call = [n](std::uint64_t call) {
        if (call == n) ::kill(::getpid(), SIGKILL);
      };
      static_cast<void>(publish(deadly, packages, target("staging")));
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    auto store = std::move(*store::open_file_store(root));
    ASSERT_EQ(testing::violations(*store), "");
    ASSERT_TRUE(publish(*store, packages, target("staging")));
    ASSERT_EQ(testing::differences(expected, testing::snapshot(*store)), "");
  }
  ASSERT_TRUE(sys::remove_tree(place));
}

TEST(Publishing, ManyJobsIntoOneChannelAndOneDirectoryLoseNothing) {
  auto store = store::make_memory_store();
  constexpr std::size_t k_jobs = 12;
  std::vector<std::unique_ptr<Packages>> jobs;
  for (std::size_t i = 0; i < k_jobs; ++i) {
    jobs.push_back(std::make_unique<Packages>());
    jobs.back()->add("p" + std::to_string(i) + "-1.0-py3-none-any.whl");
  }
  auto all = parallel_for(k_jobs, 6, [&](std::size_t i) -> Result<void> {
    TRY_DO(publish(*store, *jobs[i], target("nightly")));
    return {};
  });
  ASSERT_TRUE(all) << render(all.error());
  EXPECT_EQ(registry::resolve_channel(*store, "nightly")->files.size(), k_jobs);
  EXPECT_EQ(testing::violations(*store), "");
  for (const std::string place : {"channels/nightly", "42-linux/python/gfx94X-dcgpu"}) {
    auto root = **store->get(place + "/simple/index.html", 1 << 20);
    for (std::size_t i = 0; i < k_jobs; ++i) EXPECT_THAT(root, HasSubstr(">p" + std::to_string(i) + "<")) << place;
  }
  EXPECT_EQ(*pages::projected_generation(*store, "nightly"), k_jobs);
  auto channel = *registry::require_channel(*store, "nightly");
  EXPECT_EQ(registry::ledger_chain(*store, channel.record)->size(), k_jobs);
}

} // namespace
} // namespace quarry::publish
