#include "registry/digests.hpp"
#include "registry/registry.hpp"
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

template <class Digest>
concept LoadsAView = requires(store::ObjectStore& store, const Digest& digest) { load_view(store, digest); };
static_assert(LoadsAView<ViewDigest>);
static_assert(!LoadsAView<SetDigest>);
static_assert(!LoadsAView<Sha256>);

TEST(DigestOf, ReadsOnlyWhatKeysHold) {
  const std::string digits(64, 'a');
  ASSERT_TRUE(SetDigest::parse(digits));
  EXPECT_EQ(SetDigest::parse(digits)->hex(), digits);
  EXPECT_EQ(SetDigest::parse(digits)->short_hex(), digits.substr(0, 12));
  for (const auto& wrong : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                            std::string(64, 'g'), " " + std::string(63, 'a')})
    EXPECT_FALSE(SetDigest::parse(wrong)) << wrong;
}

TEST(DigestOf, ZerosAreADigestAndNotAnEmptyOne) {
  auto zeros = SetDigest::parse(std::string(64, '0'));
  ASSERT_TRUE(zeros);
  EXPECT_FALSE(zeros->empty());
  EXPECT_NE(*zeros, SetDigest());
  EXPECT_TRUE(SetDigest().empty());
  EXPECT_EQ(SetDigest().hex(), "");
}

} // namespace
} // namespace quarry::registry
