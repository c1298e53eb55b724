#include "gate/family.hpp"
#include "gate/gate.hpp"

#include "gate/testing/policies.hpp"
#include "gate/testing/stored.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <functional>
#include <gmock/gmock.h>

namespace quarry::gate {
namespace {

using registry::Cell;
using registry::EvidenceRecord;
using registry::FileRecord;
using registry::Outcome;
using registry::WaiverRecord;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::int64_t k_now = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
constexpr std::int64_t k_minute = 60'000'000, k_hour = 60 * k_minute, k_day = 24 * k_hour;

FileRecord file(const std::string& name, const std::string& project, const std::string& bytes = "") {
  FileRecord record;
  record.filename = name;
  record.project = project;
  record.version = "7.2.0";
  record.size = 10;
  record.sha256 = sha256(name + bytes);
  return record;
}

FileRecord libraries(const std::string& family) {
  auto under = family;
  for (auto& c : under) c = c == '-' ? '_' : c;
  return file("rocm_sdk_libraries_" + under + "-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-libraries-" + family);
}

registry::SetDigest digest_of_all(char digit) { return *registry::SetDigest::parse(std::string(64, digit)); }

Subject a_set(const std::vector<std::string>& families = {"gfx103x-dgpu"},
              const std::string& digest = std::string(64, 'a')) {
  Subject subject;
  subject.digest = *registry::SetDigest::parse(digest);
  subject.set.origin.platform = Platform::linux;
  subject.set.files = {file("rocm-7.2.0.tar.gz", "rocm"),
                       file("rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-core"),
                       file("rocm_sdk_devel-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-devel")};
  for (const auto& family : families) subject.set.files.push_back(libraries(family));
  return subject;
}

EvidenceRecord passed(const Subject& subject, const std::string& family = "gfx103x-dgpu") {
  EvidenceRecord e;
  for (const auto& f : subject.set.files)
    if (!f.project.starts_with("rocm-sdk-libraries-") || f.project == "rocm-sdk-libraries-" + family)
      e.subjects.push_back(f);
  e.cell = {Platform::linux, family, "3.11", ""};
  e.suite = "rocm-sdk";
  e.result = Outcome::passed;
  e.passed = 40;
  e.machine["host"] = "gpu-7";
  e.started = sys::Timestamp::from_us(k_now - 2 * k_hour - k_minute);
  e.ended = sys::Timestamp::from_us(k_now - 2 * k_hour);
  e.set = subject.digest;
  e.sealed = true;
  return e;
}

EvidenceRecord failed(const Subject& subject, const std::string& family = "gfx103x-dgpu") {
  auto e = passed(subject, family);
  e.result = Outcome::failed;
  e.passed = 2;
  e.failed = 1;
  e.rows = {
      {"test_a", Outcome::passed, "", 0}, {"test_b", Outcome::failed, "boom", 0}, {"test_c", Outcome::passed, "", 0}};
  return e;
}

EvidenceRecord at(EvidenceRecord e, std::int64_t ended) {
  e.started = sys::Timestamp::from_us(ended - k_minute);
  e.ended = sys::Timestamp::from_us(ended);
  return e;
}

WaiverRecord waiver() {
  WaiverRecord w;
  w.channel = "stable";
  w.reason = "no lab machine until Dec";
  w.approver = "ann";
  w.created = sys::Timestamp::from_us(k_now - k_hour);
  w.expires = sys::Timestamp::from_us(k_now + 5 * k_day);
  return w;
}

Policy policy(const std::string& extra = "", const std::string& states = "") {
  return gate::testing::parsed_policy(
      "approvers = [\"ann\"]\nwaiver_max_age = \"30d\"\n[states]\n" + states +
      "\n[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"gfx*\"]\npythons = [\"*\"]\n"
      "suites = [\"rocm-sdk\"]\n" +
      extra);
}

const char* k_no_runner =
    "[[family]]\nfamilies = [\"gfx103X-dgpu\"]\nstate = \"no_runner\"\nreason = \"pool has no machine since 14 Nov\"\n";
const char* k_expected = "[[family]]\nfamilies = [\"gfx103X-*\"]\nstate = \"expected_failure\"\nreason = \"driver "
                         "bug\"\nuntil = \"2026-12-15\"\n";
const char* k_expected_over = "[[family]]\nfamilies = [\"gfx103X-*\"]\nstate = \"expected_failure\"\nreason = \"driver "
                              "bug\"\nuntil = \"2026-11-20\"\n";

/// One cell, one question: the set of one family against changed evidence and waivers.
struct Row {
  const char* name;
  std::function<void(Case&)> change;
  Decision verdict;
  const char* reason;
  const char* family = "";
  const char* states = "";
  bool waived = false;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class GateRow : public ::testing::TestWithParam<Row> {};

TEST_P(GateRow, Judges) {
  const auto& row = GetParam();
  Case input;
  input.channel = "stable";
  input.subjects = {a_set()};
  input.now_us = k_now;
  row.change(input);
  auto verdict = judge(policy(row.family, row.states), input);
  ASSERT_EQ(verdict.cells.size(), 1u);
  const auto& cell = verdict.cells[0];
  EXPECT_EQ(cell.verdict, row.verdict) << ::testing::PrintToString(cell.reasons);
  EXPECT_EQ(verdict.verdict, row.verdict);
  EXPECT_EQ(verdict.would_hold, row.verdict == Decision::held);
  EXPECT_EQ(cell.waived, row.waived);
  EXPECT_THAT(cell.reasons, Contains(HasSubstr(row.reason)));
}

const Subject k_set = a_set();
std::function<void(Case&)> with(std::function<void(EvidenceRecord&)> change) {
  return [change](Case& c) {
    auto e = passed(k_set);
    change(e);
    c.evidence = as_stored({e});
  };
}
std::function<void(Case&)> waived_by(std::function<void(WaiverRecord&)> change) {
  return [change](Case& c) {
    auto w = waiver();
    change(w);
    c.waivers = waivers_stored({w});
  };
}
std::function<void(Case&)> records(std::vector<EvidenceRecord> evidence) {
  return [evidence](Case& c) { c.evidence = as_stored(evidence); };
}
constexpr auto k_ready = Decision::ready, k_held = Decision::held;

INSTANTIATE_TEST_SUITE_P(
    Evidence, GateRow,
    ::testing::Values(
        Row{"passed_on_these_files", with([](auto&) {}), k_ready,
            "rocm-sdk passed on these files 2 h ago (gpu-7, 40 passed)"},
        Row{"family_spelled_otherwise", with([](auto& e) { e.cell.family = "gfx103X_dgpu"; }), k_ready, "passed"},
        Row{"nothing_at_all", [](Case&) {}, k_held, "no evidence of rocm-sdk"},
        Row{"failed", records({failed(k_set)}), k_held, "rocm-sdk failed 1 of 3: test_b, 2 h ago"},
        Row{"error", with([](auto& e) {
              e.result = Outcome::error;
              e.errors = 1;
            }),
            k_held, "failed 1 of 41"},
        Row{"timed_out", with([](auto& e) { e.result = Outcome::timed_out; }), k_held, "ran into its deadline"},
        Row{"unknown_result", with([](auto& e) { e.result = Outcome::read("ok"); }), k_held,
            "one result has the unknown outcome \"ok\""},
        Row{"empty_result", with([](auto& e) { e.result = {}; }), k_held, "the unknown outcome \"\""},
        Row{"other_suite", with([](auto& e) { e.suite = "smoke"; }), k_held, "no evidence of rocm-sdk"},
        Row{"other_platform", with([](auto& e) { e.cell.platform = Platform::windows; }), k_held, "no evidence"},
        Row{"other_family", with([](auto& e) { e.cell.family = "gfx1151"; }), k_held, "no evidence"},
        Row{"no_family", with([](auto& e) { e.cell.family = ""; }), k_held, "no evidence"},
        Row{"no_python", with([](auto& e) { e.cell.python = ""; }), k_held, "no evidence"},
        Row{"other_framework", with([](auto& e) { e.cell.framework = "torch"; }), k_held,
            "no evidence of rocm-sdk: one result is about framework torch"},
        Row{"other_backend", with([](auto& e) { e.cell.backend = "cpu"; }), k_held,
            "no evidence of rocm-sdk: one result was computed on cpu"},
        Row{"one_digest_differs", with([](auto& e) { e.subjects[1].sha256 = sha256("x"); }), k_held,
            "not passed on these files: one result covers 3 of 4 files (rocm_sdk_core"},
        Row{"all_digests_differ", with([](auto& e) {
              for (auto& s : e.subjects) s.sha256 = sha256(s.filename + "x");
            }),
            k_held, "result is about other files"},
        Row{"no_subject", with([](auto& e) { e.subjects.clear(); }), k_held, "result is about other files"},
        Row{"partial", with([](auto& e) { e.subjects.pop_back(); }), k_held, "covers 3 of 4 files (rocm_sdk_libraries"},
        Row{"same_bytes_under_another_name", with([](auto& e) { e.subjects[0].filename = "other-1.tar.gz"; }), k_held,
            "covers 3 of 4 files (rocm-7.2.0.tar.gz"},
        Row{"more_than_the_cell", with([](auto& e) { e.subjects.push_back(file("evil-1-py3-none-any.whl", "evil")); }),
            k_held, "result is also about evil-1"},
        Row{"a_file_twice", with([](auto& e) { e.subjects.push_back(e.subjects[0]); }), k_held, "a file named twice"},
        Row{"a_file_twice_instead_of_another", with([](auto& e) { e.subjects[0] = e.subjects[1]; }), k_held,
            "covers 3 of 4"},
        Row{"another_set", with([](auto& e) { e.set = digest_of_all('b'); }), k_held, "result is for set bbbbbbbbbbbb"},
        Row{"another_set_and_other_files", with([](auto& e) {
              e.set = digest_of_all('b');
              e.subjects.pop_back();
            }),
            k_held, "no evidence of rocm-sdk"},
        Row{"no_set", with([](auto& e) { e.set = {}; }), k_held, "result is not bound to a set"},
        Row{"unsealed", with([](auto& e) { e.sealed = false; }), k_held, "was made from an unsealed source"},
        Row{"stale", records({at(passed(k_set), k_now - 15 * k_day)}), k_held,
            "result is 15 d old, and the policy takes at most 14 d"},
        Row{"just_fresh", records({at(passed(k_set), k_now - 14 * k_day)}), k_ready, "passed on these files 14 d ago"},
        Row{"one_microsecond_too_old", records({at(passed(k_set), k_now - 14 * k_day - 1)}), k_held, "old"},
        Row{"from_the_future", records({at(passed(k_set), k_now + 6 * k_minute)}), k_held, "result is from the future"},
        Row{"a_clock_a_little_ahead", records({at(passed(k_set), k_now + 4 * k_minute)}), k_ready,
            "less than a minute ago"},
        Row{"ended_before_it_started", with([](auto& e) { std::swap(e.started, e.ended); }), k_held,
            "ended before it started"},
        Row{"no_time", with([](auto& e) { e.ended = {}; }), k_held, "has times that cannot be read"},
        Row{"passed_with_failures", with([](auto& e) { e.failed = 1; }), k_held, "says passed and counts failures"},
        Row{"passed_with_errors", with([](auto& e) { e.errors = 1; }), k_held, "says passed and counts failures"},
        Row{"passed_without_a_test", with([](auto& e) {
              e.passed = 0;
              e.skipped = 40;
            }),
            k_held, "no test has passed"},
        Row{"rows_hide_a_failure", with([](auto& e) {
              e.passed = 1;
              e.rows = {{"a", Outcome::failed, "", 0}};
            }),
            k_held, "has counts that do not agree with its rows"},
        Row{"rows_of_unknown_outcome", with([](auto& e) {
              e.passed = 1;
              e.rows = {{"a", Outcome::passed, "", 0}, {"b", Outcome::read("maybe"), "", 0}};
            }),
            k_held, "has counts that do not agree"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Several, GateRow,
    ::testing::Values(
        Row{"later_pass_wins", records({at(failed(k_set), k_now - 3 * k_hour), at(passed(k_set), k_now - k_hour)}),
            k_ready, "passed"},
        Row{"testing_until_it_passes_is_told",
            records({at(failed(k_set), k_now - 4 * k_hour), at(failed(k_set), k_now - 3 * k_hour),
                     at(failed(k_set), k_now - 20 * k_day), at(passed(k_set), k_now - k_hour)}),
            k_ready, "ago (gpu-7, 40 passed; 1 of 3 results within its age)"},
        Row{"passes_alone_are_not_counted",
            records({at(passed(k_set), k_now - 3 * k_hour), at(passed(k_set), k_now - k_hour)}), k_ready,
            "ago (gpu-7, 40 passed)"},
        Row{"later_failure_wins", records({at(passed(k_set), k_now - 3 * k_hour), at(failed(k_set), k_now - k_hour)}),
            k_held, "failed 1 of 3"},
        Row{"order_of_records_is_nothing",
            records({at(failed(k_set), k_now - k_hour), at(passed(k_set), k_now - 3 * k_hour)}), k_held,
            "failed 1 of 3"},
        Row{"a_tie_is_a_failure", records({failed(k_set), passed(k_set)}), k_held, "failed"},
        Row{"a_tie_is_a_failure_turned", records({passed(k_set), failed(k_set)}), k_held, "failed"},
        Row{"any_failure_holds", records({at(failed(k_set), k_now - 3 * k_hour), at(passed(k_set), k_now - k_hour)}),
            k_held, "failed 1 of 3", "", "flaky = \"any_failure_holds\""},
        Row{"an_old_failure_does_not",
            records({at(failed(k_set), k_now - 20 * k_day), at(passed(k_set), k_now - k_hour)}), k_ready, "passed", "",
            "flaky = \"any_failure_holds\""},
        Row{"one_pass_of_two_is_too_few", records({passed(k_set)}), k_held,
            "the policy asks for the last 2 results, and 1 counts", "", "last_n_pass = 2"},
        Row{"the_last_two_passed",
            records({at(failed(k_set), k_now - 4 * k_hour), at(passed(k_set), k_now - 3 * k_hour), passed(k_set)}),
            k_ready, "2 of 3 results", "", "last_n_pass = 2"},
        Row{"one_of_the_last_two_failed",
            records({at(passed(k_set), k_now - 5 * k_hour), at(failed(k_set), k_now - 4 * k_hour), passed(k_set)}),
            k_held, "failed 1 of 3", "", "last_n_pass = 2"},
        Row{"a_stale_pass_is_not_one_of_two", records({at(passed(k_set), k_now - 20 * k_day), passed(k_set)}), k_held,
            "and 1 counts", "", "last_n_pass = 2"},
        Row{"any_failure_holds_before_the_last_two",
            records({at(failed(k_set), k_now - 4 * k_hour), at(passed(k_set), k_now - 3 * k_hour), passed(k_set)}),
            k_held, "failed 1 of 3", "", "flaky = \"any_failure_holds\"\nlast_n_pass = 2"},
        Row{"a_suite_asks_for_more_than_the_policy",
            records({at(passed(k_set), k_now - 4 * k_hour), at(passed(k_set), k_now - 3 * k_hour), passed(k_set)}),
            k_ready, "passed", "[[suite]]\nname = \"rocm-sdk\"\nlast_n_pass = 3\n", "last_n_pass = 2"},
        Row{"a_suite_asks_for_more_than_there_are",
            records({at(passed(k_set), k_now - 3 * k_hour), passed(k_set)}), k_held, "the last 3 results, and 2 count",
            "[[suite]]\nname = \"rocm-sdk\"\nlast_n_pass = 3\n", "last_n_pass = 2"},
        Row{"too_few_is_not_without_a_runner", records({passed(k_set)}), k_held, "does not excuse it", k_no_runner,
            "no_runner = \"waive\"\nlast_n_pass = 2"},
        Row{"an_unsealed_pass_does_not_heal",
            [](Case& c) {
              auto e = passed(k_set);
              e.sealed = false;
              c.evidence = as_stored({at(failed(k_set), k_now - 3 * k_hour), e});
            },
            k_held, "failed 1 of 3"},
        Row{"skips_are_fine", with([](auto& e) { e.skipped = 3; }), k_ready, "40 passed, 3 skipped"},
        Row{"skips_of_a_machine_with_a_gpu", with([](auto& e) {
              e.skipped = 3;
              e.machine["gpu"] = "AMD GPU driver present";
            }),
            k_ready, "40 passed, 3 skipped)"},
        Row{"skips_without_a_gpu", with([](auto& e) {
              e.skipped = 3;
              e.machine["gpu"] = "none";
            }),
            k_ready, "40 passed, 3 skipped: no GPU)"},
        Row{"skips_count_as_failed", with([](auto& e) { e.skipped = 3; }), k_held, "skipped 3 of 43", "",
            "skipped_counts_as = \"failed\""}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    States, GateRow,
    ::testing::Values(
        Row{"no_runner_holds", [](Case&) {}, k_held, "no evidence of rocm-sdk: pool has no machine since 14 Nov",
            k_no_runner},
        Row{"no_runner_accepted", [](Case&) {}, k_ready, "not tested, which the policy accepts", k_no_runner,
            "no_runner = \"waive\"", true},
        Row{"no_runner_yet_passed", with([](auto&) {}), k_ready, "passed on these files", k_no_runner},
        Row{"no_runner_accepted_yet_failed", records({failed(k_set)}), k_held, "failed", k_no_runner,
            "no_runner = \"waive\""},
        Row{"expected_failure_holds", records({failed(k_set)}), k_held, "(expected: driver bug)", k_expected},
        Row{"expected_failure_accepted", records({failed(k_set)}), k_ready, "(expected: driver bug)", k_expected,
            "expected_failure = \"waive\"", true},
        Row{"expected_failure_missing", [](Case&) {}, k_held, "no evidence", k_expected,
            "expected_failure = \"waive\""},
        Row{"expected_failure_over", records({failed(k_set)}), k_held, "\"driver bug\" ended 2026-11-20",
            k_expected_over, "expected_failure = \"waive\""},
        Row{"unexpected_pass", with([](auto&) {}), k_ready, "passed", k_expected, "expected_failure = \"waive\""},
        Row{"unexpected_pass_strict", with([](auto&) {}), k_held, "remove the mark at p.toml:", k_expected,
            "expected_failure = \"strict\""},
        Row{"strict_failure", records({failed(k_set)}), k_ready, "(expected: driver bug)", k_expected,
            "expected_failure = \"strict\"", true}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Waivers, GateRow,
    ::testing::Values(
        Row{"waived", waived_by([](auto&) {}), k_ready,
            "waived by ann until 2026-11-26 12:00 UTC: no lab machine until Dec", "", "", true},
        Row{"waived_failure",
            [](Case& c) {
              c.evidence = as_stored({failed(k_set)});
              c.waivers = waivers_stored({waiver()});
            },
            k_ready, "(rocm-sdk failed 1 of 3", "", "", true},
        Row{"not_needed",
            [](Case& c) {
              c.evidence = as_stored({passed(k_set)});
              c.waivers = waivers_stored({waiver()});
            },
            k_ready, "passed on these files"},
        Row{"expired", waived_by([](auto& w) { w.expires = sys::Timestamp::from_us(k_now); }), k_held,
            "it expired 2026-11-21"},
        Row{"from_later", waived_by([](auto& w) { w.created = sys::Timestamp::from_us(k_now + k_hour); }), k_held,
            "it is from the future"},
        Row{"too_long", waived_by([](auto& w) { w.expires = sys::Timestamp::from_us(k_now + 31 * k_day); }), k_held,
            "it runs for 31 d, and the policy allows 30 d"},
        Row{"not_an_approver", waived_by([](auto& w) { w.approver = "eve"; }), k_held, "does not let eve waive"},
        Row{"nobody", waived_by([](auto& w) { w.approver = ""; }), k_held, "does not let  waive"},
        Row{"without_reason", waived_by([](auto& w) { w.reason = " "; }), k_held, "it gives no reason"},
        Row{"no_beginning", waived_by([](auto& w) { w.created = {}; }), k_held, "its times cannot be read"},
        Row{"no_expiry", waived_by([](auto& w) { w.expires = {}; }), k_held, "its times cannot be read"},
        Row{"other_channel", waived_by([](auto& w) { w.channel = "nightly"; }), k_held, "no evidence"},
        Row{"no_channel", waived_by([](auto& w) { w.channel = ""; }), k_held, "no evidence"},
        Row{"other_suite", waived_by([](auto& w) { w.suite = "smoke"; }), k_held, "no evidence"},
        Row{"this_suite", waived_by([](auto& w) { w.suite = "rocm-sdk"; }), k_ready, "waived", "", "", true},
        Row{"other_family", waived_by([](auto& w) { w.cell.family = "gfx1151"; }), k_held, "no evidence"},
        Row{"this_family", waived_by([](auto& w) { w.cell.family = "gfx103X-dgpu"; }), k_ready, "waived", "", "", true},
        Row{"other_set", waived_by([](auto& w) { w.sets = {digest_of_all('b')}; }), k_held, "no evidence"},
        Row{"this_set", waived_by([](auto& w) { w.sets = {digest_of_all('b'), digest_of_all('a')}; }), k_ready,
            "waived", "", "", true},
        Row{"second_one_is_good",
            [](Case& c) {
              auto bad = waiver();
              bad.approver = "eve";
              c.waivers = waivers_stored({bad, waiver()});
            },
            k_ready, "waived by ann", "", "", true}),
    [](const auto& row) { return std::string(row.param.name); });

Verdict judge_sets(const Policy& p, std::vector<Subject> subjects, const std::vector<EvidenceRecord>& evidence,
                   const std::vector<WaiverRecord>& waivers = {}) {
  return judge(p, Case{"stable", std::move(subjects), as_stored(evidence), waivers_stored(waivers), k_now});
}

TEST(Gate, UncoveredFamilyIsHeld) {
  auto set = a_set({"navi-thing"});
  auto verdict = judge_sets(policy(), {set}, {passed(set, "navi-thing")});
  ASSERT_EQ(verdict.cells.size(), 1u);
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_EQ(verdict.cells[0].cell.family, "navi-thing");
  EXPECT_THAT(verdict.cells[0].reasons, ElementsAre("no [[require]] of policy p covers it"));
  EXPECT_EQ(judge_sets(policy(), {set}, {}, {waiver()}).verdict, Decision::ready);
}

TEST(Gate, WindowsFilesAreNotCoveredByALinuxRule) {
  auto set = a_set();
  set.set.files.push_back(file("rocm_sdk_core-7.2.0-py3-none-win_amd64.whl", "rocm-sdk-core"));
  auto verdict = judge_sets(policy(), {set}, {passed(a_set())});
  ASSERT_EQ(verdict.cells.size(), 2u);
  EXPECT_EQ(verdict.cells[0].verdict, Decision::ready); // the Windows wheel is not among the Linux cell's files
  EXPECT_EQ(verdict.cells[1].cell.platform, Platform::windows);
  EXPECT_EQ(verdict.cells[1].verdict, Decision::held);
}

TEST(Gate, ReportOnlyNeverHoldsButSaysWhatItWould) {
  auto report = policy();
  report.mode = Mode::report_only;
  auto verdict = judge_sets(report, {a_set()}, {});
  EXPECT_EQ(verdict.verdict, Decision::ready);
  EXPECT_TRUE(verdict.would_hold);
  EXPECT_EQ(verdict.cells[0].verdict, Decision::held);
}

TEST(Gate, EachSetNeedsItsOwnEvidence) {
  auto first = a_set(), second = a_set({"gfx103x-dgpu"}, std::string(64, 'b'));
  second.set.files[1] = file("rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-core", "a library less");
  auto verdict = judge_sets(policy(), {first, second}, {passed(first)});
  ASSERT_EQ(verdict.cells.size(), 2u);
  EXPECT_EQ(verdict.cells[0].verdict, Decision::ready);
  EXPECT_EQ(verdict.cells[1].verdict, Decision::held);
  EXPECT_EQ(verdict.verdict, Decision::held);
}

TEST(Gate, EverySuiteIsNeeded) {
  auto two =
      policy("[[require]]\nplatforms=[\"*\"]\nfamilies=[\"gfx103X-dgpu\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  auto verdict = judge_sets(two, {k_set}, {passed(k_set)});
  ASSERT_EQ(verdict.cells.size(), 1u);
  EXPECT_THAT(verdict.cells[0].reasons, ElementsAre(HasSubstr("passed"), "no evidence of smoke"));
  EXPECT_EQ(verdict.verdict, Decision::held);
  auto smoke = passed(k_set);
  smoke.suite = "smoke";
  auto both = judge_sets(two, {k_set}, {passed(k_set), smoke});
  EXPECT_EQ(both.verdict, Decision::ready);
  EXPECT_EQ(both.cells[0].evidence.size(), 2u);
  EXPECT_EQ(both.cells[0].evidence[0], registry::digest_of(passed(k_set)));
}

TEST(Gate, ACellNamesWhatIsUntestedAndWhatFailed) {
  auto two = policy("[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  auto verdict = judge_sets(two, {k_set}, {failed(k_set)});
  EXPECT_THAT(verdict.cells[0].untested, ElementsAre("smoke"));
  EXPECT_THAT(verdict.cells[0].failed, ElementsAre(registry::digest_of(failed(k_set))));
  auto w = waiver();
  w.suite = "smoke";
  verdict = judge_sets(two, {k_set}, {passed(k_set)}, {w});
  EXPECT_THAT(verdict.cells[0].untested, ElementsAre());
  EXPECT_THAT(verdict.cells[0].failed, ElementsAre());
}

TEST(Gate, AFailureThatDoesNotCountIsSaid) {
  auto from_ahead = at(failed(k_set), k_now + k_hour), contradicts = at(failed(k_set), k_now - k_hour);
  contradicts.rows.pop_back();
  auto of_a_part = at(failed(k_set), k_now - k_hour);
  of_a_part.subjects.pop_back();
  for (const auto& [record, why] : {std::pair(from_ahead, "is from the future"),
                                    {contradicts, "has counts that do not agree with its rows"},
                                    {of_a_part, "covers 3 of 4 files"}}) {
    auto verdict = judge_sets(policy(), {k_set}, {passed(k_set), record});
    EXPECT_EQ(verdict.verdict, Decision::ready);
    ASSERT_EQ(verdict.notes.size(), 1u) << why;
    EXPECT_EQ(verdict.notes[0].code, "G032");
    EXPECT_EQ(verdict.notes[0].place, registry::evidence_key(registry::digest_of(record)));
    EXPECT_THAT(verdict.notes[0].message, HasSubstr(why));
  }
  auto older = at(contradicts, k_now - 3 * k_hour); // what passed since then is what counts
  EXPECT_THAT(judge_sets(policy(), {k_set}, {passed(k_set), older}).notes, IsEmpty());
  auto passes = at(passed(k_set), k_now + k_hour);
  EXPECT_THAT(judge_sets(policy(), {k_set}, {passed(k_set), passes}).notes, IsEmpty());
}

/// The verdict on records that the store got at these times.
Verdict judge_stored(const std::vector<std::pair<EvidenceRecord, std::int64_t>>& records, std::int64_t now_us = k_now) {
  Case input;
  input.channel = "stable";
  input.subjects = {k_set};
  input.now_us = now_us;
  for (const auto& [record, stored_us] : records) {
    input.evidence.push_back({registry::digest_of(record), record});
    input.stored_us[registry::digest_of(record)] = stored_us;
  }
  return judge(policy(), input);
}

TEST(Gate, AnOlderPassOfAWrongClockDoesNotBeatANewerFailure) {
  auto wrong = at(passed(k_set), k_now + 312'000'000), newer = at(failed(k_set), k_now - 1'000'000);
  for (auto now : {k_now, k_now + k_hour}) {
    auto verdict = judge_stored({{wrong, k_now}, {newer, k_now + 1'000'000}}, now);
    EXPECT_EQ(verdict.verdict, Decision::held) << "its clock is right some minutes later, and it is older all the same";
    EXPECT_THAT(verdict.cells[0].reasons, Contains(HasSubstr("failed 1 of 3")));
  }
  auto alone = judge_stored({{wrong, k_now}}, k_now + k_hour);
  EXPECT_EQ(alone.verdict, Decision::held);
  EXPECT_THAT(alone.cells[0].reasons, Contains(HasSubstr("ended 5 min after it was stored")));
}

TEST(Gate, NoResultCountsAsOneThatCameLaterThanTheStoreGotIt) {
  auto ahead = at(passed(k_set), k_now - k_hour + 4 * k_minute); // within the difference that is forgiven
  auto failure = at(failed(k_set), k_now - k_hour + k_minute);
  EXPECT_EQ(judge_stored({{ahead, k_now - k_hour}, {failure, k_now - k_hour + k_minute}}).verdict, Decision::held);
  EXPECT_EQ(judge_stored({{ahead, k_now - k_hour}}).verdict, Decision::ready);
  auto repaired = at(passed(k_set), k_now - k_minute);
  EXPECT_EQ(judge_stored({{failure, k_now - k_hour}, {repaired, k_now - k_minute}}).verdict, Decision::ready);
  auto old = at(passed(k_set), k_now - 2 * k_hour); // recorded a day late, as with `evidence record --kept`
  EXPECT_EQ(judge_stored({{old, k_now}, {failure, k_now - k_hour}}).verdict, Decision::held);
}

TEST(Gate, AFailureOfAWrongClockHoldsFromWhenItWasStored) {
  auto fails = at(failed(k_set), k_now + 3 * k_day);
  EXPECT_EQ(judge_stored({{passed(k_set), k_now - 2 * k_hour}, {fails, k_now - k_hour}}).verdict, Decision::held);
  auto later = at(passed(k_set), k_now - k_minute);
  EXPECT_EQ(judge_stored({{fails, k_now - k_hour}, {later, k_now - k_minute}}).verdict, Decision::ready);
}

TEST(Gate, AWaiverForOneSuiteLeavesTheOther) {
  auto two = policy("[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  auto w = waiver();
  w.suite = "smoke";
  auto verdict = judge_sets(two, {k_set}, {}, {w});
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_FALSE(verdict.cells[0].waived);
}

TEST(Gate, EachPythonOfTheRuleIsACell) {
  auto pythons = policy();
  pythons.requirements[0].pythons = {"3.11", "3.12"};
  auto verdict = judge_sets(pythons, {k_set}, {passed(k_set)});
  ASSERT_EQ(verdict.cells.size(), 2u);
  EXPECT_EQ(verdict.cells[0].cell, (Cell{Platform::linux, "gfx103X-dgpu", "3.11", ""}));
  EXPECT_EQ(verdict.cells[0].verdict, Decision::ready);
  EXPECT_EQ(verdict.cells[1].cell.python, "3.12");
  EXPECT_EQ(verdict.cells[1].verdict, Decision::held);
}

TEST(Gate, WheelsForParticularPythonsNeedEachOfThem) {
  auto set = a_set();
  set.set.files.push_back(file("torch-2.12.0-cp311-cp311-linux_x86_64.whl", "torch"));
  set.set.files.push_back(file("torch-2.12.0-cp312-cp312-linux_x86_64.whl", "torch"));
  auto evidence = passed(a_set());
  evidence.subjects.push_back(set.set.files[4]);
  auto verdict = judge_sets(policy(), {set}, {evidence});
  ASSERT_EQ(verdict.cells.size(), 2u);
  EXPECT_EQ(verdict.cells[0].cell.python, "3.11");
  EXPECT_EQ(verdict.cells[0].verdict, Decision::ready);
  EXPECT_EQ(verdict.cells[1].cell.python, "3.12");
  EXPECT_EQ(verdict.cells[1].verdict, Decision::held);
}

TEST(Gate, AWheelThatNoRuleCoversIsACellOfItsOwn) {
  auto only_312 =
      parse_policy({"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\napprovers = [\"ann\"]\n"
                    "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"3.12\"]\nsuites = "
                    "[\"rocm-sdk\"]\n",
                    "p.toml"});
  ASSERT_TRUE(only_312) << render(only_312.error());
  Subject subject;
  subject.digest = digest_of_all('b');
  subject.set.origin.platform = Platform::linux;
  for (const char* tag : {"cp312-cp312", "cp313-cp313"})
    subject.set.files.push_back(file(fmt::format("mytorch-1.0-{}-linux_x86_64.whl", tag), "mytorch"));
  auto evidence = passed(subject, "");
  evidence.subjects = {subject.set.files[0]};
  evidence.cell = {Platform::linux, "", "3.12", ""};
  Case input{"stable", {subject}, as_stored({evidence}), {}, k_now};
  auto verdict = judge(*only_312, input);
  ASSERT_EQ(verdict.cells.size(), 2u);
  EXPECT_EQ(verdict.cells[0].verdict, Decision::ready);
  EXPECT_EQ(verdict.cells[1].verdict, Decision::held);
  EXPECT_EQ(verdict.cells[1].cell.python, "3.13");
  EXPECT_THAT(verdict.cells[1].reasons, ElementsAre(HasSubstr("no [[require]] covers mytorch-1.0-cp313")));
  EXPECT_EQ(verdict.verdict, Decision::held);
  input.waivers = waivers_stored({waiver()});
  EXPECT_EQ(judge(*only_312, input).verdict, Decision::ready) << "somebody may take the risk, by name";
}

TEST(Gate, ASetThatLostItsFamilyIsHeld) {
  auto any = parse_policy({"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\n[[require]]\nplatforms = "
                           "[\"*\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"rocm-sdk\"]\n",
                           "p.toml"});
  ASSERT_TRUE(any) << render(any.error());
  auto subject = a_set({});
  auto evidence = passed(subject, "");
  EXPECT_EQ(judge(*any, {"stable", {subject}, as_stored({evidence}), {}, k_now}).verdict, Decision::ready);
  subject.set.origin.group = "gfx94X-dcgpu";
  auto verdict = judge(*any, {"stable", {subject}, as_stored({evidence}), {}, k_now});
  EXPECT_EQ(verdict.verdict, Decision::held);
  ASSERT_EQ(verdict.cells.size(), 2u);
  EXPECT_EQ(verdict.cells[1].cell.family, "gfx94X-dcgpu");
  EXPECT_THAT(verdict.cells[1].reasons, ElementsAre(HasSubstr("holds no package of it")));
  subject.set.subset_of = digest_of_all('c'); // the family was left out on purpose
  EXPECT_EQ(judge(*any, {"stable", {subject}, as_stored({evidence}), {}, k_now}).verdict, Decision::ready);
}

const char* k_expect = "[expect]\nplatforms = [\"linux\"]\nfamilies = [\"gfx103X-dgpu\", \"gfx94X-dcgpu\"]\nprojects = "
                       "[\"rocm-sdk-core\", \"rocm-sdk-profiler\"]\npythons = [\"3.12\"]\n";

TEST(Gate, WhatIsExpectedAndMissingIsHeld) {
  auto subject = a_set();
  auto verdict = judge(policy(k_expect), Case{"stable", {subject}, as_stored({passed(subject)}), {}, k_now});
  EXPECT_EQ(verdict.verdict, Decision::held);
  std::vector<std::string> reasons;
  for (const auto& cell : verdict.cells)
    if (cell.set.empty()) reasons.push_back(cell.reasons.at(0));
  EXPECT_THAT(reasons, ElementsAre("policy p expects rocm-sdk-profiler, which no set brings",
                                   "policy p expects packages of gfx94X-dcgpu, which no set brings"));
  EXPECT_EQ(verdict.cells[0].verdict, Decision::ready) << "the others are judged as ever";
  EXPECT_EQ(judge(policy(k_expect),
                  Case{"stable", {subject}, as_stored({passed(subject)}), waivers_stored({waiver()}), k_now})
                .verdict,
            Decision::ready);
}

TEST(Gate, WhatTheTargetHasOfTheReleaseIsNotMissing) {
  auto first = a_set({"gfx103x-dgpu"}, std::string(64, 'a')), second = a_set({"gfx94x-dcgpu"}, std::string(64, 'b'));
  first.set.files.push_back(file("rocm_sdk_profiler-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-profiler"));
  Case input{"stable", {second}, as_stored({passed(second, "gfx94x-dcgpu")}), {}, k_now};
  EXPECT_EQ(judge(policy(k_expect), input).verdict, Decision::held);
  input.present = {first};
  EXPECT_EQ(judge(policy(k_expect), input).verdict, Decision::ready);
  input.subjects.clear();
  EXPECT_TRUE(judge(policy(k_expect), input).cells.empty()) << "nothing moves, so nothing is asked";
}

TEST(Gate, WhatTheTargetHasOfAnotherReleaseDoesNotStandForThisOne) {
  auto old = a_set({"gfx103x-dgpu"}, std::string(64, 'a')), now = a_set({"gfx94x-dcgpu"}, std::string(64, 'b'));
  now.set.files.push_back(file("rocm_sdk_profiler-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-profiler"));
  for (auto& one : old.set.files) one.version = "7.1.0";
  Case input{"stable", {now}, as_stored({passed(now, "gfx94x-dcgpu")}), {}, k_now};
  for (auto* known : {&input.present, &input.elsewhere}) {
    *known = {old};
    auto verdict = judge(policy(k_expect), input);
    EXPECT_THAT(verdict.cells.back().reasons,
                ElementsAre("policy p expects packages of gfx103X-dgpu, which no set brings"));
    known->front().set.files = {libraries("gfx103x-dgpu")};
    known->front().set.files[0].version = "7.1.0";
    EXPECT_EQ(judge(policy(k_expect), input).verdict, Decision::ready) << "nothing of it moves in another version";
    known->clear();
  }
}

TEST(Gate, AnExpectedPlatformIsNotMetByPurePackagesOfAnother) {
  const auto asked = policy("[expect]\nplatforms = [\"linux\", \"windows\"]\nprojects = [\"rocm\"]\n");
  auto pure = [](const Platform& platform) {
    auto subject = a_set();
    subject.set.origin.platform = platform;
    subject.set.files.resize(1);
    subject.set.files[0].filename = "rocm-7.0-py3-none-any.whl";
    subject.set.files[0].project = "rocm";
    return subject;
  };
  auto gaps = [&](const Subject& subject) {
    std::vector<std::string> found;
    for (const auto& cell : judge(asked, Case{"stable", {subject}, {}, {}, k_now}).cells)
      if (cell.set.empty()) found.push_back(cell.reasons.front());
    return found;
  };
  EXPECT_THAT(gaps(pure(Platform::linux)), ElementsAre("policy p expects windows, and no set was built for it"));
  EXPECT_THAT(gaps(pure(Platform::windows)), ElementsAre("policy p expects linux, and no set was built for it"));
  EXPECT_THAT(gaps(pure({})), ::testing::IsEmpty()) << "of a run that names no platform";
}

TEST(Gate, AnExpectedPythonNeedsAWheelOfEachProjectThatHasSome) {
  auto any =
      parse_policy({"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\n[expect]\nplatforms = [\"linux\"]\n"
                    "pythons = [\"3.12\", \"3.13\"]\n[[require]]\nplatforms = [\"*\"]\nfamilies = [\"*\"]\npythons = "
                    "[\"*\"]\nsuites = [\"s\"]\n",
                    "p.toml"});
  ASSERT_TRUE(any) << render(any.error());
  Subject subject;
  subject.digest = digest_of_all('b');
  subject.set.origin.platform = Platform::linux;
  subject.set.files = {file("pure-1.0-py3-none-any.whl", "pure"),
                       file("torch-1.0-cp312-cp312-linux_x86_64.whl", "torch")};
  auto verdict = judge(*any, Case{"stable", {subject}, {}, {}, k_now});
  EXPECT_THAT(verdict.cells.back().reasons, ElementsAre("policy p expects Python 3.13, for which torch has no wheel"));
  EXPECT_EQ(verdict.cells.back().cell.python, "3.13");
}

TEST(Gate, AnExpectedFrameworkIsThereForEachPythonAndFamily) {
  const std::string on_linux = "[expect]\nplatforms = [\"linux\"]\nframeworks = [\"torch\"]\n";
  const std::string pythons = "pythons = [\"3.12\", \"3.13\"]\n",
                    families = "families = [\"gfx103X-dgpu\", \"gfx94X-dcgpu\"]\n";
  auto torch = [](const std::string& name, const std::string& group = "", char digit = 'b') {
    Subject subject;
    subject.digest = digest_of_all(digit);
    subject.set.origin.platform = Platform::linux;
    subject.set.origin.group = group;
    subject.set.files = {file(name, "torch")};
    return subject;
  };
  const auto sdk = a_set({"gfx103x-dgpu", "gfx94x-dcgpu"});
  auto gaps = [&](const std::string& expect, const std::vector<Subject>& subjects) {
    std::vector<std::string> found;
    for (const auto& cell : judge(policy(expect), Case{"stable", subjects, {}, {}, k_now}).cells)
      if (cell.set.empty()) found.push_back(cell.cell.framework + "|" + cell.cell.python + "|" + cell.reasons.front());
    return found;
  };
  const std::string cp312 = "torch-2.9-cp312-cp312-linux_x86_64.whl", cp313 = "torch-2.9-cp313-cp313-linux_x86_64.whl";
  EXPECT_THAT(gaps(on_linux, {sdk}), ElementsAre("torch||policy p expects torch, which no set brings"));
  EXPECT_THAT(gaps(on_linux, {sdk, torch("torch-2.9.tar.gz")}), ElementsAre(HasSubstr("expects torch,")));
  EXPECT_THAT(gaps(on_linux, {sdk, torch("torch-2.9-cp312-cp312-win_amd64.whl")}), ElementsAre(HasSubstr("torch,")));
  EXPECT_THAT(gaps(on_linux, {sdk, torch(cp312)}), IsEmpty());
  EXPECT_THAT(gaps(on_linux + pythons, {sdk, torch(cp312)}),
              ElementsAre("torch|3.13|policy p expects torch for Python 3.13, which no set brings"));
  EXPECT_THAT(gaps(on_linux + pythons, {sdk, torch(cp312), torch(cp313, "", 'c')}), IsEmpty());
  EXPECT_THAT(gaps(on_linux + families, {sdk, torch(cp312)}), IsEmpty()) << "built for all families";
  EXPECT_THAT(gaps(on_linux + families, {sdk, torch(cp312, "gfx94X-dcgpu")}),
              ElementsAre("torch||policy p expects torch for gfx103X-dgpu, which no set brings"));
  EXPECT_THAT(gaps(on_linux + pythons + families, {sdk, torch(cp312, "gfx94X-dcgpu"), torch(cp312, "gfx103X-dgpu", 'c'),
                                                   torch(cp313, "gfx94X-dcgpu", 'd')}),
              ElementsAre("torch|3.13|policy p expects torch for Python 3.13 and gfx103X-dgpu, which no set brings"));
}

TEST(Gate, FrameworkRulesAreForSetsThatHoldTheFramework) {
  auto rules = policy("[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nframeworks=[\"torch\"]"
                      "\nsuites=[\"smoke\"]\n");
  auto plain = judge_sets(rules, {k_set}, {passed(k_set)});
  EXPECT_EQ(plain.verdict, Decision::ready);
  auto set = a_set();
  set.set.files.push_back(file("torch-2.12.0-py3-none-linux_x86_64.whl", "torch"));
  auto verdict = judge_sets(rules, {set}, {});
  ASSERT_EQ(verdict.cells.size(), 1u);
  EXPECT_EQ(verdict.cells[0].cell.framework, "torch");
  EXPECT_THAT(verdict.cells[0].reasons, ElementsAre("no evidence of smoke"));
}

TEST(Gate, TheStricterAgeOfTwoRulesCounts) {
  auto rules = policy(
      "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"rocm-sdk\"]\nmax_age=\"1h\"\n");
  EXPECT_EQ(judge_sets(rules, {k_set}, {passed(k_set)}).verdict, Decision::held);
}

TEST(Gate, NoSetIsNothingToHold) {
  auto verdict = judge_sets(policy(), {}, {});
  EXPECT_EQ(verdict.verdict, Decision::ready);
  EXPECT_THAT(verdict.cells, IsEmpty());
}

TEST(Gate, ASetThatCannotBeReadIsHeldAndNotWaived) {
  auto set = a_set();
  set.set.files.push_back(file("notes.txt", "notes"));
  auto verdict = judge_sets(policy(), {set}, {passed(set)}, {waiver()});
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_THAT(verdict.cells[0].reasons, ElementsAre(HasSubstr("notes.txt")));
  Subject empty;
  empty.digest = digest_of_all('e');
  EXPECT_EQ(judge_sets(policy(), {empty}, {}, {waiver()}).verdict, Decision::held);
}

TEST(Gate, FamiliesAreSpelledAsTheRunSpellsThem) {
  auto set = a_set();
  set.set.origin.group = "gfx103X-dgpu";
  EXPECT_EQ(judge_sets(policy(), {set}, {passed(set)}).cells[0].cell.family, "gfx103X-dgpu");
  EXPECT_EQ(judge_sets(policy(k_no_runner), {a_set()}, {}).cells[0].cell.family, "gfx103X-dgpu");
}

TEST(Movable, FamiliesMoveWithoutTheHeldOnes) {
  auto set = a_set({"gfx103x-dgpu", "gfx1151"});
  auto verdict = judge_sets(policy(), {set}, {passed(set, "gfx1151")});
  ASSERT_EQ(verdict.cells.size(), 2u);
  auto moves = movable(verdict);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_FALSE(moves[0].whole);
  EXPECT_THAT(moves[0].files, ElementsAre("rocm-7.2.0.tar.gz", "rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl",
                                          "rocm_sdk_devel-7.2.0-py3-none-linux_x86_64.whl",
                                          "rocm_sdk_libraries_gfx1151-7.2.0-py3-none-linux_x86_64.whl"));
  EXPECT_THAT(moves[0].held, ElementsAre(Cell{Platform::linux, "gfx103X-dgpu", "", ""}));
}

TEST(Movable, AFamilyHeldOnOnePythonStays) {
  auto pythons = policy();
  pythons.requirements[0].pythons = {"3.11", "3.12"};
  auto moves = movable(judge_sets(pythons, {k_set}, {passed(k_set)}));
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_THAT(moves[0].files, IsEmpty());
}

TEST(Movable, WholeSetsMoveWhole) {
  auto first = a_set(), second = a_set({"gfx1151"}, std::string(64, 'b'));
  auto moves = movable(judge_sets(policy(), {first, second}, {passed(first)}));
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_TRUE(moves[0].whole);
  EXPECT_EQ(moves[0].files.size(), 4u);
  EXPECT_FALSE(moves[1].whole);
  EXPECT_THAT(moves[1].files, IsEmpty());
}

/// The five rows of TheRock's rule of February 2026, as that rule decides them, and as the shipped policy does.
struct IncumbentRow {
  const char* name;
  bool build, release_branch;
  const char* family; ///< gfx94x-dcgpu: runner; gfx110x-all on Linux: bypass; gfx906: neither
  const char* test;   ///< result of the test job, "" when it did not run
  bool incumbent, ours;
};
class IncumbentTable : public ::testing::TestWithParam<IncumbentRow> {};

TEST_P(IncumbentTable, IsExpressed) {
  const auto& row = GetParam();
  auto text = sys::read_file(QUARRY_SOURCE_DIR "/data/policies/incumbent-feb.toml");
  ASSERT_TRUE(text);
  auto shipped = parse_policy({*text, "incumbent-feb.toml"});
  ASSERT_TRUE(shipped);
  auto set = a_set({row.family});
  std::vector<Subject> sealed;
  if (row.build) sealed.push_back(set);
  std::vector<EvidenceRecord> evidence;
  if (std::string(row.test) == "success") evidence.push_back(passed(set, row.family));
  if (std::string(row.test) == "failure") evidence.push_back(failed(set, row.family));
  auto verdict = judge_sets(*shipped, sealed, evidence);
  bool promoted = !verdict.cells.empty() && verdict.verdict == Decision::ready;
  EXPECT_EQ(promoted, row.ours);
  EXPECT_EQ(row.incumbent != row.ours, row.release_branch) << "only release branches may differ";
}

INSTANTIATE_TEST_SUITE_P(
    Feb, IncumbentTable,
    ::testing::Values(IncumbentRow{"row0_release_branch_failed_build", false, true, "gfx94x-dcgpu", "", true, false},
                      IncumbentRow{"row0_release_branch_failed_tests", true, true, "gfx94x-dcgpu", "failure", true,
                                   false},
                      IncumbentRow{"row1_failed_build", false, false, "gfx94x-dcgpu", "", false, false},
                      IncumbentRow{"row1_failed_build_bypass", false, false, "gfx110x-all", "", false, false},
                      IncumbentRow{"row2_tests_failed", true, false, "gfx94x-dcgpu", "failure", false, false},
                      IncumbentRow{"row2_tests_skipped", true, false, "gfx94x-dcgpu", "", false, false},
                      IncumbentRow{"row3_no_runner_no_bypass", true, false, "gfx906", "", false, false},
                      IncumbentRow{"row4_no_runner_bypass", true, false, "gfx110x-all", "", true, true},
                      IncumbentRow{"row4_tests_passed", true, false, "gfx94x-dcgpu", "success", true, true}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Reach, FromFileNames) {
  auto reach = reach_of("a-1-py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
  ASSERT_TRUE(reach);
  EXPECT_THAT(reach->platforms, ElementsAre(Platform::linux));
  EXPECT_THAT(reach->pythons, IsEmpty());
  EXPECT_THAT(reach_of("a-1-py3-none-any.whl")->platforms, IsEmpty());
  EXPECT_THAT(reach_of("a-1-py3-none-win_amd64.whl")->platforms, ElementsAre(Platform::windows));
  EXPECT_THAT(reach_of("a-1.tar.gz")->platforms, IsEmpty());
  auto stable = reach_of("a-1-cp310-abi3-linux_x86_64.whl");
  ASSERT_TRUE(stable);
  EXPECT_TRUE(fits_python(*stable, "3.13"));
  EXPECT_TRUE(fits_python(*stable, "3.10"));
  EXPECT_FALSE(fits_python(*stable, "3.9"));
  auto one = reach_of("a-1-cp310-cp310-linux_x86_64.whl");
  EXPECT_TRUE(fits_python(*one, "3.10"));
  EXPECT_FALSE(fits_python(*one, "3.11"));
  EXPECT_FALSE(reach_of("a.exe"));
}

} // namespace
} // namespace quarry::gate
