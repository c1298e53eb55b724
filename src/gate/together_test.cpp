// What a result must show to count: its suite's definition, a GPU, the sets that it was made with; and who may waive.
#include "gate/gate.hpp"

#include "gate/testing/policies.hpp"
#include "gate/testing/stored.hpp"
#include "sys/clock.hpp"
#include <gmock/gmock.h>

namespace quarry::gate {
namespace {

using registry::EvidenceRecord;
using registry::Outcome;
using ::testing::HasSubstr;

const std::int64_t k_noon = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
constexpr std::int64_t k_an_hour = 3'600'000'000;
const std::string k_definition(64, 'd');

registry::FileRecord file_of(const std::string& name, const std::string& project) {
  registry::FileRecord record;
  record.filename = name;
  record.project = project;
  record.version = "7.2.0";
  record.sha256 = sha256(name);
  return record;
}

Subject rocm_set() {
  Subject subject{*registry::SetDigest::parse(std::string(64, 'a')), {}};
  subject.set.origin.platform = Platform::linux;
  subject.set.origin.group = "gfx94X-dcgpu";
  subject.set.files = {
      file_of("rocm-7.2.0.tar.gz", "rocm"),
      file_of("rocm_sdk_libraries_gfx94x_dcgpu-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-libraries-gfx94x-dcgpu")};
  return subject;
}

/// For one family by the group of its run; with another group for all of them.
Subject torch_set(const std::string& group = "gfx94X-dcgpu") {
  Subject subject{*registry::SetDigest::parse(std::string(64, 'b')), {}};
  subject.set.origin.platform = Platform::linux;
  subject.set.origin.group = group;
  subject.set.files = {file_of("torch-2.9.0-cp312-cp312-linux_x86_64.whl", "torch")};
  return subject;
}

Policy policy_with(const std::string& extra) {
  return gate::testing::parsed_policy("approvers = [\"ann\"]\n" + extra +
                                      "\n[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\n"
                                      "suites = [\"smoke\"]\n[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\n"
                                      "pythons = [\"*\"]\nframeworks = [\"torch\"]\nsuites = [\"torch-smoke\"]\n");
}

EvidenceRecord passed_on(const std::vector<Subject>& subjects, const std::string& suite, const std::string& framework) {
  EvidenceRecord e;
  for (const auto& subject : subjects)
    e.subjects.insert(e.subjects.end(), subject.set.files.begin(), subject.set.files.end());
  e.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", framework};
  e.suite = suite;
  e.suite_digest = k_definition;
  e.result = Outcome::passed;
  e.passed = 3;
  e.machine = {{"host", "gpu-7"}, {"gpu_targets", "gfx942 gfx942"}};
  e.started = sys::Timestamp::from_us(k_noon - 2 * k_an_hour);
  e.ended = sys::Timestamp::from_us(k_noon - k_an_hour);
  e.sealed = true;
  if (subjects.size() == 1) e.set = subjects.front().digest;
  for (const auto& subject : subjects)
    if (subjects.size() > 1) e.sets.push_back(subject.digest);
  return e;
}

Case case_of(std::vector<Subject> subjects, const std::vector<EvidenceRecord>& evidence) {
  Case input;
  input.channel = "stable";
  input.subjects = std::move(subjects);
  input.evidence = as_stored(evidence);
  input.now_us = k_noon;
  return input;
}

bool is_ready(const Verdict& verdict) { return verdict.verdict == Decision::ready; }
std::string first_reason(const Verdict& verdict) { return verdict.cells.at(0).reasons.at(0); }

TEST(Together, OneEnvironmentWithRocmAndTorchIsEvidenceForBoth) {
  auto rocm = rocm_set(), torch = torch_set();
  auto verdict = judge(policy_with(""), case_of({rocm, torch}, {passed_on({rocm, torch}, "smoke", ""),
                                                                passed_on({rocm, torch}, "torch-smoke", "torch")}));
  ASSERT_EQ(verdict.cells.size(), 2u);
  for (const auto& cell : verdict.cells) EXPECT_EQ(cell.verdict, Decision::ready) << cell.reasons.at(0);
  EXPECT_EQ(verdict.cells[1].cell.family, "gfx94X-dcgpu") << "by the group of the job that built it";
}

TEST(Together, TheOtherSetMustBeOfTheReleaseOrInTheChannel) {
  auto rocm = rocm_set(), torch = torch_set();
  auto tested = passed_on({rocm, torch}, "torch-smoke", "torch");
  auto alone = judge(policy_with(""), case_of({torch}, {tested}));
  EXPECT_FALSE(is_ready(alone));
  EXPECT_THAT(first_reason(alone), HasSubstr("neither this release nor the channel has"));
  auto in_channel = case_of({torch}, {tested});
  in_channel.shown = rocm.set.files;
  EXPECT_TRUE(is_ready(judge(policy_with(""), in_channel)));
  auto other_bytes = in_channel;
  other_bytes.shown[0].sha256 = sha256("another rocm");
  EXPECT_FALSE(is_ready(judge(policy_with(""), other_bytes)));
  auto elsewhere = case_of({torch}, {tested});
  elsewhere.present = {rocm};
  EXPECT_TRUE(is_ready(judge(policy_with(""), elsewhere)));
}

TEST(Together, ARecordOfOneSetMayStillHoldNothingElse) {
  auto rocm = rocm_set(), torch = torch_set();
  auto tested = passed_on({rocm, torch}, "torch-smoke", "torch");
  tested.sets.clear();
  tested.set = torch.digest;
  auto verdict = judge(policy_with(""), case_of({torch, rocm}, {tested}));
  EXPECT_THAT(first_reason(verdict), HasSubstr("which the cell does not have"));
}

TEST(Together, AFrameworkForAllFamiliesIsTestedOnOneOfThem) {
  auto rocm = rocm_set(), torch = torch_set("");
  auto input = case_of({torch}, {passed_on({rocm, torch}, "torch-smoke", "torch")});
  input.present = {rocm};
  EXPECT_TRUE(is_ready(judge(policy_with(""), input)));
  auto of_one_family = case_of({torch_set("gfx1151")}, {passed_on({rocm, torch}, "torch-smoke", "torch")});
  of_one_family.present = {rocm};
  EXPECT_FALSE(is_ready(judge(policy_with(""), of_one_family)));
}

struct SuiteCase {
  const char *name, *rule;
  void (*change)(EvidenceRecord&);
  const char* why; ///< empty: it counts
};
class SuiteRules : public ::testing::TestWithParam<SuiteCase> {};
INSTANTIATE_TEST_SUITE_P(
    Table, SuiteRules,
    ::testing::Values(
        SuiteCase{"no_rule", "", [](EvidenceRecord& e) { e.suite_digest = "x"; }, ""},
        SuiteCase{"its_definition", "digest = [\"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd\"]",
                  [](EvidenceRecord&) {}, ""},
        SuiteCase{"another_definition",
                  "digest = [\"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd\"]",
                  [](EvidenceRecord& e) { e.suite_digest = std::string(64, 'e'); }, "ran another definition of smoke"},
        SuiteCase{"packaged", "packaged = true",
                  [](EvidenceRecord& e) { e.suite_digest = sha256("rocm-7.2.0.tar.gz").hex(); }, ""},
        SuiteCase{"not_packaged", "packaged = true", [](EvidenceRecord&) {},
                  "did not run the tests inside the packages"},
        SuiteCase{"few_passed", "min_passed = 4", [](EvidenceRecord&) {}, "passed 3 tests, and the policy asks for 4"},
        SuiteCase{"enough_passed", "min_passed = 3", [](EvidenceRecord&) {}, ""},
        SuiteCase{"gpu", "gpu = true", [](EvidenceRecord&) {}, ""},
        SuiteCase{"no_gpu", "gpu = true", [](EvidenceRecord& e) { e.machine.erase("gpu_targets"); },
                  "shows no GPU which the tests could open"},
        SuiteCase{"another_gpu", "gpu = true", [](EvidenceRecord& e) { e.machine["gpu_targets"] = "gfx1100"; },
                  "was made on gfx1100, which is not of gfx94X-dcgpu"}),
    [](const auto& row) { return row.param.name; });

TEST_P(SuiteRules, WhatDoesNotCountHolds) {
  auto rocm = rocm_set();
  auto evidence = passed_on({rocm}, "smoke", "");
  GetParam().change(evidence);
  std::string rule = GetParam().rule;
  auto policy = policy_with(rule.empty() ? "" : "[[suite]]\nname = \"smoke\"\n" + rule);
  auto verdict = judge(policy, case_of({rocm}, {evidence}));
  std::string why = GetParam().why;
  EXPECT_EQ(is_ready(verdict), why.empty()) << first_reason(verdict);
  EXPECT_THAT(first_reason(verdict), HasSubstr(why));
}

TEST(SuiteRule, AFailureHoldsWhereverItHappened) {
  auto rocm = rocm_set();
  auto good = passed_on({rocm}, "smoke", ""), bad = good;
  bad.result = Outcome::failed;
  bad.failed = 1;
  bad.machine.erase("gpu_targets");
  bad.ended = sys::Timestamp::from_us(k_noon - k_an_hour / 2);
  auto policy = policy_with("[[suite]]\nname = \"smoke\"\ngpu = true");
  EXPECT_TRUE(is_ready(judge(policy, case_of({rocm}, {good}))));
  EXPECT_FALSE(is_ready(judge(policy, case_of({rocm}, {good, bad}))));
}

TEST(SuiteRule, AnAnnouncedFailureNeedsWhatAPassNeeds) {
  auto rocm = rocm_set();
  auto bad = passed_on({rocm}, "smoke", "");
  bad.result = Outcome::failed;
  bad.failed = 1;
  const std::string announced = "[[family]]\nfamilies = [\"gfx*\"]\nstate = \"expected_failure\"\ncounts_as = "
                                "\"waive\"\nreason = \"driver\"\nuntil = \"2030-01-01\"\n";
  auto gpu = policy_with("[[suite]]\nname = \"smoke\"\ngpu = true\n" + announced);
  EXPECT_TRUE(is_ready(judge(gpu, case_of({rocm}, {bad}))));
  auto without = bad;
  without.machine.erase("gpu_targets");
  EXPECT_FALSE(is_ready(judge(gpu, case_of({rocm}, {without}))));
  auto key = Ed25519PrivateKey::create();
  ASSERT_TRUE(key);
  auto signers = policy_with("[[signer]]\nname = \"ci\"\nkey = \"" + key->public_key().base64() +
                             "\"\nsigns = [\"evidence\"]\n" + announced);
  auto input = case_of({rocm}, {bad});
  EXPECT_FALSE(is_ready(judge(signers, input)));
  auto digest = *input.evidence[0].digest.sha256();
  input.signatures[digest] = {signature::envelope({"evidence", digest}, *key)};
  EXPECT_TRUE(is_ready(judge(signers, input)));
}

TEST(SuiteRule, IsPartOfThePolicysDigestAndReadAgain) {
  auto policy = policy_with("waiver_requester = \"another\"\n[[suite]]\nname = \"smoke\"\ngpu = true\nmin_passed = 2");
  EXPECT_NE(policy.digest, policy_with("").digest);
  auto stored = parse_stored_policy({canonical_json(policy), "policies/x.json"});
  ASSERT_TRUE(stored) << render(stored.error());
  EXPECT_EQ(stored->digest, policy.digest);
  EXPECT_TRUE(stored->suites.at(0).gpu);
  EXPECT_EQ(stored->requester, Requester::another);
}

TEST(SuiteRule, OneWithoutAConditionIsRefused) {
  auto head =
      std::string("schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\n[[require]]\nplatforms = [\"*\"]\n"
                  "families = [\"*\"]\npythons = [\"*\"]\nsuites = [\"s\"]\n[[suite]]\n");
  for (const auto* rule :
       {"name = \"s\"\n", "name = \"s\"\nmin_passed = 0\n", "name = \"s*\"\ngpu = true\n",
        "name = \"s\"\ndigest = [\"abc\"]\n", "name = \"s\"\ngpu = true\ndigest = []\n",
        "name = \"typo\"\ngpu = true\n", "name = \"s\"\ngpu = true\n[[suite]]\nname = \"s\"\ngpu = true\n"}) {
    auto refused = parse_policy({head + rule, "p.toml"});
    ASSERT_FALSE(refused) << rule;
    EXPECT_EQ(refused.error().code, "G002");
  }
}

struct AskedCase {
  const char *rule, *requester;
  bool counts;
};
TEST(Waivers, WhoMadeItIsPartOfThePolicy) {
  auto rocm = rocm_set();
  for (const auto& [rule, requester, counts] :
       {AskedCase{"anybody", "", true}, AskedCase{"anybody", "eve", true}, AskedCase{"approver", "ann", true},
        AskedCase{"approver", "eve", false}, AskedCase{"approver", "", false}, AskedCase{"another", "eve", true},
        AskedCase{"another", "ann", false}, AskedCase{"another", "", false}}) {
    auto input = case_of({rocm}, {});
    registry::WaiverRecord waiver;
    waiver.channel = "stable";
    waiver.reason = "no machine";
    waiver.approver = "ann";
    waiver.requester = requester;
    waiver.created = sys::Timestamp::from_us(k_noon - k_an_hour);
    waiver.expires = sys::Timestamp::from_us(k_noon + k_an_hour);
    input.waivers = waivers_stored({waiver});
    auto policy = policy_with("waiver_requester = \"" + std::string(rule) + "\"");
    auto verdict = judge(policy, input);
    EXPECT_EQ(is_ready(verdict), counts) << rule << " " << requester;
    EXPECT_EQ(verdict.cells.at(0).waivers.size(), counts ? 1u : 0u);
    input.revoked = {registry::digest_of(waiver)};
    EXPECT_FALSE(is_ready(judge(policy, input)));
    input.waivers[0].digest = registry::WaiverDigest(sha256("the same waiver with blanks in its JSON"));
    input.revoked = {input.waivers[0].digest};
    EXPECT_FALSE(is_ready(judge(policy, input))) << "what is revoked is the stored record";
  }
}

} // namespace
} // namespace quarry::gate
