#include "base/codes.hpp"
#include "base/units.hpp"
#include "buildlog/report.hpp"
#include "buildlog/tests.hpp"
#include "buildlog/times.hpp"
#include "cli/commands.hpp"
#include "cli/finding_formats.hpp"
#include "cli/log_rules.hpp"
#include "cli/review_report.hpp"
#include "cli/workflow_trees.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_description_bytes_max = 1u << 20; // GitHub's bound is 65,536 characters
constexpr std::int64_t k_deadline_days = 60;                // a deprecation that ends sooner is important

/// What a run recorded.
struct Recorded {
  std::vector<buildlog::LogReport> logs;
  std::vector<workflow::RecordedTime> builds;
  Findings findings;
  std::vector<Section> tables;
  std::uint64_t tests_failed = 0;
};

Result<void> read_log(const buildlog::Input& input, const buildlog::Rules& rules, Section& table, Recorded& recorded) {
  TRY(auto log, buildlog::report_log(input, rules));
  auto times = buildlog::report_times(input, rules);
  if (!times && !times.error().is(codes::no_times)) return fail(std::move(times).error());
  auto minutes = times ? times->total / 60 : 0;
  if (minutes > 0 && !log.is_test) recorded.builds.push_back({log.variant, minutes});
  table.rows.push_back({log.variant, log.is_test ? "tests" : "build", minutes > 0 ? duration_text(minutes * 60) : "",
                        units::count(log.lines)});
  recorded.logs.push_back(std::move(log));
  return {};
}

Result<void> read_runs(const Context& context, const Arguments& arguments, Recorded& recorded) {
  if (arguments.list("--run").empty()) return {};
  TRY(auto rules, load_log_rules(context, arguments));
  TRY(auto today, today_of(context, arguments));
  Section table{"logs", {"variant", "of", "time", "lines"}, {k_name, k_text, k_number, k_number}, {}};
  for (const auto& named : arguments.list("--run")) {
    TRY(auto inputs, buildlog::find_inputs(named, recorded.findings));
    for (const auto& input : inputs) TRY_DO(read_log(input, rules, table, recorded));
  }
  auto found = buildlog::findings_of(recorded.logs, rules, {buildlog::days_of(today), k_deadline_days});
  recorded.findings.insert(recorded.findings.end(), found.begin(), found.end());
  recorded.tables.push_back(std::move(table));
  return {};
}

Result<void> read_tests(const Arguments& arguments, Recorded& recorded) {
  if (arguments.list("--junit").empty()) return {};
  TRY(auto files, buildlog::find_reports(arguments.list("--junit")));
  TRY(auto report, buildlog::report_tests(files, recorded.findings));
  Section table{
      "tests", {"variant", "run", "failed", "skipped", "time"}, {k_name, k_number, k_number, k_number, k_number}, {}};
  for (const auto& one : report.variants)
    table.rows.push_back({one.variant, units::count(one.run), units::count(one.failed), units::count(one.skipped),
                          duration_text(one.seconds)});
  recorded.tests_failed = report.failed.size();
  recorded.tables.push_back(std::move(table));
  return {};
}

/// Findings of logs: they exist in each variant, so a matrix that grows multiplies them.
void add_recorded(const Recorded& recorded, workflow::Review& review) {
  auto status = review.factor > 1 ? fmt::format("existed before, now x{}", review.factor) : std::string("in the run");
  for (const auto& one : recorded.findings)
    review.findings.push_back({{one.place, {}, one.code, one.severity, one.message, one.fix}, status});
  if (recorded.tests_failed > 0)
    review.findings.push_back({{"--junit",
                                {},
                                "Y168",
                                Severity::error,
                                fmt::format("{} failed and never passed", units::things(recorded.tests_failed, "test")),
                                "look at them with `quarry test report`"},
                               "in the run"});
  std::stable_sort(review.findings.begin(), review.findings.end(),
                   [](const auto& a, const auto& b) { return a.located.severity > b.located.severity; });
}

/// A finding of a commit, a description or a log has no file in the repository: code scanning gets it at the first
/// changed file.
std::vector<workflow::Located> for_scanning(const workflow::Review& review, workflow::Tree& tree) {
  std::vector<workflow::Located> found;
  for (const auto& one : review.findings) {
    auto located = one.located;
    if (!tree.exists(located.file) && !review.history.files.empty()) {
      located.message = workflow::to_finding(located).place + ": " + located.message;
      located.file = review.history.files.front().path;
      located.at = {1, 1};
    }
    located.message += fmt::format(" ({})", one.status);
    found.push_back(std::move(located));
  }
  return found;
}

Findings for_people(const workflow::Review& review) {
  Findings shown;
  for (const auto& one : review.findings) {
    shown.push_back(workflow::to_finding(one.located));
    if (one.status != "new") shown.back().message += fmt::format(" ({})", one.status);
  }
  return shown;
}

Result<void> print_review(Context& context, const Arguments& arguments, const ReviewReport& report,
                          workflow::Tree& tree) {
  auto format = arguments.get("--format");
  auto document = review_json(report);
  if (format == "markdown") {
    TRY(auto page, review_markdown(report));
    context.out.data(page);
  }
  if (format == "sarif")
    TRY_DO(
        print_for_programs(context, placed(for_scanning(report.review, tree)), {format, "quarry workflow review", ""}));
  if (format == "text") {
    context.out.findings(for_people(report.review));
    context.out.data(review_text(report, context.out.data_look()));
  }
  context.out.document(document, format == "json");
  return {};
}

