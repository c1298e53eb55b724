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
  testing::Server& server_ = testing::s3_double();
  std::string prefix_ = "probe/" + sys::random_hex(6);
};

TEST_F(ProbeOfAStore, AnAnswerThatPassesIsNoRefusal) {
  for (const std::string answer : {"400:RequestTimeout", "400:IncompleteBody", "400:ExpiredToken",
                                   "409:OperationAborted", "429:TooManyRequestsException", "503:SlowDown"})
    for (const char* skip : {"0", "1", "2", "3"}) {
      prefix_ = "probe/" + sys::random_hex(6);
      arm(R"({"action":"status:)" + answer + R"(","method":"PUT","key":"*/.quarry/probe-*","skip":)" + skip + "}");
      auto can = open()->conditional_writes();
      ASSERT_TRUE(can) << answer << render(can.error());
      EXPECT_TRUE(*can) << answer << ", as question " << skip;
      EXPECT_EQ(server_.control("GET").at("armed"), 0) << answer;
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
