#include "publish/upkeep.hpp"

#include "pages/install_words.hpp"
#include "pages/projection.hpp"
#include "publish/move.hpp"
#include "publish/outputs.hpp"
#include "publish/publish.hpp"
#include "publish/resolve.hpp"
#include "publish/testing/invariants.hpp"
#include "publish/testing/packages.hpp"
#include "publish/verify.hpp"
#include "registry/empty_extras.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/clock.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::publish {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Packages;

const auto k_kept_at = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");
const std::string k_dist = "42-linux/python/g/dist/";

class Upkeep : public ::testing::Test {
protected:
  void SetUp() override {
    root_ = *sys::make_temporary_directory(::testing::TempDir(), "quarry-upkeep-");
    store_ = std::move(*store::open_file_store(root_));
    packages_.add("rocm-7.0.tar.gz").add("rocm_sdk_core-7.0-py3-none-any.whl");
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root_)); }
  Receipt publish(const Packages& packages, const std::string& run = "42", const std::string& channel = "staging") {
    Target target{.layout = *run::Layout::create({{}, run, Platform::linux}), .group = "g", .channel = channel};
    auto collected = collect({packages.path(), testing::fake_describe, 1});
    auto plan = make_plan(*store_, target, std::move(*collected), k_kept_at);
    EXPECT_TRUE(plan) << render(plan.error());
    auto receipt = execute(*store_, *plan, {k_kept_at, "tester", {}, 1, {}});
    EXPECT_TRUE(receipt) << render(receipt.error());
    return *receipt;
  }
  void put(const std::string& key, const std::string& bytes) {
    ASSERT_TRUE(store_->put(key, content::Rope::literal(bytes), {}));
  }
  std::vector<registry::SealedSet> sets() { return registry::resolve_run(*store_, "42-linux")->sets; }
  std::vector<std::string> codes() {
    auto found = verify_sets(*store_, sets(), {2, {}});
    std::vector<std::string> list;
    for (const auto& finding : *found) list.push_back(finding.code + " " + finding.place.substr(k_dist.size()));
    return list;
  }
  Packages packages_;
  std::string root_;
  std::unique_ptr<store::ObjectStore> store_;
};

