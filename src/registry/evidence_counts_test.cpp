#include "registry/evidence_counts.hpp"

#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

EvidenceRecord with_rows(const std::vector<std::string>& outcomes) {
  EvidenceRecord evidence;
  for (const auto& outcome : outcomes) {
    TestRow row;
    row.outcome = Outcome::read(outcome);
    evidence.rows.push_back(std::move(row));
  }
  return evidence;
}

TEST(EvidenceCounts, AreThoseOfTheRows) {
  auto evidence = with_rows({"passed", "failed", "passed", "skipped", "error"});
  evidence.passed = 2, evidence.failed = evidence.skipped = evidence.errors = 1;
  EXPECT_TRUE(counts_its_rows(evidence));
  for (auto* count : {&evidence.passed, &evidence.failed, &evidence.skipped, &evidence.errors}) {
    ++*count;
    EXPECT_FALSE(counts_its_rows(evidence));
    --*count;
  }
  evidence.rows.push_back(with_rows({"maybe"}).rows.front()); // a row that no number counts
  EXPECT_FALSE(counts_its_rows(evidence));
}

TEST(EvidenceCounts, StandAloneWithoutRows) {
  EvidenceRecord evidence;
  evidence.passed = 7;
  EXPECT_TRUE(counts_its_rows(evidence));
}

} // namespace
} // namespace quarry::registry
