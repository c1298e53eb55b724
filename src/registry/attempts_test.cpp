#include "registry/attempts.hpp"

#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>

namespace quarry::registry {
namespace {

using testing::digest_named;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AttemptRecord attempt_to_test(std::vector<SetDigest> sets) {
  AttemptRecord record;
  record.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", "torch", "cpu"};
  record.suite = "smoke";
  record.sets = std::move(sets);
  record.job = "https://ci/1";
  record.runner = "mi325";
  record.state = AttemptState::queued;
  record.time = *Timestamp::parse("2026-11-20T10:00:00Z");
  return record;
}

TEST(Attempts, KeepWhatTheyHoldAndWhatALaterVersionAdds) {
  auto record = attempt_to_test({digest_named<SetDigest>("a")});
  record.unknown = R"({"later":1})";
  record.state = AttemptState::read("paused");
  auto read = parse_attempt(to_json(record));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(to_json(*read), to_json(record));
  EXPECT_EQ(read->cell, record.cell);
  EXPECT_EQ(parse_attempt(to_json(attempt_to_test({}))).error().code, "R012");
  EXPECT_EQ(parse_attempt(R"({"schema":"quarry.attempt/2"})").error().code, "B004");
}

TEST(Attempts, AreFoundByEachOfTheirSetsOnceAndInOrder) {
  auto store = store::make_memory_store();
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b"), c = digest_named<SetDigest>("c");
  auto late = attempt_to_test({a, b}), early = attempt_to_test({b});
  late.time = *Timestamp::parse("2026-11-20T11:00:00Z");
  late.state = AttemptState::skipped;
  ASSERT_TRUE(put_attempt(*store, late));
  ASSERT_TRUE(put_attempt(*store, late)); // the same again changes nothing
  ASSERT_TRUE(put_attempt(*store, early));
  Findings skipped;
  auto found = list_attempts(*store, {a, b}, skipped);
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_THAT(*found, SizeIs(2));
  EXPECT_EQ(found->at(0).state, AttemptState::queued);
  EXPECT_EQ(found->at(1).state, AttemptState::skipped);
  EXPECT_THAT(*list_attempts(*store, {a}, skipped), SizeIs(1));
  EXPECT_THAT(*list_attempts(*store, {c}, skipped), IsEmpty());
  EXPECT_THAT(skipped, IsEmpty());
  // They are not evidence, and not keys on which a verdict depends.
  EXPECT_THAT(*list_evidence(*store, skipped), IsEmpty());
  EXPECT_THAT(*evidence_digests(*store), IsEmpty());
}

TEST(Attempts, JunkIsToldAndCountsForNothing) {
  auto store = store::make_memory_store();
  auto set = digest_named<SetDigest>("a");
  auto below = fmt::format("evidence/attempts/{}/", set.hex());
  const std::string junk = "{}";
  for (const auto& key : {below + sha256("other").hex() + ".json", below + sha256(junk).hex() + ".json",
                          below + "notes.txt", below + "short.json"})
    ASSERT_TRUE(store->put(key, content::Rope::literal(junk), {}));
  ASSERT_TRUE(store->put(below + sha256("large").hex() + ".json",
                         content::Rope::literal(std::string(std::size_t{1} << 17, ' ')), {}));
  ASSERT_TRUE(put_attempt(*store, attempt_to_test({set})));
  Findings skipped;
  EXPECT_THAT(*list_attempts(*store, {set}, skipped), SizeIs(1));
  ASSERT_THAT(skipped, SizeIs(3)); // the two others have no digest for a name
  for (const auto& finding : skipped) EXPECT_EQ(finding.code, "R021");
}

TEST(Attempts, JunkBelowOneSetDoesNotHideAnAttemptBelowTheNext) {
  auto store = store::make_memory_store();
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b");
  auto name = put_attempt(*store, attempt_to_test({a, b}));
  ASSERT_TRUE(name);
  auto key = fmt::format("evidence/attempts/{}/{}.json", a.hex(), name->hex());
  ASSERT_TRUE(store->remove(key));
  ASSERT_TRUE(store->put(key, content::Rope::literal("cut off"), {}));
  auto upper = name->hex();
  for (char& c : upper)
    if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  ASSERT_TRUE(store->put(fmt::format("evidence/attempts/{}/{}.json", b.hex(), upper), content::Rope::literal("x"), {}));
  Findings skipped;
  EXPECT_THAT(*list_attempts(*store, {a, b}, skipped), SizeIs(1));
  ASSERT_THAT(skipped, SizeIs(1));
  EXPECT_EQ(skipped[0].place, key);
}

/// A machine that has no file descriptor left.
class Exhausted final : public store::testing::FaultyStore {
public:
  using FaultyStore::FaultyStore;
  Result<std::optional<std::string>> do_get(const std::string&, std::uint64_t, std::string*) override {
    return fail(ErrorKind::resource_exhausted, "D003", "too many open files");
  }
};

TEST(Attempts, WhatThisMachineCannotReadIsNotJunk) {
  auto store = store::make_memory_store();
  auto set = digest_named<SetDigest>("a");
  ASSERT_TRUE(put_attempt(*store, attempt_to_test({set})));
  Exhausted exhausted(*store);
  Findings skipped;
  auto listed = list_attempts(exhausted, {set}, skipped);
  ASSERT_FALSE(listed) << "an attempt that failed would count for nothing";
  EXPECT_EQ(listed.error().code, "D003");
}

} // namespace
} // namespace quarry::registry
