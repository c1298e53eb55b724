#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "buildlog/noise.hpp"
#include "buildlog/tests.hpp"
#include "cli/commands.hpp"
#include "cli/log_rules.hpp"
#include "cli/records.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using buildlog::TestInVariants;
using buildlog::TestsReport;

constexpr std::size_t k_report_rows = 20;

std::string report_cell(std::string_view text) { return text::one_line(buildlog::shown(text, text.size())); }

std::string report_first_line(const std::string& text) { return report_cell(text.substr(0, text.find('\n'))); }

Section in_variants(std::string title, const std::vector<TestInVariants>& tests, bool with_variants) {
  Section section{std::move(title), {"test"}, {k_name}, {}, "", k_report_rows};
  if (with_variants) {
    section.header.push_back("in");
    section.columns.push_back(k_text);
  }
  section.header.push_back("why");
  section.columns.push_back(k_name);
  for (const auto& test : tests) {
    std::vector<Cell> row{report_cell(test.test)};
    if (with_variants) row.emplace_back(report_cell(text::join(test.variants, ", ")));
    row.emplace_back(report_first_line(test.message));
    section.rows.push_back(std::move(row));
  }
  return section;
}

std::vector<Section> report_sections_of(const TestsReport& report) {
  Section counts{"tests",
                 {"variant", "run", "passed", "failed", "skipped", "time"},
                 {k_name, k_number, k_number, k_number, k_number, k_number},
                 {}};
  for (const auto& v : report.variants)
    counts.rows.push_back({report_cell(v.variant),
                           units::count(v.run),
                           units::count(v.passed),
                           {units::count(v.failed), v.failed > 0 ? Tone::bad : Tone::plain},
                           units::count(v.skipped),
                           duration_text(v.seconds)});
  for (const auto& v : report.variants)
    if (v.impossible_times > 0)
      counts.text += fmt::format("{}{}: the time of {} test{} is not a duration of up to a year and counts as 0 s",
                                 counts.text.empty() ? "" : "; ", report_cell(v.variant),
                                 units::count(v.impossible_times), v.impossible_times == 1 ? "" : "s");
  Section flaky{"passed and failed in one variant",
                {"test", "variant", "passed", "failed"},
                {k_name, k_text, k_number, k_number},
                {},
                "",
                k_report_rows};
  for (const auto& f : report.flaky)
    flaky.rows.push_back({report_cell(f.test), report_cell(f.variant), units::count(f.passed), units::count(f.failed)});
  Section slowest{"slowest", {"time", "variant", "test"}, {k_number, k_text, k_name}, {}};
  for (const auto& s : report.slowest)
    slowest.rows.push_back({duration_text(s.seconds), report_cell(s.variant), report_cell(s.test)});
  bool several = report.variants.size() > 1;
  return {counts,
          in_variants("failed", report.failed, several),
          flaky,
          in_variants(several ? "skipped in all variants" : "skipped", report.skipped_everywhere, false),
          in_variants("skipped in some variants", report.skipped_in_some, true),
          slowest};
}

Json in_variants_json(const std::vector<TestInVariants>& tests) {
  Json list = Json::array();
  for (const auto& t : tests) list.push_back({{"test", t.test}, {"message", t.message}, {"variants", t.variants}});
  return list;
}

Json report_document_of(const TestsReport& report) {
  Json variants = Json::array(), flaky = Json::array(), slowest = Json::array();
  for (const auto& v : report.variants)
    variants.push_back({{"variant", v.variant},
                        {"reports", v.reports},
                        {"run", v.run},
                        {"passed", v.passed},
                        {"failed", v.failed},
                        {"skipped", v.skipped},
                        {"seconds", v.seconds},
                        {"impossible_times", v.impossible_times}});
  for (const auto& f : report.flaky)
    flaky.push_back({{"test", f.test}, {"variant", f.variant}, {"passed", f.passed}, {"failed", f.failed}});
  for (const auto& s : report.slowest)
    slowest.push_back({{"test", s.test}, {"variant", s.variant}, {"seconds", s.seconds}});
  return {{"variants", variants},
          {"failed", in_variants_json(report.failed)},
          {"flaky", flaky},
          {"skipped_everywhere", in_variants_json(report.skipped_everywhere)},
          {"skipped_in_some", in_variants_json(report.skipped_in_some)},
          {"slowest", slowest}};
}

Result<int> run_test_report(Context& context, const Arguments& arguments) {
  TRY(auto files, buildlog::find_reports(arguments.operands));
  Findings findings;
  TRY(auto report, buildlog::report_tests(files, findings));
  bool unreadable = has_errors(findings);
  for (const auto& variant : report.variants)
    if (variant.run + variant.skipped == 0)
      findings.push_back({"X520", Severity::error, variant.variant, "its reports name no test",
                          "look at the job that wrote them: nothing failed, since nothing was tried"});
  print_report(context, arguments, report_sections_of(report), findings);
  auto document = report_document_of(report);
  document["findings"] = findings_json(findings);
  context.out.document(document);
  if (unreadable) return traits(ErrorKind::corrupt).exit_code;
  return report.failed.empty() && !has_errors(findings) ? 0 : traits(ErrorKind::failed).exit_code;
}
} // namespace

Command test_report_command() {
  return {
      .path = {"test", "report"},
      .summary = "JUnit reports of several variants side by side",
      .description =
          "Prints for each variant how many tests were run, passed, failed and skipped; the tests that failed; those "
          "that passed and failed in one variant; those that are skipped in all variants and in some; the slowest. "
          "A variant is called like its file, or like the directory if files of several directories have one name, or "
          "as `LABEL=FILE` says; reports with one label are repetitions of one variant. `-` is standard input, and "
          "holds one report.",
      .operands = {{.name = "JUNIT",
                    .help =
                        "a JUnit report, a directory of them, or - for standard input; LABEL=FILE names the variant",
                    .repeats = true}},
      .flags = {format_flag()},
      .examples = {{"quarry test report py3.12=a.xml py3.13=b.xml --format markdown",
                    "two variants, for a pull request"},
                   {"quarry test report run=first.xml run=second.xml", "which tests are flaky"}},
      .exit_codes = {{1, "a test failed and never passed in its variant, or a variant has no test"},
                     {6, "a report cannot be read; the others are reported"}},
      .schema = "quarry.test-report/1",
      .run = run_test_report};
}

} // namespace quarry::cli
