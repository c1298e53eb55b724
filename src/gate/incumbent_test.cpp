#include "gate/incumbent.hpp"

#include "gate/gate.hpp"
#include "gate/testing/stored.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::gate {
namespace {

const std::int64_t k_incumbent_now = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
const std::string k_results[] = {"success", "failure", "cancelled", "skipped"};
const std::string k_runners[] = {"", "linux-mi325-1gpu-ossci-rocm"};
const std::string k_bypasses[] = {"", "true", "false"};
const std::string k_refs[] = {"main", "release/therock-7.2"};

/// All 192 inputs of the rule: four results of the build, four of the tests, a machine or none, three words of the
/// bypass, two branches.
std::vector<IncumbentQuestion> all_questions() {
  std::vector<IncumbentQuestion> all;
  for (const auto& build : k_results)
    for (const auto& test : k_results)
      for (const auto& runner : k_runners)
        for (const auto& bypass : k_bypasses)
          for (const auto& ref : k_refs) all.push_back({build, test, runner, bypass, ref});
  return all;
}

std::string name_of(const IncumbentQuestion& q) {
  return fmt::format("build {}, test {}, runner '{}', bypass '{}', ref {}", q.build_result, q.test_result, q.runner,
                     q.bypass, q.ref);
}

/// The five rows as the script's reader would write them down, one after the other.
bool by_the_rows(const IncumbentQuestion& q) {
  if (q.ref == "release/therock-7.2") return true;                   // 0
  if (q.build_result != "success") return false;                     // 1
  if (!q.runner.empty() && q.test_result != "success") return false; // 2
  if (q.runner.empty() && q.bypass.empty()) return false;            // 3
  return true;                                                       // 4
}

TEST(IncumbentRule, AnswersAll192InputsAsTheScriptDid) {
  auto questions = all_questions();
  ASSERT_EQ(questions.size(), 192u);
  std::size_t opened = 0;
  for (const auto& q : questions) {
    auto answer = incumbent_rule(q);
    EXPECT_EQ(answer.upload, by_the_rows(q)) << name_of(q);
    EXPECT_FALSE(answer.why.empty());
    EXPECT_EQ(answer.untested, answer.upload && (q.build_result != "success" || q.test_result != "success"))
        << name_of(q);
    opened += answer.upload;
  }
  // 96 on the release branch; elsewhere built with a machine and tests passed (3), or without a machine bypassed (8).
  EXPECT_EQ(opened, 96u + 3 + 8);
}

TEST(IncumbentRule, ReadsResultsInAnyCaseAndBranchesFromTheirBeginning) {
  EXPECT_TRUE(incumbent_rule({"Success", "SUCCESS", "gpu", "", "main"}).upload);
  EXPECT_FALSE(incumbent_rule({"success", "", "gpu", "", "my/release/therock-7.2"}).upload);
  EXPECT_FALSE(incumbent_rule({"", "", "", "", ""}).upload);
}

/// The family of the policy that has such machines: a runner; none and a bypass; none and no bypass.
std::string family_for(const IncumbentQuestion& q) {
  return !q.runner.empty() ? "gfx94x-dcgpu" : !q.bypass.empty() ? "gfx110x-all" : "gfx906";
}

bool by_our_policy(const Policy& policy, const IncumbentQuestion& q) {
  auto family = family_for(q);
  registry::FileRecord file;
  auto under = family;
  for (auto& c : under) c = c == '-' ? '_' : c;
  file.filename = "rocm_sdk_libraries_" + under + "-7.2.0-py3-none-linux_x86_64.whl";
  file.project = "rocm-sdk-libraries-" + family;
  file.sha256 = sha256(family);
  Case input;
  input.channel = "stable";
  input.now_us = k_incumbent_now;
  if (q.build_result == "success") { // a build that failed has no sealed set
    Subject subject;
    subject.digest = registry::SetDigest(sha256("set"));
    subject.set.origin.platform = Platform::linux;
    subject.set.files = {file};
    input.subjects = {subject};
  }
  if (q.test_result == "success" || q.test_result == "failure") { // the others leave no result
    registry::EvidenceRecord e;
    e.subjects = {file};
    e.cell = {Platform::linux, family, "3.12", ""};
    e.suite = "rocm-sdk";
    bool passed = q.test_result == "success";
    e.result = passed ? registry::Outcome::passed : registry::Outcome::failed;
    (passed ? e.passed : e.failed) = 1;
    e.started = e.ended = sys::Timestamp::from_us(k_incumbent_now);
    e.set = registry::SetDigest(sha256("set"));
    e.sealed = true;
    input.evidence = as_stored({e});
  }
  auto verdict = judge(policy, input);
  return !verdict.cells.empty() && verdict.verdict == Decision::ready;
}

TEST(IncumbentPolicy, AgreesOnAll192InputsButWhereItSaysWhyNot) {
  auto text = sys::read_file(QUARRY_SOURCE_DIR "/data/policies/incumbent-feb.toml");
  ASSERT_TRUE(text);
  auto policy = parse_policy({*text, "incumbent-feb.toml"});
  ASSERT_TRUE(policy);
  std::size_t differ = 0;
  for (const auto& q : all_questions()) {
    bool theirs = incumbent_rule(q).upload, ours = by_our_policy(*policy, q);
    bool branch = q.ref != "main";
    // Without a machine the script never looked at a result; a policy believes what there is.
    bool unlooked = q.runner.empty() && (q.test_result == "success" || q.test_result == "failure");
    if (!branch && !unlooked) {
      EXPECT_EQ(ours, theirs) << name_of(q);
    }
    if (ours && q.bypass.empty()) {
      EXPECT_EQ(q.test_result, "success") << name_of(q);
    }
    if (ours) {
      EXPECT_EQ(q.build_result, "success") << name_of(q);
    }
    if (q.test_result == "failure") {
      EXPECT_FALSE(ours) << name_of(q);
    }
    differ += ours != theirs;
  }
  EXPECT_GT(differ, 0u);
}

} // namespace
} // namespace quarry::gate
