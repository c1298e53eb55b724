#include "gate/gate.hpp"

#include "gate/testing/policies.hpp"
#include "gate/testing/stored.hpp"
#include "gate/testing/subjects.hpp"
#include "sys/clock.hpp"
#include <gmock/gmock.h>

namespace quarry::gate {
namespace {

using registry::AttemptRecord;
using registry::AttemptState;
using registry::EvidenceRecord;
using registry::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::int64_t k_attempts_now = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
constexpr std::int64_t k_one_minute = 60'000'000, k_attempts_hour = 60 * k_one_minute;
const registry::SetDigest k_attempts_set = *registry::SetDigest::parse(std::string(64, 'a'));
constexpr const char* k_require =
    "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"smoke\"]\n";

class Attempts : public ::testing::Test {
protected:
  void attempt(AttemptState state, std::int64_t age_us, const std::string& runner = "mi325",
               const std::string& job = "https://ci/1") {
    AttemptRecord record;
    record.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", ""};
    record.suite = "smoke";
    record.sets = {k_attempts_set};
    record.job = job;
    record.runner = runner;
    record.state = state;
    record.time = sys::Timestamp::from_us(k_attempts_now - age_us);
    input_.attempts.push_back(record);
  }

  EvidenceRecord result(Outcome outcome, const std::string& host, std::int64_t age_us = k_attempts_hour) const {
    EvidenceRecord e;
    e.subjects = input_.subjects[0].set.files;
    e.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", ""};
    e.suite = "smoke";
    e.result = outcome;
    e.passed = outcome == Outcome::passed ? 5 : 0;
    e.machine["host"] = host;
    e.started = sys::Timestamp::from_us(k_attempts_now - age_us - k_one_minute);
    e.ended = sys::Timestamp::from_us(k_attempts_now - age_us);
    e.set = k_attempts_set;
    e.sealed = true;
    return e;
  }

  CellVerdict cell(const std::string& more = "", const std::vector<EvidenceRecord>& evidence = {}) {
    input_.evidence = as_stored(evidence);
    verdict_ = judge(testing::parsed_policy(k_require + more), input_);
    EXPECT_EQ(verdict_.cells.size(), 1u);
    return verdict_.cells.at(0);
  }
  static SuiteState state_of(const CellVerdict& cell) { return cell.suites.at(0).state; }

