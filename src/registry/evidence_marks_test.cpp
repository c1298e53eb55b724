#include "registry/evidence_marks.hpp"

#include "registry/judged.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include "store/testing/temporary_directory.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

using store::testing::FaultyStore;
using testing::digest_named;
using ::testing::IsEmpty;
using ::testing::SizeIs;

EvidenceRecord result_about(std::vector<SetDigest> sets, std::uint64_t passed = 1) {
  EvidenceRecord evidence;
  evidence.suite = "s";
  evidence.result = Outcome::passed;
  evidence.passed = passed;
  evidence.started = evidence.ended = *Timestamp::parse("2026-11-20T10:00:00Z");
  if (sets.size() == 1)
    evidence.set = sets.front();
  else
    evidence.sets = std::move(sets);
  return evidence;
}

/// As programs wrote it that knew no marks.
void put_unmarked(ObjectStore& store, const EvidenceRecord& record) {
  ASSERT_TRUE(store.put(evidence_key(digest_of(record)), content::Rope::literal(to_json(record)), {}));
}

std::size_t evidence_about(ObjectStore& store, const std::vector<SetDigest>& sets) {
  Findings skipped;
  auto found = recorded_about(store, sets, skipped);
  EXPECT_TRUE(found) << render(found.error());
  EXPECT_THAT(skipped, IsEmpty());
  return found ? found->evidence.size() : 0;
}

TEST(EvidenceMarks, AVerdictReadsNoEvidenceOfOtherSets) {
  auto store = store::make_memory_store();
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b");
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(put_evidence(*store, result_about({a}, i)));
  ASSERT_TRUE(put_evidence(*store, result_about({a, b})));
  for (std::uint64_t i = 0; i < 500; ++i)
    ASSERT_TRUE(put_evidence(*store, result_about({digest_named<SetDigest>(std::to_string(i))})));
  FaultyStore counted(*store);
  EXPECT_EQ(evidence_about(counted, {a}), 11u);
  EXPECT_EQ(counted.calls(), 1u + 1u + 11u) << "whether all is marked, one listing, one read for each";
  EXPECT_EQ(evidence_about(*store, {b}), 1u);
  EXPECT_EQ(evidence_about(*store, {a, b}), 11u) << "each record once";
  EXPECT_THAT(*evidence_and_waiver_keys(*store, {a, b}, {}), SizeIs(11));
  EXPECT_THAT(*evidence_and_waiver_keys(*store, {}, {}), IsEmpty());
}

// Without its mark no verdict would see the record.
TEST(EvidenceMarks, AFileInTheWayOfMarksIsNotAMark) {
  store::testing::TemporaryDirectory directory;
  auto set = digest_named<SetDigest>("a");
  ASSERT_TRUE(sys::make_directories(directory.path() + "/evidence/attempts"));
  ASSERT_TRUE(sys::write_file(directory.path() + "/evidence/attempts/" + set.hex(), "in the way"));
  auto files = store::open_file_store(directory.path());
  ASSERT_TRUE(files);
  auto record = result_about({set});
  auto put = put_evidence(**files, record);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, "D002") << render(put.error());
  EXPECT_FALSE(*(*files)->head(evidence_key(digest_of(record))));
}

// The job that records a failure has written its mark when a promotion is judged, and the record before the second
// look.
TEST(EvidenceMarks, ASecondLookFindsARecordThatCameAfterItsMark) {
  auto store = store::make_memory_store();
  auto a = digest_named<SetDigest>("a");
  ASSERT_TRUE(put_evidence(*store, result_about({a})));
  auto late = result_about({a}, 2);
  ASSERT_TRUE(mark_evidence(*store, digest_of(late), late));
  Findings skipped;
  auto judged = recorded_about(*store, {a}, skipped);
  ASSERT_TRUE(judged);
  EXPECT_EQ(*evidence_and_waiver_keys(*store, {a}, judged->keys), judged->keys) << "nothing came";
  put_unmarked(*store, late);
  EXPECT_NE(*evidence_and_waiver_keys(*store, {a}, judged->keys), judged->keys);
}

TEST(EvidenceMarks, WhatEarlierProgramsWroteIsNeverOverlooked) {
  auto store = store::make_memory_store();
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b");
  put_unmarked(*store, result_about({a}));
  put_unmarked(*store, result_about({}));
  ASSERT_TRUE(put_evidence(*store, result_about({b})));
  EXPECT_FALSE(*all_evidence_is_marked(*store));
  EXPECT_EQ(evidence_about(*store, {a}), 3u) << "all there is, so that none is missed";
  EXPECT_EQ(*mark_all_evidence(*store), 1u);
  EXPECT_TRUE(*all_evidence_is_marked(*store));
  EXPECT_EQ(evidence_about(*store, {a}), 1u);
  EXPECT_EQ(evidence_about(*store, {b}), 1u);
  put_unmarked(*store, result_about({b}, 7));
  EXPECT_EQ(*mark_all_evidence(*store), 1u) << "also if it came after that";
  EXPECT_EQ(evidence_about(*store, {b}), 2u);
  EXPECT_EQ(*mark_all_evidence(*store), 0u);
}