TEST_F(Upkeep, VerifyFindsWhatIsMissingAndAltered) {
  publish(packages_);
  EXPECT_THAT(codes(), IsEmpty());
  put(k_dist + "rocm-7.0.tar.gz", "rot");
  put(k_dist + "rocm_sdk_core-7.0-py3-none-any.whl.metadata", "rot");
  EXPECT_THAT(codes(), ElementsAre("P021 rocm-7.0.tar.gz", "P022 rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
  ASSERT_TRUE(store_->remove(k_dist + "rocm-7.0.tar.gz"));
  ASSERT_TRUE(store_->remove(k_dist + "rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
  EXPECT_THAT(codes(), ElementsAre("P020 rocm-7.0.tar.gz", "P022 rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
}

TEST_F(Upkeep, RepairWritesOnlyWhatIsWrong) {
  publish(packages_);
  auto good = testing::snapshot(*store_);
  put("channels/staging/simple/rocm/index.html", "rot");
  put("channels/staging/simple/gone/index.html", "a page of a project that is not there");
  ASSERT_TRUE(store_->remove("channels/staging/pages.json"));
  EXPECT_EQ(*pages::projected_generation(*store_, "staging"), 0u);
  auto done = repair_channel(*store_, "staging");
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->pages_written, 2u);
  EXPECT_EQ(done->pages_removed, 1u);
  EXPECT_EQ(testing::differences(good, testing::snapshot(*store_)), "");
  EXPECT_EQ(repair_channel(*store_, "staging")->pages_written, 0u);
  put("42-linux/python/g/index.html", "rot");
  EXPECT_EQ(repair_directories(*store_, sets())->pages_written, 1u);
  EXPECT_EQ(testing::differences(good, testing::snapshot(*store_)), "");
}

// Whoever writes the record could name any view, and the owner's repair would show it to installers.
TEST_F(Upkeep, AnEditedRecordGetsNoPages) {
  publish(packages_);
  Packages later;
  later.add("rocm-7.1.tar.gz");
  publish(later, "43", "dev");
  auto now = *registry::require_channel(*store_, "staging");
  auto edited = now.record;
  edited.view = registry::require_channel(*store_, "dev")->record.view;
  ASSERT_TRUE(registry::swap_channel(*store_, now, edited));
  auto refused = repair_channel(*store_, "staging");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O044") << render(refused.error());
  EXPECT_THAT(*store_->get("channels/staging/index.html", 1u << 20), ::testing::Optional(HasSubstr("rocm-7.0")));
  ASSERT_TRUE(store_->remove(registry::ledger_key(now.record.ledger)));
  EXPECT_TRUE(repair_channel(*store_, "staging")) << "nobody knows what a lost move left";
}

TEST_F(Upkeep, RebuildMakesShardsAndSidecarsAgain) {
  publish(packages_);
  auto good = testing::snapshot(*store_);
  auto view = *registry::load_view(*store_, registry::require_channel(*store_, "staging")->record.view);
  put(registry::shard_key(view.shards["rocm"]), "rot");
  ASSERT_TRUE(store_->remove(registry::shard_key(view.shards["rocm-sdk-core"])));
  EXPECT_FALSE(repair_channel(*store_, "staging"));
  EXPECT_EQ(rebuild_channel(*store_, "staging")->records_written, 2u);
  ASSERT_TRUE(store_->remove(k_dist + "rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
  EXPECT_EQ(rebuild_directories(*store_, sets(), testing::fake_describe)->records_written, 1u);
  EXPECT_EQ(testing::differences(good, testing::snapshot(*store_)), "");
}

TEST_F(Upkeep, RebuildTakesAViewWithEmptyExtras) {
  publish(packages_);
  auto channel = *registry::require_channel(*store_, "staging");
  auto view = *registry::load_whole_view(*store_, channel.record.view);
  registry::set_empty_extras(view.record, {{"rocm", "7.0", "libraries-gfx1153", "rocm-sdk-libraries-gfx1153"}});
  view.digest = registry::digest_of(view.record);
  ASSERT_TRUE(
      move_channel(*store_, "staging", channel, view, {registry::Action::promote, {}, {}, "tester", k_kept_at, {}}));
  ASSERT_TRUE(repair_channel(*store_, "staging"));
  auto good = testing::snapshot(*store_);
  ASSERT_TRUE(store_->remove(registry::shard_key(view.record.shards["rocm"])));
  auto done = rebuild_channel(*store_, "staging");
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->records_written, 1u);
  EXPECT_EQ(testing::differences(good, testing::snapshot(*store_)), "");
}

TEST_F(Upkeep, RebuildDoesNotTrustAnAlteredWheel) {
  publish(packages_);
  put(k_dist + "rocm_sdk_core-7.0-py3-none-any.whl", "rot");
  ASSERT_TRUE(store_->remove(k_dist + "rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
  auto refused = rebuild_directories(*store_, sets(), testing::fake_describe);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P021");
  EXPECT_FALSE(*store_->head(k_dist + "rocm_sdk_core-7.0-py3-none-any.whl.metadata"));
}

TEST_F(Upkeep, AForeignRunIsAdoptedWhereItLies) {
  for (const std::string name : {"python/g/a-1.0.tar.gz", "python/h/dist/b-1.0-py3-none-any.whl"})
    put("50-linux/" + name, "foreign " + name);
  put("50-linux/base_lib_g.tar.gz", "an artifact is no package");
  put("wheels/python/demo-1.0-py3-none-any.whl", "of no run");
  EXPECT_THAT(*package_directories(*store_, "wheels"), IsEmpty());
  EXPECT_THAT(*package_directories(*store_, "50-linux"), ElementsAre("50-linux/python/g", "50-linux/python/h"));
  EXPECT_EQ(registry::resolve_run(*store_, "50-linux").error().code, "R013");
  auto plans = plan_adoptions(*store_, "50-linux", {testing::fake_describe, k_kept_at, "quarry", 1, {}});
  ASSERT_TRUE(plans) << render(plans.error());
  for (const auto& plan : *plans) ASSERT_TRUE(execute(*store_, plan, {k_kept_at, {}, {}, 1, {}}));
  EXPECT_EQ(registry::resolve_run(*store_, "50-linux")->files.size(), 2u);
  EXPECT_EQ(testing::violations(*store_), "");
  EXPECT_EQ((*plans)[0].set.origin.run_id, "50");
  EXPECT_EQ((*plans)[0].set.origin.group, "g");
  auto again = plan_adoptions(*store_, "50-linux", {testing::fake_describe, k_kept_at, "quarry", 1, {}});
  EXPECT_TRUE((*again)[0].sealed);
  EXPECT_EQ(execute(*store_, (*again)[0], {k_kept_at, {}, {}, 1, {}})->writes, 0u);
}

TEST_F(Upkeep, AForeignFileThatIsReplacedBeforeTheSealIsNotSealed) {
  put("50-linux/python/g/a-1.0.tar.gz", "foreign a");
  auto plans = plan_adoptions(*store_, "50-linux", {testing::fake_describe, k_kept_at, "quarry", 1, {}});
  ASSERT_TRUE(plans) << render(plans.error());
  store::testing::FaultyStore racing(*store_);
  racing.after_call = [&](std::uint64_t) {
    if (racing.log().back().starts_with("put sets/")) put("50-linux/python/g/a-1.0.tar.gz", "replaced");
  };
  auto refused = execute(racing, (*plans)[0], {k_kept_at, {}, {}, 1, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "P111") << render(refused.error());
  EXPECT_EQ(registry::resolve_run(*store_, "50-linux").error().code, "R013") << "nothing is sealed";
}

TEST_F(Upkeep, AnUnsoundForeignPackageIsNotAdopted) {
  put("50-linux/python/g/a-1.0.tar.gz", "unsound");
  EXPECT_EQ(plan_adoptions(*store_, "50-linux", {testing::fake_describe, k_kept_at, "quarry", 1, {}}).error().code,
            "W010");
  EXPECT_EQ(plan_adoptions(*store_, "51-linux", {testing::fake_describe, k_kept_at, "quarry", 1, {}}).error().code,
            "P001");
}

TEST_F(Upkeep, LocatorsLeadToSealedSets) {
  auto receipt = publish(packages_);
  for (const auto& text :
       {std::string("run:42"), std::string("run:42-linux"), "set:" + receipt.set.hex(), std::string("channel:staging"),
        root_ + "/42-linux", "file:" + root_ + "/42-linux/python/g"}) {
    auto locator = run::parse_locator(text);
    ASSERT_TRUE(locator) << text;
    auto resolved = resolve(*store_, *locator);
    ASSERT_TRUE(resolved) << text << render(resolved.error());
    EXPECT_EQ(resolved->sets.at(0).digest, receipt.set) << text;
  }
  auto printed = run::parse_locator("set:" + receipt.set.short_hex()); // as our own output shows it
  ASSERT_TRUE(printed);
  EXPECT_EQ(resolve(*store_, *printed)->sets.at(0).digest, receipt.set);
  EXPECT_EQ(resolve(*store_, *run::parse_locator("run:43")).error().code, "L010");
  EXPECT_EQ(resolve(*store_, *run::parse_locator("/elsewhere")).error().code, "P012");
  EXPECT_EQ(resolve(*store_, *run::parse_locator("channel:nothing")).error().code, "R015");
  EXPECT_EQ(resolve(*store_, *run::parse_locator("commit:0123456789")).error().code, "L008");
}

TEST_F(Upkeep, OutputsForTheJob) {
  auto receipt = publish(packages_);
  EXPECT_EQ(github_outputs(receipt),
            "package_find_links_url=file://" + root_ + "/42-linux/python/g/index.html\npackage_index_url=file://" +
                root_ + "/42-linux/python/g/simple/\npackage_set=" + receipt.set.hex() + "\nchannel_index_url=file://" +
                root_ + "/channels/staging/simple/\nchannel_generation=1\n");
  auto set = *registry::load_set(*store_, receipt.set);
  EXPECT_EQ(pages::install_line(set, {"URL", ""}), "pip install rocm --index-url URL");
  auto with = set;
  for (const auto& [project, line] : std::vector<std::pair<std::string, std::string>>{
           {"rocm-sdk-devel", "\"rocm[devel]\""}, {"rocm-sdk-libraries-gfx94x-dcgpu", "\"rocm[libraries,devel]\""}}) {
    with.files.push_back(with.files.front());
    with.files.back().project = project;
    EXPECT_EQ(pages::install_line(with, {"URL", ""}), "pip install " + line + " --index-url URL");
  }
  with.files[0].version = "7.0rc1";
  EXPECT_EQ(pages::install_line(with, {"URL", ""}), "pip install \"rocm[libraries,devel]\" --pre --index-url URL");
  set.files.erase(set.files.begin());
  EXPECT_EQ(pages::install_line(set, {"URL", ""}), "pip install rocm-sdk-core --index-url URL");
  EXPECT_EQ(pages::install_line(set, {"URL", "MERGED"}), "pip install rocm-sdk-core --index-url MERGED");
  EXPECT_EQ(pages::install_line(set, {"", "", {"A", "B"}}),
            "pip install rocm-sdk-core --no-index --find-links A --find-links B");
}

} // namespace
} // namespace quarry::publish