  Case input_ = testing::case_of_libraries(k_attempts_set, k_attempts_now);
  Verdict verdict_;
};

struct StateCase {
  const char* name;
  AttemptState state;
  std::int64_t age_us;
  const char* runner;
  SuiteState expected;
  const char* text;
};

class AttemptStates : public Attempts, public ::testing::WithParamInterface<StateCase> {};

TEST_P(AttemptStates, IsTold) {
  const auto& c = GetParam();
  attempt(c.state, c.age_us, c.runner);
  auto verdict = cell();
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_EQ(to_string(state_of(verdict)), to_string(c.expected));
  EXPECT_EQ(verdict.suites[0].job, "https://ci/1");
  EXPECT_EQ(verdict.reasons[0], std::string("no evidence of smoke: ") + c.text + ": https://ci/1");
}

INSTANTIATE_TEST_SUITE_P(
    All, AttemptStates,
    ::testing::Values(
        StateCase{"no_runner", AttemptState::queued, k_attempts_hour, "", SuiteState::no_runner,
                  "its job names no machine"},
        StateCase{"waiting", AttemptState::queued, 6 * k_attempts_hour, "mi325", SuiteState::waiting,
                  "its job has waited 6 h for mi325"},
        StateCase{"too_long", AttemptState::queued, 6 * k_attempts_hour + k_one_minute, "mi325",
                  SuiteState::queued_too_long,
                  "no machine has taken its job for 6 h (it waits for mi325; the policy expects one within 6 h)"},
        StateCase{"running", AttemptState::started, 30 * k_one_minute, "mi325", SuiteState::running,
                  "its job has run for 30 min"},
        StateCase{"silent", AttemptState::started, 9 * k_attempts_hour, "mi325", SuiteState::no_result,
                  "its job began 9 h ago and left no result"},
        StateCase{"ended", AttemptState::ended, k_attempts_hour, "mi325", SuiteState::no_result,
                  "its job ended 60 min ago and left no result"},
        StateCase{"skipped", AttemptState::skipped, k_attempts_hour, "mi325", SuiteState::skipped,
                  "its job was skipped 60 min ago"},
        StateCase{"cancelled", AttemptState::cancelled, k_attempts_hour, "mi325", SuiteState::cancelled,
                  "its job was cancelled 60 min ago"},
        StateCase{"timed_out", AttemptState::timed_out, k_attempts_hour, "mi325", SuiteState::timed_out,
                  "its job ran into its time limit 60 min ago"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(Attempts, NothingAnnouncedIsUntested) {
  auto verdict = cell();
  EXPECT_EQ(state_of(verdict), SuiteState::untested);
  EXPECT_THAT(verdict.reasons, ElementsAre("no evidence of smoke"));
}

TEST_F(Attempts, TheNewestSpeaksAndOneJobIsOneAttempt) {
  attempt(AttemptState::cancelled, 5 * k_attempts_hour, "mi325", "https://ci/1");
  attempt(AttemptState::queued, 2 * k_attempts_hour, "mi325", "https://ci/2");
  attempt(AttemptState::started, 2 * k_attempts_hour + k_one_minute, "mi325",
          "https://ci/2"); // its machine's clock is behind
  auto verdict = cell();
  EXPECT_EQ(state_of(verdict), SuiteState::running);
  EXPECT_EQ(verdict.suites[0].job, "https://ci/2");
}

TEST_F(Attempts, OfAnotherSuiteCellOrSetSayNothing) {
  for (auto change : std::vector<void (*)(AttemptRecord&)>{
           [](AttemptRecord& a) { a.suite = "other"; }, [](AttemptRecord& a) { a.cell.platform = Platform::windows; },
           [](AttemptRecord& a) { a.cell.family = "gfx1100"; }, [](AttemptRecord& a) { a.cell.framework = "torch"; },
           [](AttemptRecord& a) { a.cell.backend = "cpu"; },
           [](AttemptRecord& a) { a.sets = {*registry::SetDigest::parse(std::string(64, 'b'))}; }}) {
    input_.attempts.clear();
    attempt(AttemptState::cancelled, k_attempts_hour);
    change(input_.attempts[0]);
    EXPECT_EQ(state_of(cell()), SuiteState::untested);
  }
}

TEST_F(Attempts, NeverMakeACellReadyAndNeverHoldAPass) {
  for (auto state : {AttemptState::queued, AttemptState::started, AttemptState::ended, AttemptState::skipped,
                     AttemptState::cancelled, AttemptState::timed_out}) {
    input_.attempts.clear();
    attempt(state, k_one_minute);
    EXPECT_EQ(cell().verdict, Decision::held);
    auto passed = cell("", {result(Outcome::passed, "gpu-1")});
    EXPECT_EQ(passed.verdict, Decision::ready);
    EXPECT_EQ(state_of(passed), SuiteState::passed);
    EXPECT_EQ(cell("", {result(Outcome::failed, "gpu-1")}).verdict, Decision::held);
  }
}

TEST_F(Attempts, AResultThatDoesNotCountIsNotCalledMissing) {
  attempt(AttemptState::queued, 3 * k_attempts_hour);
  attempt(AttemptState::ended, k_attempts_hour - k_one_minute);
  auto unsealed = result(Outcome::passed, "gpu-1");
  unsealed.sealed = false;
  auto verdict = cell("", {unsealed});
  EXPECT_EQ(state_of(verdict), SuiteState::not_counted);
  EXPECT_THAT(verdict.reasons,
              ElementsAre("smoke has not passed on these files: one result was made from an unsealed source"));
}

constexpr const char* k_no_runner_waived = "[states]\nno_runner = \"waive\"\n[[family]]\nfamilies = [\"gfx94X-*\"]\n"
                                           "state = \"no_runner\"\nreason = \"no lab machine\"\n";

TEST_F(Attempts, AMachineThatTookTheJobIsNotExcusedByItsAbsence) {
  auto excused = cell(k_no_runner_waived);
  EXPECT_EQ(excused.verdict, Decision::ready);
  EXPECT_EQ(state_of(excused), SuiteState::no_runner);
  attempt(AttemptState::skipped, k_attempts_hour);
  EXPECT_EQ(cell(k_no_runner_waived).verdict, Decision::ready);
  attempt(AttemptState::ended, k_one_minute, "mi325", "https://ci/2");
  auto held = cell(k_no_runner_waived);
  EXPECT_EQ(held.verdict, Decision::held);
  EXPECT_EQ(state_of(held), SuiteState::no_result);
}

TEST_F(Attempts, NoLaterRecordExcusesWhatAMachineTook) {
  for (auto taken : {AttemptState::started, AttemptState::ended, AttemptState::timed_out})
    for (auto later : {AttemptState::queued, AttemptState::skipped, AttemptState::cancelled}) {
      input_.attempts.clear();
      attempt(taken, 2 * k_attempts_hour);
      EXPECT_EQ(cell(k_no_runner_waived).verdict, Decision::held);
      attempt(later, k_attempts_hour, "mi325", "https://ci/2");
      auto held = cell(k_no_runner_waived);
      EXPECT_EQ(held.verdict, Decision::held) << AttemptState(taken).text() << ", then " << AttemptState(later).text();
      EXPECT_EQ(held.suites[0].job, "https://ci/2") << "the newest attempt is told";
      EXPECT_THAT(held.reasons[0], HasSubstr("\"no lab machine\" does not excuse it"));
      auto stale = result(Outcome::passed, "gpu-1", k_one_minute);
      stale.sealed = false;
      EXPECT_EQ(cell(k_no_runner_waived, {stale}).verdict, Decision::held) << "nor does a result that does not count";
    }
  input_.attempts.clear();
  attempt(AttemptState::started, 2 * k_attempts_hour);
  attempt(AttemptState::cancelled, k_attempts_hour); // the same job
  EXPECT_EQ(cell(k_no_runner_waived).verdict, Decision::held);
}

TEST_F(Attempts, FromTheFutureCountForNothing) {
  attempt(AttemptState::queued, k_attempts_hour);
  attempt(AttemptState::cancelled, -4 * k_one_minute, "mi325", "https://ci/2");
  EXPECT_EQ(state_of(cell()), SuiteState::cancelled) << "clocks differ by so much";
  EXPECT_THAT(verdict_.notes, IsEmpty());
  attempt(AttemptState::skipped, -6 * k_one_minute, "mi325", "https://ci/3");
  EXPECT_EQ(state_of(cell()), SuiteState::cancelled);
  ASSERT_EQ(verdict_.notes.size(), 1u);
  EXPECT_EQ(verdict_.notes[0].code, "G031");
  EXPECT_EQ(verdict_.notes[0].place, "https://ci/3");
}

TEST_F(Attempts, AWaiverForAnotherBackendIsForAnotherCell) {
  registry::WaiverRecord waiver;
  waiver.channel = "stable";
  waiver.approver = "lead";
  waiver.reason = "no time";
  waiver.created = sys::Timestamp::from_us(k_attempts_now - k_attempts_hour);
  waiver.expires = sys::Timestamp::from_us(k_attempts_now + k_attempts_hour);
  input_.waivers = waivers_stored({waiver});
  auto policy = testing::parsed_policy("approvers = [\"lead\"]\nwaiver_max_age = \"7d\"\n" + std::string(k_require));
  EXPECT_EQ(judge(policy, input_).verdict, Decision::ready);
  waiver.cell.backend = "cpu";
  input_.waivers = waivers_stored({waiver});
  EXPECT_EQ(judge(policy, input_).verdict, Decision::held);
}

TEST_F(Attempts, AnAnnouncedFailureAndADeadlineAreToldApart) {
  const std::string expected = "[[family]]\nfamilies = [\"gfx94X-*\"]\nstate = \"expected_failure\"\n"
                               "counts_as = \"waive\"\nreason = \"bug 7\"\nuntil = \"2026-12-01\"\n";
  auto failed = cell(expected, {result(Outcome::failed, "gpu-1")});
  EXPECT_EQ(failed.verdict, Decision::ready);
  EXPECT_EQ(state_of(failed), SuiteState::expected_failure);
  EXPECT_EQ(state_of(cell("", {result(Outcome::failed, "gpu-1")})), SuiteState::failed);
  EXPECT_EQ(state_of(cell("", {result(Outcome::timed_out, "gpu-1")})), SuiteState::ran_into_deadline);
}

TEST_F(Attempts, APolicySetsTheLimits) {
  attempt(AttemptState::queued, 2 * k_attempts_hour);
  EXPECT_EQ(state_of(cell("[attempts]\nqueue_limit = \"1h\"\n")), SuiteState::queued_too_long);
  EXPECT_EQ(state_of(cell("[attempts]\nqueue_limit = \"3h\"\n")), SuiteState::waiting);
  input_.attempts.clear();
  attempt(AttemptState::started, 8 * k_attempts_hour);
  EXPECT_EQ(state_of(cell("[attempts]\nrun_limit = \"12h\"\n")), SuiteState::running);
}

TEST_F(Attempts, AMachineSetAsideCountsForNothingUntilItsDay) {
  const std::string aside =
      "[[machine]]\nname = \"gpu-9\"\nreason = \"its fans fail\"\nuntil = \"2026-11-21T13:00:00Z\"\n";
  auto held = cell(aside, {result(Outcome::passed, "gpu-9")});
  EXPECT_EQ(held.verdict, Decision::held);
  EXPECT_THAT(held.reasons[0], HasSubstr("was made on gpu-9, which is set aside until 2026-11-21 (its fans fail)"));
  EXPECT_EQ(state_of(held), SuiteState::not_counted);
  EXPECT_EQ(cell(aside, {result(Outcome::passed, "gpu-1")}).verdict, Decision::ready);
  // Neither does its failure: the pass of another machine decides, although it is older.
  auto both = {result(Outcome::passed, "gpu-1", 3 * k_attempts_hour), result(Outcome::failed, "gpu-9")};
  EXPECT_EQ(cell(aside, both).verdict, Decision::ready);
  EXPECT_EQ(cell("", both).verdict, Decision::held);
  input_.now_us += 2 * k_attempts_hour; // the entry has ended
  EXPECT_EQ(cell(aside, {result(Outcome::passed, "gpu-9")}).verdict, Decision::ready);
}

TEST_F(Attempts, AHangBesidePassesOnTwoOthersIsASuspectMachine) {
  auto hang = result(Outcome::timed_out, "gpu-9", k_one_minute);
  auto one = result(Outcome::passed, "gpu-1", 2 * k_attempts_hour), two = result(Outcome::passed, "gpu-2");
  auto held = cell("", {one, two, hang});
  EXPECT_EQ(held.verdict, Decision::held) << "a suspicion opens nothing";
  EXPECT_THAT(held.reasons[0], HasSubstr("on gpu-9, which is suspect: it passed on gpu-1 and gpu-2"));
  ASSERT_EQ(verdict_.notes.size(), 1u);
  EXPECT_EQ(verdict_.notes[0].code, "G030");
  EXPECT_EQ(verdict_.notes[0].place, "gpu-9");
  // It is told also when a later pass has made the cell ready.
  EXPECT_EQ(cell("", {one, hang, result(Outcome::passed, "gpu-2", 0)}).verdict, Decision::ready);
  EXPECT_EQ(verdict_.notes.size(), 1u);
  for (const auto& few : {std::vector{one, hang}, std::vector{one, result(Outcome::passed, "gpu-1"), hang},
                          std::vector{one, two, result(Outcome::failed, "gpu-9", k_one_minute)}}) {
    cell("", few);
    EXPECT_THAT(verdict_.notes, IsEmpty());
  }
}

TEST_F(Attempts, AGpuIsProvenByTheMachineAndNotByAReport) {
  const std::string gpu = "[[suite]]\nname = \"smoke\"\ngpu = true\n";
  auto seen = result(Outcome::passed, "gpu-1");
  seen.machine["gpu_targets"] = "gfx942";
  EXPECT_EQ(cell(gpu, {seen}).verdict, Decision::ready);
  auto said = seen;
  said.reported = "rocm-sdk.test/1 of gpu-1";
  auto held = cell(gpu, {said});
  EXPECT_EQ(held.verdict, Decision::held);
  EXPECT_THAT(held.reasons[0], HasSubstr("takes a report's word for the GPU"));
  EXPECT_EQ(cell("", {said}).verdict, Decision::ready) << "a suite that asks for no GPU takes the report";
  // `reported = "accept"` counts on Windows only: elsewhere quarry reads the topology. The cell is held for that alone.
  auto accepting =
      testing::parsed_policy("[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\n"
                             "suites = [\"smoke\"]\n" +
                             gpu + "reported = \"accept\"\n[[signer]]\nname = \"ci\"\nkey = \"" +
                             Ed25519PrivateKey::create()->public_key().base64() + "\"\nsigns = [\"evidence\"]\n");
  accepting.signers.clear();
  input_.evidence = as_stored({said});
  auto word = judge(accepting, input_).cells.at(0);
  EXPECT_EQ(word.verdict, Decision::held);
  EXPECT_THAT(word.reasons[0], HasSubstr("where quarry reads it from the kernel"));
  said.result = Outcome::failed;
  said.passed = 0;
  EXPECT_EQ(state_of(cell(gpu, {said})), SuiteState::failed) << "a failure holds wherever it happened";
}

TEST_F(Attempts, ACpuProvesNothingOfAGpuFamily) {
  auto cpu = result(Outcome::passed, "cpu-1");
  cpu.cell.backend = "cpu";
  EXPECT_EQ(cell("", {cpu}).verdict, Decision::held);
  input_.evidence = as_stored({cpu});
  auto asked = judge(testing::parsed_policy("[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\n"
                                            "pythons = [\"*\"]\nsuites = [\"smoke\"]\nbackend = \"cpu\"\n"),
                     input_);
  EXPECT_EQ(asked.verdict, Decision::held) << "the rule does not cover a set with a family";
  // A set without a family, such as jaxlib's.
  auto& file = input_.subjects[0].set.files[0];
  file.filename = "jaxlib-0.9.1-cp312-cp312-manylinux_2_28_x86_64.whl";
  file.project = "jaxlib";
  cpu.cell = {Platform::linux, "", "3.12", "", "cpu"};
  cpu.subjects = {file};
  input_.evidence = as_stored({cpu});
  const std::string rule = "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"3.12\"]\n"
                           "suites = [\"smoke\"]\nbackend = ";
  EXPECT_EQ(judge(testing::parsed_policy(rule + "\"cpu\"\n"), input_).verdict, Decision::ready);
  EXPECT_EQ(judge(testing::parsed_policy(rule + "\"gpu\"\n"), input_).verdict, Decision::held);
}

TEST(PolicyOfMachines, SurvivesItsCanonicalForm) {
  auto policy = testing::parsed_policy(
      std::string(k_require) + "backend = \"cpu\"\n[[suite]]\nname = \"smoke\"\ngpu = true\nreported = \"accept\"\n"
                               "[[signer]]\nname = \"ci\"\nkey = \"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\"\n"
                               "signs = [\"evidence\"]\n[[machine]]\nname = \"gpu-9\"\nreason = \"fans\"\n"
                               "until = \"2026-12-01\"\n[attempts]\nqueue_limit = \"2h\"\nrun_limit = \"3h\"\n");
  auto again = parse_stored_policy({canonical_json(policy), "stored"});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->digest, policy.digest);
  EXPECT_EQ(again->machines.at(0).name, "gpu-9");
  EXPECT_EQ(again->patience.queue_us, 2 * k_attempts_hour);
  EXPECT_TRUE(again->suites.at(0).reported);
  EXPECT_EQ(again->requirements.at(0).backend, "cpu");
  // What a policy does not say changes no digest: channels are bound to digests of earlier versions.
  auto plain = canonical_json(testing::parsed_policy(k_require));
  for (const auto* key : {"machine", "attempts", "backend", "reported"}) EXPECT_EQ(plain.find(key), plain.npos) << key;
}

TEST(PolicyOfMachines, RefusesWhatMeansNothing) {
  const std::string head = std::string("schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"1d\"\n") + k_require;
  for (const auto* wrong :
       {"[[machine]]\nname = \"a\"\nreason = \"r\"\n", "[[machine]]\nname = \"a\"\nuntil = \"2026-12-01\"\n",
        "[[machine]]\nname = \" \"\nreason = \"r\"\nuntil = \"2026-12-01\"\n",
        "[[machine]]\nname = \"a\"\nreason = \"r\"\nuntil = \"soon\"\n",
        "[[machine]]\nname = \"a\"\nreason = \"r\"\nuntil = \"2026-12-01\"\n[[machine]]\nname = \"a\"\n"
        "reason = \"r\"\nuntil = \"2026-12-01\"\n",
        "[attempts]\nqueue_limit = \"0m\"\n", "[attempts]\nlimit = \"1h\"\n", "backend = \"tpu\"\n",
        "[[suite]]\nname = \"smoke\"\nmin_passed = 2\nreported = \"accept\"\n",
        "[[suite]]\nname = \"smoke\"\ngpu = true\nreported = \"accept\"\n"}) {
    auto policy = parse_policy({head + wrong, "p.toml"});
    ASSERT_FALSE(policy) << wrong;
    EXPECT_EQ(policy.error().code, "G002") << wrong;
    EXPECT_THAT(policy.error().message, StartsWith("p.toml:"));
  }
  auto family = head;
  family.replace(family.find("[\"*\"]"), 5, "[\"gfx94X-*\"]");
  EXPECT_FALSE(parse_policy({family + "backend = \"cpu\"\n", "p.toml"}));
}

} // namespace
} // namespace quarry::gate
