#include "registry/judged.hpp"

#include "registry/testing/samples.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

using testing::digest_named;
using ::testing::IsEmpty;

TEST(Judged, WhatAVerdictHasReadMustStillBeThere) {
  auto store = store::make_memory_store();
  auto rocm = digest_named<SetDigest>("rocm"), torch = digest_named<SetDigest>("torch");
  auto verdict = *put_verdict(*store, R"({"schema":"quarry.verdict/1","read":["evidence/a.json","waivers/b.json"]})");
  ASSERT_TRUE(mark_judged(*store, verdict, {rocm, torch, rocm, {}}));
  const std::vector<std::string> all{"evidence/a.json", "evidence/new.json", "waivers/b.json"};
  EXPECT_THAT(*find_disappeared(*store, {rocm}, all), IsEmpty());
  EXPECT_TRUE(refuse_disappeared(*store, {rocm, torch}, all));
  auto gone = *find_disappeared(*store, {torch, rocm}, {"evidence/a.json"});
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].key, "waivers/b.json");
  EXPECT_EQ(gone[0].verdict, verdict);
  auto refused = refuse_disappeared(*store, {torch}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O029");
  EXPECT_EQ(refused.error().kind, ErrorKind::held);
  EXPECT_EQ(refused.error().details.size(), 2u);
  EXPECT_TRUE(refuse_disappeared(*store, {digest_named<SetDigest>("other")}, {}));
}

TEST(Judged, AVerdictThatCannotBeReadNamesNothing) {
  auto store = store::make_memory_store();
  auto set = digest_named<SetDigest>("rocm");
  ASSERT_TRUE(mark_judged(*store, digest_named<VerdictDigest>("never stored"), {set}));
  auto odd = *put_verdict(*store, R"({"schema":"quarry.verdict/1","read":[7,{"a":1}]})");
  ASSERT_TRUE(mark_judged(*store, odd, {set}));
  ASSERT_TRUE(store->put("verdicts/by-set/" + set.hex() + "/junk", content::Rope::literal("x"), {}));
  EXPECT_TRUE(refuse_disappeared(*store, {set}, {}));
}

} // namespace
} // namespace quarry::registry
