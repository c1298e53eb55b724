// What reading from a web server must not do: mix two versions, or keep and show what was signed for one request.
#include "net/fetch.hpp"
#include "store/testing/servers.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::store {
namespace {

using content::Rope;
using ::testing::HasSubstr;
using ::testing::Not;

std::string noise(std::size_t size, char salt = 0) {
  std::string bytes(size, 0);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 2654435761u >> 11) ^ salt);
  return bytes;
}

/// A server, a store that fills it, and the web's view of the same objects.
struct Web {
  explicit Web(const std::vector<std::string>& flags = {})
      : server(testing::s3_double(flags)), prefix("web/" + sys::random_hex(6)),
        writer(testing::open_at(server, prefix)), place("/public/" + server.bucket + "/" + prefix + "/"),
        reader(std::move(*open_store(server.endpoint + place, {{}, testing::clock()}))) {
    EXPECT_TRUE(writer->conditional_writes()); // the questions are asked before requests are counted
    server.control("DELETE");
  }
  void put(const std::string& key, const std::string& bytes) {
    auto written = writer->put(key, Rope::literal(bytes), {});
    ASSERT_TRUE(written) << render(written.error());
  }
  void arm(const std::string& fault) const { server.control("POST", R"({"faults":[)" + fault + "]}"); }
  std::vector<std::string> asked(const std::string& method) const {
    std::vector<std::string> keys;
    auto now = server.control("GET");
    for (const auto& row : now.at("ledger"))
      if (row[0] == method && !row[1].get<std::string>().ends_with("capabilities.json"))
        keys.push_back(row[1].get<std::string>().substr(prefix.size() + 1));
    return keys;
  }
  testing::Server& server;
  std::string prefix;
  std::unique_ptr<ObjectStore> writer;
  std::string place;
  std::unique_ptr<ObjectStore> reader;
};

constexpr std::size_t k_large = 1 << 20;

struct Validators {
  std::string name, without;
  bool noticed; ///< a change that keeps size and second is noticed
};
class Pinned : public ::testing::TestWithParam<Validators> {};
INSTANTIATE_TEST_SUITE_P(Table, Pinned,
                         ::testing::Values(Validators{"both", "", true}, Validators{"only_etag", "last-modified", true},
                                           Validators{"only_time", "etag", false}),
                         [](const auto& c) { return c.param.name; });

TEST_P(Pinned, RangesAreOfOneVersion) {
  Web web({"--without", GetParam().without});
  web.put("k", noise(k_large));
  auto rope = web.reader->open("k");
  ASSERT_TRUE(rope) << render(rope.error());
  EXPECT_EQ(rope->slice(10, 5).read_all(5), noise(k_large).substr(10, 5));
  if (!GetParam().noticed) // a second later, which the double is told instead of waited for
    web.server.control("POST", R"({"faults":[],"age":3600})");
  else
    web.put("k", noise(k_large, 1));
  auto end = rope->slice(k_large - 10, 10).read_all(10);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, "K022");
}

TEST(HttpStore, WhatNothingPinsIsReadWholeOrNotAtAll) {
  Web web({"--without", "etag,last-modified"});
  auto bytes = noise(k_large);
  web.put("k", bytes);
  web.put("huge", std::string((16u << 20) + 1, 'x'));
  auto rope = web.reader->open("k");
  ASSERT_TRUE(rope) << render(rope.error());
  EXPECT_EQ(rope->slice(0, 10).read_all(10), bytes.substr(0, 10));
  web.put("k", noise(k_large, 1));
  EXPECT_EQ(rope->read_all(k_large), bytes); // of the version that was there
  EXPECT_EQ(web.asked("GET").size(), 1u);
  EXPECT_EQ(web.reader->open("huge").error().code, "H011");
}

