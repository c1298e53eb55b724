// When the server can copy under a condition.
#include "s3/copy.hpp"

#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

CopyRequest copy_under(Condition condition, std::uint64_t size) {
  CopyRequest request;
  request.size = size;
  request.to.condition = condition;
  return request;
}

TEST(CanCopy, OnlyWhereTheConditionIsChecked) {
  const Capabilities all, nothing{false, false, false, false, false, false};
  Capabilities no_match = all, puts_only = all;
  no_match.if_match = false;
  puts_only.complete_conditions = false;
  struct Row {
    Condition condition;
    std::uint64_t size;
    Capabilities server;
    bool can;
  };
  for (const auto& row : {Row{Condition::none, 0, nothing, true}, Row{Condition::absent, 1, all, true},
                          Row{Condition::absent, 0, all, false}, Row{Condition::absent, 1, puts_only, false},
                          Row{Condition::match, 1, all, true}, Row{Condition::match, 1, no_match, false},
                          Row{Condition::absent, 1, no_match, true}, Row{Condition::match, 1, puts_only, false}})
    EXPECT_EQ(can_copy(copy_under(row.condition, row.size), row.server), row.can)
        << static_cast<int>(row.condition) << " " << row.size;
}

/// A server that honours no condition when an upload is completed, and says so when it is asked what it can do.
class Weak final : public net::Transport {
public:
  net::Answer send(const net::Request& request) override {
    asked.push_back(request.method);
    Capabilities weak;
    weak.complete_conditions = false;
    return net::Response{
        200, {{"etag", "\"e\""}}, capabilities_json(weak, {"http://store.example bucket", clock.now_us()})};
  }
  const sys::RealClock clock;
  std::vector<std::string> asked;
};

TEST(CopyObject, NeverLosesItsCondition) {
  auto server = std::make_shared<Weak>();
  const std::map<std::string, std::string> variables = {{"AWS_ENDPOINT_URL", "http://store.example"},
                                                        {"QUARRY_S3_ANONYMOUS", "1"}};
  Bucket bucket(*parse_location("s3://bucket", variables, {}), server,
                make_credential_cache(variables, {}, server, server->clock, "us-east-1"), server->clock);
  CapabilityCache capabilities(bucket, "", server->clock);
  auto slabs = std::make_shared<Slabs>(1u << 20);
  const JournalPlace journals;
  auto request = copy_under(Condition::absent, 1);
  request.from = request.to.key = BucketKey("k");
  auto copied = copy_object({bucket, capabilities, *slabs, journals, {}}, request);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().error.code, "K008") << render(copied.error().error);
  EXPECT_EQ(server->asked, std::vector<std::string>{"GET"}) << "only what it can do was read";
}

} // namespace
} // namespace quarry::s3
