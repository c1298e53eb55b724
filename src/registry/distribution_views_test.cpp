#include "registry/distribution_views.hpp"

#include "registry/keys.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

using ::testing::IsEmpty;

TEST(DistributionViews, JunkWithTheNameOfAMoveIsLeftOutHoweverLongItIs) {
  auto store = store::make_memory_store();
  auto put = [&](const std::string& name, std::string bytes) {
    auto key = distribution_view_key("v2/g", DistributionViewDigest(sha256(name)));
    ASSERT_TRUE(store->put(key, content::Rope::literal(std::move(bytes)), {}));
  };
  put("altered", "{}");
  put("too long", std::string(k_record_bytes_max + 1, ' '));
  auto others = other_distribution_views(*store, "v2/g", {});
  ASSERT_TRUE(others) << render(others.error());
  EXPECT_THAT(*others, IsEmpty());
  DistributionRecord now;
  now.directory = "v2/g";
  auto next = views_to_follow(*store, now);
  ASSERT_TRUE(next) << render(next.error());
  EXPECT_THAT(*next, IsEmpty());
}

} // namespace
} // namespace quarry::registry
