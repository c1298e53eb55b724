// Several jobs run a part of a suite each: when their results count as one.
#include "gate/gate.hpp"

#include "gate/testing/policies.hpp"
#include "gate/testing/stored.hpp"
#include "gate/testing/subjects.hpp"
#include "sys/clock.hpp"
#include <gmock/gmock.h>

namespace quarry::gate {
namespace {

using registry::EvidenceRecord;
using registry::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::int64_t k_shards_now = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
constexpr std::int64_t k_shard_minute = 60'000'000;
const registry::SetDigest k_sharded_set = *registry::SetDigest::parse(std::string(64, 'a'));
constexpr const char* k_sharded_suite =
    "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"full\"]\n";

class Shards : public ::testing::Test {
protected:
  /// Shard `index` of 3, which ended so many minutes ago.
  EvidenceRecord shard(std::uint64_t index, std::int64_t minutes, Outcome outcome = Outcome::passed) const {
    EvidenceRecord e;
    e.subjects = input_.subjects[0].set.files;
    e.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", ""};
    e.suite = "full";
    e.suite_digest = std::string(64, 'd');
    e.result = outcome;
    e.passed = 10;
    e.failed = outcome == Outcome::failed ? 1 : 0;
    e.machine = {{"host", "gpu-" + std::to_string(index)}, {"kernel", "6.8"}};
    e.started = sys::Timestamp::from_us(k_shards_now - (minutes + 1) * k_shard_minute);
    e.ended = sys::Timestamp::from_us(k_shards_now - minutes * k_shard_minute);
    e.set = k_sharded_set;
    e.sealed = true;
    e.shard = registry::Shard{index, 3, 1, "https://ci/7"};
    return e;
  }
  std::vector<EvidenceRecord> all_passed() const { return {shard(1, 50), shard(2, 40), shard(3, 30)}; }

  CellVerdict cell(const std::vector<EvidenceRecord>& evidence, const std::string& more = "",
                   const std::string& states = "") {
    input_.evidence = as_stored(evidence);
    auto verdict = judge(testing::parsed_policy("[states]\n" + states + k_sharded_suite + more), input_);
    EXPECT_EQ(verdict.cells.size(), 1u);
    return verdict.cells.at(0);
  }