// Another version came between HEAD and GET. The user set no limit, so the error is K022 (replaced), not R007.
TEST(HttpStore, WhatNothingPinsAndChangesItsSizeIsReplaced) {
  Web web({"--without", "etag,last-modified"});
  for (const auto* other : {"other", "other-other"}) {
    web.put("k", "as seen");
    web.put("other", "short");
    web.put("other-other", "longer than what was seen");
    web.arm(R"({"action":"redirect:302:)" + web.place + other + R"(","method":"GET","key":"*/k"})");
    auto opened = web.reader->open("k");
    ASSERT_FALSE(opened) << other;
    EXPECT_EQ(opened.error().code, "K022") << other;
  }
}

TEST(HttpStore, AServerWithoutRangesGivesEachObjectOnce) {
  Web web({"--without", "ranges"});
  web.put("k", noise(k_large));
  web.put("other", noise(k_large, 1));
  auto rope = web.reader->open("k");
  ASSERT_TRUE(rope) << render(rope.error());
  web.arm(R"({"action":"cut:300000","method":"GET","skip":1})");
  EXPECT_EQ(rope->slice(k_large - 10, 10).read_all(10), noise(k_large).substr(k_large - 10));
  EXPECT_EQ(rope->read_all(k_large), noise(k_large));
  EXPECT_THAT(web.asked("GET"), ::testing::ElementsAre("k", "k", "k")); // a range, one that is cut, all of it
  EXPECT_EQ(web.reader->open("other")->read_all(k_large), noise(k_large, 1));
  EXPECT_THAT(web.asked("GET"), ::testing::ElementsAre("k", "k", "k", "other"));
  auto replaced = web.reader->open("k");
  web.put("k", noise(k_large, 2));
  auto read = replaced->slice(0, 10).read_all(10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "K022");
}

TEST(HttpStore, APageInPlaceOfARecordIsTold) {
  Web web;
  web.put("channels/x.json", "<!doctype html><title>Sign in</title>");
  auto record = web.reader->get("channels/x.json", 1000);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, "K020");
}

TEST(HttpStore, ACutObjectThatNothingPinsIsNotContinued) {
  Web web({"--without", "etag,last-modified"});
  web.put("k", noise(k_large));
  web.arm(R"({"action":"cut:1000","method":"GET"})");
  EXPECT_EQ(web.reader->open("k").error().code, "H005");
}

TEST(HttpStore, ASignedPlaceIsAskedForEachTimeAndNotShown) {
  Web web;
  web.put("k", noise(k_large));
  web.put("behind", noise(k_large));
  auto signed_place = web.server.endpoint + web.place + "behind?signature=canary";
  web.arm(R"({"action":"redirect:302:)" + signed_place + R"(","key":"*/k","times":3})");
  auto rope = web.reader->open("k");
  ASSERT_TRUE(rope) << render(rope.error());
  EXPECT_EQ(rope->slice(0, 10).read_all(10), noise(10));
  EXPECT_THAT(web.asked("GET"), ::testing::ElementsAre("k", "behind"));
  web.arm(R"({"action":"status:403:AccessDenied","key":"*/behind","times":100})");
  auto refused = web.reader->head("k");
  ASSERT_FALSE(refused);
  EXPECT_THAT(render(refused.error()), Not(HasSubstr("canary")));
  EXPECT_EQ(refused.error().code, "H011");
  EXPECT_EQ(traits(refused.error().kind).exit_code, 4);
  web.server.control("DELETE");
}

TEST(HttpStore, APermanentPlaceIsRemembered) {
  Web web;
  web.put("k", noise(k_large));
  web.put("behind", noise(k_large));
  web.arm(R"({"action":"redirect:301:)" + web.place + R"(behind","key":"*/k","times":3})");
  auto rope = web.reader->open("k");
  ASSERT_TRUE(rope) << render(rope.error());
  EXPECT_EQ(rope->slice(0, 10).read_all(10), noise(10));
  EXPECT_THAT(web.asked("GET"), ::testing::ElementsAre("behind"));
  web.server.control("DELETE");
}

} // namespace
} // namespace quarry::store
