#include "dist/unpacking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Unpacking k_acme{"acme_devel/_devel.tar.zst", "_acme_devel", {"_acme_math_*"}};

TEST(Unpacking, IsReadAsItWasWritten) {
  auto read = parse_unpacking(render(k_acme));
  ASSERT_TRUE(read) << quarry::render(read.error());
  EXPECT_EQ(read->payload, k_acme.payload);
  EXPECT_EQ(read->into, k_acme.into);
  EXPECT_THAT(read->beside, ElementsAre("_acme_math_*"));
}

TEST(Unpacking, WhatItMakesLiesInItsDirectoryAlone) {
  EXPECT_TRUE(k_acme.makes("_acme_devel/lib/libacme.so"));
  EXPECT_TRUE(k_acme.makes("_acme_devel.partial/lib/libacme.so")); // until it is complete
  EXPECT_FALSE(k_acme.makes("_acme_devel"));
  EXPECT_FALSE(k_acme.makes("_acme_develop/lib/libacme.so"));
  EXPECT_FALSE(k_acme.makes("acme_devel/__init__.py"));
}

TEST(Unpacking, ThePayloadMayHaveAnyCompression) {
  for (const auto* path : {"acme_devel/_devel.tar", "acme_devel/_devel.tar.xz", "acme_devel/_devel.tar.zst"})
    EXPECT_TRUE(k_acme.is_payload(path)) << path;
  EXPECT_FALSE(k_acme.is_payload("acme_devel/_devel.tar.d/x"));
  EXPECT_FALSE(k_acme.is_payload("acme_devel/__init__.py"));
  EXPECT_FALSE((Unpacking{"", "_acme_devel", {}}).is_payload("acme_devel/_devel.tar"));
}

TEST(Unpacking, AStarStandsForAFamily) {
  EXPECT_TRUE(k_acme.may_stand_for("_acme_math_gfx942"));
  EXPECT_FALSE(k_acme.may_stand_for("_acme_core"));
  const Unpacking nonce{"", "_acme_devel_7", {"_acme_math_*_7"}};
  EXPECT_TRUE(nonce.may_stand_for("_acme_math_gfx942_7"));
  EXPECT_FALSE(nonce.may_stand_for("_acme_math_7")); // no family in between
}

TEST(Unpacking, WhatLeadsElsewhereIsRefused) {
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"schema":"quarry.unpacking/1","into":"../x","beside":[]})", "into"},
           {R"({"schema":"quarry.unpacking/1","into":"*","beside":[]})", "into"},
           {R"({"schema":"quarry.unpacking/1","into":"a/b","beside":[]})", "into"},
           {R"({"schema":"quarry.unpacking/1","into":"a","beside":["*"]})", "beside"},
           {R"({"schema":"quarry.unpacking/1","into":"a","beside":[1]})", "beside"},
           {R"({"schema":"quarry.unpacking/1","into":"a"})", "beside"},
           {R"({"schema":"quarry.unpacking/1","into":"a","beside":[],"payload":"/x"})", "payload"}}) {
    auto refused = parse_unpacking(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, "M017");
    EXPECT_THAT(refused.error().message, HasSubstr("`" + key + "`"));
  }
  EXPECT_EQ(parse_unpacking(R"({"schema":"quarry.unpacking/2"})").error().code, "B004");
}

TEST(Unpacking, PackagesThatDoNotSayItAreKnownByTheirNames) {
  auto devel = unpacking_unsaid("rocm-sdk-devel");
  ASSERT_TRUE(devel);
  EXPECT_TRUE(devel->is_payload("rocm_sdk_devel/_devel.tar.xz"));
  EXPECT_TRUE(devel->makes("_rocm_sdk_devel_nonce/include/hip.h"));
  EXPECT_TRUE(devel->may_stand_for("_rocm_sdk_libraries_gfx94X_dcgpu"));
  auto device = unpacking_unsaid("rocm-sdk-device-gfx942");
  ASSERT_TRUE(device);
  EXPECT_TRUE(device->makes("_rocm_sdk_devel/lib/x.kpack"));
  EXPECT_FALSE(device->is_payload("rocm_sdk_devel/_devel.tar"));
  EXPECT_FALSE(unpacking_unsaid("acme-devel"));
}

} // namespace
} // namespace quarry::dist