// A run that died between the marks of two sets.
TEST(EvidenceMarks, EachSetOfARecordGetsItsMark) {
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b");
  for (const auto& lost : {a, b}) {
    auto store = store::make_memory_store();
    auto evidence = *put_evidence(*store, result_about({a, b}));
    ASSERT_TRUE(store->remove(about_directory(lost) + evidence.hex()));
    EXPECT_EQ(evidence_about(*store, {lost}), 0u);
    EXPECT_EQ(*mark_all_evidence(*store), 1u);
    EXPECT_EQ(evidence_about(*store, {a}), 1u);
    EXPECT_EQ(evidence_about(*store, {b}), 1u);
    EXPECT_EQ(*mark_all_evidence(*store), 0u);
  }
}

TEST(EvidenceMarks, JunkThatSaysThatAllIsMarkedSaysNothing) {
  auto store = store::make_memory_store();
  put_unmarked(*store, result_about({digest_named<SetDigest>("a")}));
  for (const std::string text : {"", "junk", "[]", "{}", R"({"schema":"quarry.evidence-marked/2"})"}) {
    ASSERT_TRUE(store->put("evidence/attempts/marked.json", content::Rope::literal(text), {}));
    EXPECT_FALSE(*all_evidence_is_marked(*store)) << text;
  }
  ASSERT_TRUE(store->put("evidence/attempts/marked.json", content::Rope::literal(std::string(5000, ' ')), {}));
  EXPECT_FALSE(*all_evidence_is_marked(*store));
}

TEST(EvidenceMarks, AreThereBeforeTheRecord) {
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b");
  for (std::uint64_t at = 1;; ++at) {
    auto store = store::make_memory_store();
    FaultyStore dying(*store, {FaultyStore::Fault::die_after, at, true});
    auto put = put_evidence(dying, result_about({a, b}));
    auto all = *evidence_digests(*store);
    for (const auto& set : {a, b}) EXPECT_EQ(evidence_about(*store, {set}), all.size()) << at;
    if (put && !dying.fired()) return;
    ASSERT_TRUE(put_evidence(*store, result_about({a, b})));
    for (const auto& set : {a, b}) EXPECT_EQ(evidence_about(*store, {set}), 1u) << at;
  }
}

TEST(EvidenceMarks, SayWhenTheStoreGotTheRecord) {
  constexpr std::int64_t k_first = 1'000'000'000, k_later = 60'000'000;
  auto a = digest_named<SetDigest>("a"), b = digest_named<SetDigest>("b");
  for (bool marked : {true, false}) {
    sys::FixedClock clock{k_first};
    auto store = store::make_memory_store(&clock);
    if (!marked) put_unmarked(*store, result_about({b}, 9));
    auto evidence = *put_evidence(*store, result_about({a, b}));
    clock.advance_us(k_later);
    ASSERT_TRUE(put_evidence(*store, result_about({a, b}))) << "the same again does not make it newer";
    ASSERT_TRUE(store->remove(about_directory(b) + evidence.hex()));
    ASSERT_TRUE(mark_all_evidence(*store));
    Findings skipped;
    auto found = recorded_about(*store, {b, a}, skipped);
    ASSERT_TRUE(found) << render(found.error());
    EXPECT_EQ(found->since.at(evidence), k_first);
  }
}

TEST(EvidenceMarks, WhatCannotBeReadNowIsAnError) {
  auto store = store::make_memory_store();
  auto a = digest_named<SetDigest>("a");
  ASSERT_TRUE(put_evidence(*store, result_about({a})));
  for (std::uint64_t at = 1; at <= 3; ++at) {
    FaultyStore faulty(*store, {FaultyStore::Fault::refuse, at, false});
    Findings skipped;
    EXPECT_FALSE(recorded_about(faulty, {a}, skipped)) << at << ": a gate must not pass because a server is down";
  }
}

TEST(EvidenceMarks, ARecordThatLostItsMarkHasDisappeared) {
  auto store = store::make_memory_store();
  auto rocm = digest_named<SetDigest>("rocm"), torch = digest_named<SetDigest>("torch");
  auto of_rocm = *put_evidence(*store, result_about({rocm})), of_torch = *put_evidence(*store, result_about({torch}));
  std::vector<std::string> keys{evidence_key(of_rocm), evidence_key(of_torch)};
  std::sort(keys.begin(), keys.end());
  auto verdict =
      *put_verdict(*store, fmt::format(R"({{"schema":"quarry.verdict/1","read":["{}","{}"]}})", keys[0], keys[1]));
  ASSERT_TRUE(mark_judged(*store, verdict, {rocm, torch}));
  EXPECT_THAT(*find_disappeared(*store, {rocm}, {evidence_key(of_rocm)}), IsEmpty()) << "torch was not asked about";
  EXPECT_THAT(*find_disappeared(*store, {torch}, {evidence_key(of_torch)}), IsEmpty());
  auto gone = *find_disappeared(*store, {rocm}, {});
  ASSERT_THAT(gone, SizeIs(1)) << "its mark is gone: it would count for nothing";
  EXPECT_EQ(gone[0].key, evidence_key(of_rocm));
  ASSERT_TRUE(store->put(evidence_key(of_torch), content::Rope::literal("junk"), {}));
  EXPECT_THAT(*find_disappeared(*store, {rocm}, {evidence_key(of_rocm)}), SizeIs(1));
  FaultyStore faulty(*store, {FaultyStore::Fault::refuse, 3, false});
  EXPECT_FALSE(find_disappeared(faulty, {rocm}, {evidence_key(of_rocm)})) << "a record may be hidden, not gone";
}

} // namespace
} // namespace quarry::registry