Result<workflow::ReviewOptions> review_options_of(const Context& context, const Arguments& arguments,
                                                  const Others& others) {
  workflow::ReviewOptions options;
  TRY(auto today, today_of(context, arguments));
  options.lint = {std::move(today), others.by_name, &others.refs};
  options.has_runs = !arguments.list("--run").empty() || !arguments.list("--junit").empty();
  if (auto file = arguments.find("--description")) {
    TRY(options.description, sys::read_file(*file, k_description_bytes_max), "while reading --description");
    options.description_name = *file;
  }
  return options;
}

Result<int> run_review(Context& context, const Arguments& arguments) {
  auto root = workflow_root(arguments);
  TRY_DO(workflow::check_repository(git_place(context, root, "")));
  TRY(auto others, others_of(context, arguments));
  TRY(auto options, review_options_of(context, arguments, others));
  TRY(auto history,
      workflow::read_history(git_place(context, root, ""), arguments.get("--base"), arguments.get("--head")));
  TRY(auto before, workflow::open_revision(git_place(context, root, history.base)));
  TRY(auto after, workflow::open_revision(git_place(context, root, history.head)));
  Recorded recorded;
  TRY_DO(read_runs(context, arguments, recorded));
  TRY_DO(read_tests(arguments, recorded));
  options.builds = recorded.builds;
  TRY(auto review, workflow::review(*before, *after, std::move(history), options));
  add_recorded(recorded, review);
  ReviewReport report{std::move(review), std::move(recorded.tables)};
  TRY_DO(print_review(context, arguments, report, *after));
  const auto& found = report.review.findings;
  bool important =
      std::any_of(found.begin(), found.end(), [](const auto& one) { return one.located.severity == Severity::error; });
  return important ? traits(ErrorKind::failed).exit_code : 0;
}

std::vector<Flag> review_flags() {
  return {{.name = "--base",
           .value = "REV",
           .help = "what the change is compared with; the merge base is taken",
           .required = true},
          {"--head", "REV", "the change", {}, "HEAD"},
          {"--description", "FILE", "the description of the pull request; its claims are checked"},
          {.name = "--run",
           .value = "PATH",
           .help = "logs of a run: a file, a zip or a directory; LABEL=FILE names the variant",
           .repeats = true},
          {.name = "--junit",
           .value = "FILE",
           .help = "a JUnit report of a run; LABEL=FILE names the variant",
           .repeats = true},
          with_flag(),
          online_flag(),
          log_rules_flag(),
          {"--today", "DATE", "the day from which deadlines are counted, such as 2026-02-24 (default: today)"},
          findings_format_flag({"text", "markdown", "json", "sarif"}, "how the review is written")};
}
} // namespace

Command workflow_review_command() {
  return {
      .path = {"workflow", "review"},
      .summary = "what a change does to the workflows, against what it says",
      .description =
          "Reads two revisions from git and compares the workflows: inputs, outputs and secrets, calls and what they "
          "pass, matrices, defaults, triggers, permissions, deadlines, machines, the keys and commands of steps. Then "
          "it checks what the description and the commit titles claim. A claim is a "
          "line or sentence with a verb such as add, remove, fix, pass through, wire up, rename, and a name in back "
          "quotes or "
          "with an underscore, or one that says a value: \"the default of `x` is now `y`\". Words are matched, "
          "sentences are "
          "not understood; statements that may be claims in other words are counted as not looked at.\n\n"
          "Important (exit code 1): a claim without a change behind it, a title whose edit is undone later, a new "
          "error "
          "of `workflow lint`, a failed test, a deprecation that ends within 60 days, and a weaker guard that nobody "
          "mentions: a permission to write, a lost deadline, an event such as pull_request_target. Suggestions: a way "
          "to start a "
          "changed workflow that the pull request does not run and no linked run took, new warnings of lint, a matrix "
          "that grows with its minutes, a default raised in one of "
          "several places, a lost fallback of a ref. Notes: other changes that nobody "
          "mentions.\n\n"
          "Findings of the base count only if the change makes their workflow run more often; their status says so. "
          "--run and --junit give the minutes and results of a run. Findings are printed on standard error and tables "
          "on "
          "standard output; `--format markdown` has all in one. Nothing is executed but git, and no network is used.",
      .operands = {{"DIR", "the root of a git repository, a clone or a bare one (default: .)", false}},
      .flags = review_flags(),
      .examples = {{"quarry workflow review --base origin/main --description body.md",
                    "the branch of the working directory"},
                   {"quarry workflow review --base origin/main --format markdown >> \"$GITHUB_STEP_SUMMARY\"",
                    "in CI, for people"},
                   {"quarry workflow review --base main --head jax --run py3.12=build.log",
                    "with the minutes of a run"}},
      .exit_codes = {{1, "a finding is important"}, {3, "no such revision, or no workflow file"}},
      .schema = "quarry.workflow-review/1",
      .run = run_review};
}

} // namespace quarry::cli
