// What the probe of a server's capabilities makes of answers that say nothing about it: what it finds is kept for all
// jobs of a week.
#include "store/testing/servers.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::store {
namespace {

class ProbeOfAStore : public ::testing::Test {
protected:
  void SetUp() override { server_.control("DELETE"); }
  void TearDown() override { server_.control("DELETE"); }
  void arm(const std::string& fault) { server_.control("POST", R"({"faults":[)" + fault + "]}"); }
  std::unique_ptr<ObjectStore> open() { return testing::open_at(server_, prefix_, testing::tuning()); }
  /// The record of this prefix, without its time.
  Json kept() {
    auto key = s3::BucketKey(prefix_ + "/.quarry/capabilities.json");
    auto made = server_.call({.action = "read", .key = key}, server_.bucket);
    EXPECT_TRUE(made);
    auto record = made ? Json::parse(made->response.body) : Json();
    record.erase("checked");
    return record;
  }
  testing::Server& server_ = testing::s3_double();
  std::string prefix_ = "probe/" + sys::random_hex(6);
};

TEST_F(ProbeOfAStore, AnAnswerThatPassesIsNoRefusal) {
  ASSERT_TRUE(*open()->conditional_writes());
  const auto undisturbed = kept();
  EXPECT_EQ(undisturbed.at("complete_conditions"), true);
  for (const std::string answer : {"400:RequestTimeout", "400:IncompleteBody", "400:ExpiredToken",
                                   "409:OperationAborted", "429:TooManyRequestsException", "503:SlowDown"})
    for (const std::string which : {R"("PUT","skip":0)", R"("PUT","skip":1)", R"("PUT","skip":2)", R"("PUT","skip":3)",
                                    R"("POST","skip":0)", R"("POST","skip":1)"}) {
      prefix_ = "probe/" + sys::random_hex(6);
      arm(R"({"action":"status:)" + answer + R"(","key":"*/.quarry/probe-*","method":)" + which + "}");
      auto can = open()->conditional_writes();
      ASSERT_TRUE(can) << answer << which << render(can.error());
      EXPECT_EQ(server_.control("GET").at("armed"), 0) << answer << which;
      EXPECT_EQ(kept(), undisturbed) << answer << which;
    }
}

TEST_F(ProbeOfAStore, WhoMayNotReadDoesNotReplaceWhatIsKnown) {
  ASSERT_TRUE(*open()->slash_keys());
  arm(R"({"action":"status:403:AccessDenied","method":"GET","key":"*/.quarry/*","times":1000})");
  EXPECT_TRUE(*open()->conditional_writes());
  server_.control("DELETE");
  EXPECT_TRUE(*open()->slash_keys());
}

TEST_F(ProbeOfAStore, AnUploadIsEndedWhenTheServerAnswers) {
  auto before = server_.control("GET").at("uploads");
  arm(R"({"action":"status:503:SlowDown","method":"PUT","query":"partNumber","key":"*/.quarry/probe-*"})");
  EXPECT_TRUE(*open()->conditional_writes());
  EXPECT_EQ(server_.control("GET").at("armed"), 0);
  EXPECT_EQ(server_.control("GET").at("uploads"), before);
}

} // namespace
} // namespace quarry::store