  Case input_ = testing::case_of_libraries(k_sharded_set, k_shards_now);
};

TEST_F(Shards, AllOfOneRunAreOneResult) {
  auto verdict = cell(all_passed());
  EXPECT_EQ(verdict.verdict, Decision::ready);
  EXPECT_THAT(verdict.reasons, ElementsAre("full passed on these files 50 min ago (30 passed)"));
  std::vector<registry::EvidenceDigest> records;
  for (const auto& record : all_passed()) records.push_back(registry::digest_of(record));
  EXPECT_EQ(verdict.evidence, records);
}

TEST_F(Shards, SomeOfThemAreNone) {
  auto verdict = cell({shard(1, 50), shard(3, 30)});
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_THAT(verdict.reasons, ElementsAre("full has not passed on these files: one result is a shard, and in its run "
                                           "shard 2 of 3 has not passed"));
  EXPECT_THAT(verdict.untested, ElementsAre("full"));
  EXPECT_THAT(cell({shard(3, 30)}).reasons[0], HasSubstr("shards 1, 2 of 3 have not passed"));
}

TEST_F(Shards, OtherRunsDefinitionsAndNumbersDoNotFillIn) {
  auto with = [&](auto change) {
    auto evidence = all_passed();
    change(evidence[1]);
    return cell(evidence).verdict;
  };
  EXPECT_EQ(with([](auto&) {}), Decision::ready);
  EXPECT_EQ(with([](auto& e) { e.shard->run = "https://ci/8"; }), Decision::held);
  EXPECT_EQ(with([](auto& e) { e.suite_digest = std::string(64, 'e'); }), Decision::held);
  EXPECT_EQ(with([](auto& e) { e.shard->total = 4; }), Decision::held);
  EXPECT_EQ(with([](auto& e) { e.shard->index = 1; }), Decision::held);
  EXPECT_EQ(with([](auto& e) { e.subjects[0].sha256 = sha256("other bytes"); }), Decision::held);
  EXPECT_EQ(with([](auto& e) { e.sealed = false; }), Decision::held);
  // Wheels for any Python make one cell, for which any Python's result counts, but only that of one of them.
  EXPECT_EQ(with([](auto& e) { e.cell.python = "3.13"; }), Decision::held);
  EXPECT_EQ(with([](auto& e) { e.ended = sys::Timestamp::from_us(k_shards_now + 60 * k_shard_minute); }),
            Decision::held);
}

TEST_F(Shards, OneThatFailsIsAFailureUntilItPassesInThatRun) {
  auto evidence = std::vector{shard(1, 50), shard(2, 40, Outcome::failed), shard(3, 30)};
  auto verdict = cell(evidence);
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_THAT(verdict.reasons[0], HasSubstr("full failed 1 of 11, 40 min ago"));
  EXPECT_THAT(verdict.failed, ElementsAre(registry::digest_of(evidence[1])));
  evidence.push_back(shard(2, 10));
  EXPECT_EQ(cell(evidence).verdict, Decision::ready);
  EXPECT_EQ(cell(evidence, "", "flaky = \"any_failure_holds\"\n").verdict, Decision::held);
  evidence.push_back(shard(2, 5, Outcome::timed_out));
  EXPECT_EQ(cell(evidence).verdict, Decision::held);
}

TEST_F(Shards, AnotherShardThatIsRunOnceMoreHidesNoFailure) {
  auto later = shard(2, 20, Outcome::failed);
  later.shard->run = "https://ci/8";
  auto evidence = all_passed();
  evidence.push_back(later);
  EXPECT_EQ(cell(evidence).verdict, Decision::held);
  evidence.push_back(shard(3, 10));
  EXPECT_EQ(cell(evidence).verdict, Decision::held);
  auto whole = shard(1, 20, Outcome::failed);
  whole.shard.reset();
  EXPECT_EQ(cell({shard(1, 50), shard(2, 40), shard(3, 30), whole, shard(3, 10)}).verdict, Decision::held);
}

TEST_F(Shards, AMachineThatHangsIsSuspectBesideThoseThatPass) {
  auto hung = shard(2, 5, Outcome::timed_out);
  hung.machine["host"] = "gpu-9";
  hung.shard->run = "https://ci/8";
  auto evidence = all_passed();
  evidence.push_back(hung);
  EXPECT_THAT(cell(evidence).reasons[0],
              HasSubstr("on gpu-9, which is suspect: it passed on gpu-1 and gpu-2 and gpu-3"));
}

TEST_F(Shards, TheirTestsAreCountedTogether) {
  const std::string asks = "[[suite]]\nname = \"full\"\nmin_passed = ";
  EXPECT_EQ(cell(all_passed(), asks + "30\n").verdict, Decision::ready);
  auto verdict = cell(all_passed(), asks + "31\n");
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_THAT(verdict.reasons[0], HasSubstr("passed 30 tests together, and 31 are asked for"));
  auto evidence = all_passed();
  for (auto& e : evidence) e.shard->min_passed = 31; // as the definition says
  EXPECT_EQ(cell(evidence).verdict, Decision::held);
}

TEST_F(Shards, TwoResultsNeedTwoRuns) {
  const std::string twice = "last_n_pass = 2\n";
  EXPECT_EQ(cell(all_passed(), "", twice).verdict, Decision::held);
  auto evidence = all_passed();
  for (auto e : all_passed()) {
    e.shard->run = "https://ci/8";
    evidence.push_back(e);
  }
  EXPECT_EQ(cell(evidence, "", twice).verdict, Decision::ready);
}

} // namespace
} // namespace quarry::gate
