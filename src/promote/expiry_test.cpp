#include "promote/expiry.hpp"

#include "registry/testing/samples.hpp"
#include <gmock/gmock.h>

namespace quarry::promote {
namespace {

using ::testing::HasSubstr;

TEST(Expiry, RefusesWhatARuleWouldDelete) {
  auto store = store::make_memory_store();
  auto set = registry::testing::sealed_sample(*store, "41-linux/python/g", {{"a-1-py3-none-any.whl", "a", "1"}});
  auto refused = [&](const std::string& prefix, bool tagged = false) {
    auto done = refuse_expiring({set}, {{"clean", prefix, "after 30 days", tagged}});
    return done ? std::string() : done.error().code + " " + done.error().message;
  };
  EXPECT_THAT(refused("41-linux/"), HasSubstr("O031 the rule `clean` of the bucket deletes 41-linux/python/g/dist/"
                                              "a-1-py3-none-any.whl after 30 days, and 2 more of these sets"));
  EXPECT_THAT(refused("41-linux/python/g/seals/"), HasSubstr("seals"));
  EXPECT_THAT(refused(""), HasSubstr("deletes records below channels/"));
  EXPECT_THAT(refused("views/shards/"), HasSubstr("records below views/"));
  EXPECT_THAT(refused("ledg"), HasSubstr("records below ledger/"));
  for (const auto* fine : {"42-linux/", "gc/", "quarry-doctor/", "41-linux/logs/"})
    EXPECT_EQ(refused(fine), "") << fine;
  EXPECT_EQ(refused("", true), "") << "Quarry gives objects no tags";
}

} // namespace
} // namespace quarry::promote
