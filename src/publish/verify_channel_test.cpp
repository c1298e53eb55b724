#include "publish/verify_channel.hpp"

#include "pages/projection.hpp"
#include "publish/move.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

namespace quarry::publish {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const auto k_verified_at = *sys::Timestamp::parse("2026-11-20T10:00:00.000000Z");

class VerifyChannel : public ::testing::Test {
protected:
  void SetUp() override { move("1.0"); }
  /// One more version of a, and the pages that show it.
  void move(const std::string& version) {
    auto set = registry::testing::sealed_sample(
        *store_, version + "-linux/python/g",
        {{"a-" + version + "-py3-none-any.whl", "a", version}, {"b-" + version + ".tar.gz", "b", version}});
    ASSERT_TRUE(add_sets(*store_, "nightly", {set}, {registry::Action::publish, {}, {}, "tester", k_verified_at, {}}));
    ASSERT_TRUE(pages::project_channel(*store_, "nightly"));
  }
  void put(const std::string& key, const std::string& bytes) {
    ASSERT_TRUE(store_->put(key, content::Rope::literal(bytes), {}));
  }
  std::vector<std::string> found() {
    auto verified = verify_channel(*store_, "nightly", Depth::sizes, {1, {}});
    EXPECT_TRUE(verified) << render(verified.error());
    std::vector<std::string> list;
    for (const auto& finding : verified->findings) list.push_back(finding.code + " " + finding.place);
    return list;
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(VerifyChannel, LooksAtWhatInstallersAskABucketFor) {
  EXPECT_THAT(found(), IsEmpty());
  auto page = *store_->get("channels/nightly/simple/a/", 1 << 20);
  put("channels/nightly/simple/a/", "<a href=\"a-0.1.tar.gz\">a-0.1.tar.gz</a>");
  EXPECT_THAT(found(), ElementsAre("P094 channels/nightly/simple/a/"));
  put("channels/nightly/simple/a/", *page);
  ASSERT_TRUE(store_->remove("channels/nightly/simple/"));
  EXPECT_THAT(found(), ElementsAre("P094 channels/nightly/simple/"));
}

TEST_F(VerifyChannel, LooksForTheRecordsOfTheSets) {
  auto now = *registry::require_channel(*store_, "nightly");
  auto view = *registry::load_view(*store_, now.record.view);
  auto place = "set:" + view.sets[0].short_hex();
  auto set = *registry::load_set(*store_, view.sets[0]);
  auto take = [&](const std::string& key, const std::string& code, const std::string& where) {
    auto bytes = *store_->get(key, 1 << 20);
    ASSERT_TRUE(store_->remove(key));
    EXPECT_THAT(found(), ElementsAre(code + " " + where)) << key;
    put(key, *bytes);
  };
  take(registry::seal_key(set.directory, view.sets[0]), "R013", place);
  take(registry::set_key(view.sets[0]), "R010", place);
  take(registry::view_key(now.record.view), "R010", registry::view_key(now.record.view));
  put(registry::set_key(view.sets[0]), "{}");
  EXPECT_THAT(found(), ElementsAre("R011 " + place));
}

TEST_F(VerifyChannel, ComparesTheTopPages) {
  for (const std::string name : {"index.html", "simple/index.html", "simple-json/index.html"}) {
    auto key = "channels/nightly/" + name;
    auto page = *store_->get(key, 1 << 20);
    auto without = *page;
    auto at = without.find(name == "index.html" ? "b-1.0.tar.gz" : "\"b");
    ASSERT_NE(at, std::string::npos) << without;
    put(key, name.ends_with("json/index.html") ? without.replace(at, 2, "\"c") : without.substr(0, at - 12));
    EXPECT_THAT(found(), ElementsAre("P094 " + key)) << without;
    put(key, *page);
  }
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(VerifyChannel, FindsPagesOfProjectsThatTheViewLacks) {
  put("channels/nightly/simple/evil/index.html", "<a href=\"evil-1.tar.gz\">evil-1.tar.gz</a>");
  EXPECT_THAT(found(), ElementsAre("P094 channels/nightly/simple/evil/index.html"));
}

TEST_F(VerifyChannel, AHintNamesTheDirectoryToRebuild) {
  ASSERT_TRUE(store_->remove("1.0-linux/python/g/dist/a-1.0-py3-none-any.whl.metadata"));
  for (bool deep : {false, true}) {
    auto findings = verify_channel(*store_, "nightly", deep ? Depth::bytes : Depth::sizes, {1, {}})->findings;
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].code, "P022");
    EXPECT_THAT(findings[0].fix, HasSubstr("`quarry index rebuild 1.0-linux/python/g`"));
  }
}

TEST_F(VerifyChannel, AMoveMeanwhileIsNoDefect) {
  store::testing::FaultyStore moving(*store_);
  std::mutex one_at_a_time;
  int moves = 0, moves_max = 1;
  moving.after_call = [&](std::uint64_t call) {
    std::lock_guard lock(one_at_a_time);
    if (call % 5 == 0 && moves < moves_max) move("1." + std::to_string(++moves)); // after the view was read
  };
  auto verified = verify_channel(moving, "nightly", Depth::sizes, {1, {}});
  ASSERT_TRUE(verified) << render(verified.error());
  EXPECT_THAT(verified->findings, IsEmpty());
  EXPECT_EQ(verified->record.generation, 2u);
  moves_max = 1000;
  verified = verify_channel(moving, "nightly", Depth::sizes, {1, {}});
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, "P010");
}

} // namespace
} // namespace quarry::publish
