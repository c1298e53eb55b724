#include "base/text.hpp"
#include "base/units.hpp"
#include "buildlog/difference.hpp"
#include "buildlog/report.hpp"
#include "cli/commands.hpp"
#include "cli/finding_formats.hpp"
#include "cli/log_rules.hpp"
#include "cli/records.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using buildlog::LogReport;

constexpr std::uint64_t k_run_lines_shown = 100; // shorter runs fit a screen
constexpr std::size_t k_log_rows = 12;           // of tables that may be long; --json has all of them

std::string share(std::uint64_t part, std::uint64_t whole) {
  return units::percent(static_cast<double>(part), static_cast<double>(whole));
}
double seconds_of(std::int64_t us) { return static_cast<double>(us) / 1e6; }

// log report

std::string days_text(std::int64_t days) { return fmt::format("{} day{}", days, days == 1 || days == -1 ? "" : "s"); }

std::string counts_text(const Findings& findings) {
  auto count = [&](Severity severity, std::string_view word) {
    return units::things(static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity)), word);
  };
  return fmt::format("{}, {}, {}", count(Severity::error, "error"), count(Severity::warning, "warning"),
                     count(Severity::note, "note"));
}

Result<buildlog::FindingOptions> finding_options(const Context& context, const Arguments& arguments) {
  TRY(auto today, today_of(context, arguments));
  buildlog::FindingOptions options{buildlog::days_of(today), -1};
  auto within = arguments.find("--fail-within");
  if (!within) return options;
  auto digits = within->ends_with('d') ? within->substr(0, within->size() - 1) : *within;
  constexpr std::uint64_t k_days_max = 36'500; // a century
  auto days = text::parse_u64(digits);
  if (!days || *days > k_days_max)
    return fail(ErrorKind::invalid_argument, "X505", fmt::format("--fail-within {} is not a number of days", *within),
                "write it as 60d");
  options.fail_within = static_cast<std::int64_t>(*days);
  return options;
}

void add_noise(const LogReport& report, std::vector<Section>& into) {
  Section noise{"noise", {"source", "lines", "share", ""}, {k_name, k_number, k_number, k_name}, {}};
  for (const auto& row : report.noise)
    noise.rows.push_back({row.source, units::count(row.lines), share(row.lines, report.lines), row.remark});
  if (!report.noise.empty())
    noise.rows.push_back({"all noise", units::count(report.noise_lines), share(report.noise_lines, report.lines), ""});
  into.push_back(std::move(noise));
  Section runs{
      "runs of one source", {"lines", "from line", "time", "what"}, {k_number, k_number, k_number, k_name}, {}, "", 8};
  for (const auto& run : report.runs)
    if (run.lines >= k_run_lines_shown)
      runs.rows.push_back({units::count(run.lines), units::count(run.first),
                           run.span_us > 0 ? duration_text(seconds_of(run.span_us)) : "",
                           run.source + (run.subject.empty() ? "" : ": " + run.subject)});
  into.push_back(std::move(runs));
}

void add_warnings(const LogReport& report, std::int64_t today, std::vector<Section>& into) {
  Section deprecations{"deprecations", {"until", "left", "seen", "what"}, {k_text, k_number, k_number, k_name}, {}, "",
                       k_log_rows};
  for (const auto& found : report.deprecations) {
    auto left = found.day < 0 ? std::string() : days_text(found.day - today);
    deprecations.rows.push_back(
        {found.deadline.empty() ? "not said" : found.deadline, left, units::count(found.count), found.subject});
  }
  into.push_back(std::move(deprecations));
  Section warnings{
      "warnings, each once", {"seen", "kind", "what", "where"}, {k_number, k_text, k_name, k_name}, {}, "", k_log_rows};
  std::map<std::string, std::uint64_t> kinds;
  for (const auto& warning : report.warnings) kinds[warning.flag] += warning.count;
  std::vector<std::string> counts;
  for (const auto& [kind, count] : kinds) counts.push_back(fmt::format("{} {}", units::count(count), kind));
  constexpr std::size_t k_kinds_shown = 8;
  if (counts.size() > k_kinds_shown) counts.resize(k_kinds_shown);
  warnings.text = text::join(counts, ", ");
  if (report.uncounted_warnings > 0)
    warnings.text +=
        fmt::format("; {} more beyond {} different ones are not kept",
                    units::things(report.uncounted_warnings, "warning"), units::count(buildlog::k_warnings_max));
  for (const auto& warning : report.warnings)
    warnings.rows.push_back({units::count(warning.count), warning.flag, warning.message, warning.place});
  into.push_back(std::move(warnings));
  Section passing{"printed by tests that pass", {"seen", "what"}, {k_number, k_name}, {}};
  if (report.test_passed && report.insecure_requests > 0)
    passing.rows.push_back({units::count(report.insecure_requests), "HTTPS requests without checking the certificate"});
  for (const auto& warning : report.passing) passing.rows.push_back({units::count(warning.count), warning.name});
  into.push_back(std::move(passing));
}

std::vector<Section> log_sections_of(const LogReport& report, std::int64_t today) {
  std::vector<Section> sections;
  auto head =
      fmt::format("{}: {}, {}", report.variant, units::things(report.lines, "line"), units::bytes(report.bytes));
  if (report.begin_us != buildlog::k_no_time) head += ", " + duration_text(seconds_of(report.end_us - report.begin_us));
  sections.push_back({head, {}, {}, {}, report.is_test ? "tests: " + report.test_summary : report.name});
  if (report.failure) {
    Section failure{
        "first failure", {"line", ""}, {k_number, k_name}, {}, report.failure->name + ", " + report.failure->kind};
    if (!report.failure->step.empty()) failure.text += ", in step " + report.failure->step;
    for (const auto& line : report.failure->before) failure.rows.push_back({units::count(line.number), line.text});
    failure.rows.push_back({units::count(report.failure->line), {report.failure->text, Tone::bad}});
    for (const auto& line : report.failure->behind) failure.rows.push_back({units::count(line.number), line.text});
    sections.push_back(std::move(failure));
  }
  add_noise(report, sections);
  add_warnings(report, today, sections);
  Section repeated{"other lines that come again", {"seen", "line"}, {k_number, k_name}, {}, "", 8};
  for (const auto& line : report.repeated) repeated.rows.push_back({units::count(line.count), line.text});
  sections.push_back(std::move(repeated));
  return sections;
}

Json failure_json(const std::optional<buildlog::Failure>& failure) {
  if (!failure) return nullptr;
  auto lines = [](const std::vector<buildlog::ContextLine>& list) {
    Json out = Json::array();
    for (const auto& line : list) out.push_back({{"line", line.number}, {"text", line.text}});
    return out;
  };
  return {{"name", failure->name},
          {"kind", failure->kind},
          {"line", failure->line},
          {"text", failure->text},
          {"before", lines(failure->before)},
          {"behind", lines(failure->behind)},
          {"step", failure->step.empty() ? Json(nullptr) : Json(failure->step)},
          {"proof_line", failure->proof_line},
          {"proof", failure->proof}};
}

Json log_json(const LogReport& report, std::int64_t today) {
  Json noise = Json::array(), runs = Json::array(), warnings = Json::array(), deprecations = Json::array(),
       passing = Json::array(), repeated = Json::array(), copies = Json::array(), calls = Json::array();
  for (const auto& n : report.noise)
    noise.push_back(
        {{"source", n.source}, {"lines", n.lines}, {"bytes", n.bytes}, {"remark", n.remark}, {"hint", n.hint}});
  for (const auto& r : report.runs)
    runs.push_back({{"source", r.source},
                    {"subject", r.subject},
                    {"first", r.first},
                    {"lines", r.lines},
                    {"seconds", seconds_of(r.span_us)}});
  for (const auto& w : report.warnings)
    warnings.push_back(
        {{"kind", w.flag}, {"message", w.message}, {"place", w.place}, {"count", w.count}, {"first", w.first}});
  for (const auto& d : report.deprecations)
    deprecations.push_back({{"subject", d.subject},
                            {"deadline", d.deadline.empty() ? Json(nullptr) : Json(d.deadline)},
                            {"days_left", d.day < 0 ? Json(nullptr) : Json(d.day - today)},
                            {"count", d.count},
                            {"first", d.first}});
  for (const auto& p : report.passing)
    passing.push_back({{"name", p.name}, {"text", p.text}, {"count", p.count}, {"first", p.first}});
  for (const auto& r : report.repeated) repeated.push_back({{"text", r.text}, {"count", r.count}, {"first", r.first}});
  for (const auto& c : report.copies)
    copies.push_back({{"project", c.project}, {"files", {c.first_name, c.second_name}}, {"line", c.line}});
  for (const auto& c : report.calls)
    calls.push_back({{"tool", c.tool}, {"subject", c.subject}, {"line", c.line}, {"debug_lines", c.noise}});
  return {{"name", report.name},
          {"variant", report.variant},
          {"lines", report.lines},
          {"bytes", report.bytes},
          {"noise_lines", report.noise_lines},
          {"noise", noise},
          {"runs", runs},
          {"failure", failure_json(report.failure)},
          {"warnings", warnings},
          {"warnings_left_out", report.uncounted_warnings},
          {"deprecations", deprecations},
          {"passing_warnings", passing},
          {"repeated", repeated},
          {"wheel_copies", copies},
          {"tool_calls", calls},
          {"insecure_requests", report.insecure_requests},
          {"test_summary", report.is_test ? Json(report.test_summary) : Json(nullptr)}};
}

Result<int> run_report(Context& context, const Arguments& arguments) {
  TRY(auto options, finding_options(context, arguments));
  TRY(auto rules, load_log_rules(context, arguments));
  Findings findings;
  TRY(auto logs, find_logs(arguments, findings));
  auto read = [&](const buildlog::Input& log) { return buildlog::report_log(log, rules); };
  TRY(auto reports, reports_of<LogReport>(context, logs, read, findings));
  bool unreadable = has_errors(findings);
  auto found = buildlog::findings_of(reports, rules, options);
  findings.insert(findings.end(), found.begin(), found.end());
  std::vector<Section> sections;
  Json list = Json::array();
  for (const auto& report : reports) {
    for (auto& section : log_sections_of(report, options.today)) sections.push_back(std::move(section));
    if (context.out.json()) list.push_back(log_json(report, options.today));
  }
  auto format = arguments.get("--format");
  if (format == "text" || format == "markdown") print_report(context, arguments, sections, findings);
  TRY_DO(print_for_programs(context, placed(findings), {format, "quarry log report", counts_text(findings)}));
  context.out.document({{"logs", list}, {"findings", findings_json(findings)}});
  if (unreadable) return traits(ErrorKind::corrupt).exit_code;
  return has_errors(findings) ? traits(ErrorKind::failed).exit_code : 0;
}

Command report_command() {
  return {
      .path = {"log", "report"},
      .summary = "what is in the logs of a build or test job",
      .description =
          "Reads logs of any size in one pass and prints, for each: the lines that say nothing, by source; long runs "
          "of "
          "them as one line; the first failure with the lines around it; every warning once, with its count; "
          "deprecations "
          "with the day from which on they break the build; what tests print although they pass; lines that come again "
          "and again.\n\n"
          "Findings are deadlines, HTTPS requests whose certificate is not checked, a tool that is verbose in one call "
          "and "
          "not in the others, a wheel that is in one directory before and after auditwheel, and the first failure of "
          "a "
          "job that failed. A line that says `error` is a failure only if another line proves that the job failed. "
          "What "
          "several logs have, such as those of a matrix, is one finding that names them; its place is in the first.\n\n"
          "A FILE is a log, a zip of a run's logs as GitHub gives it, or a directory; `LABEL=FILE` names it. `-` is "
          "standard input, which is read into memory, up to 512 MiB. The output of `gh run view --log` is one log for "
          "each job. Stamps of GitHub, teatime and docker and ANSI escapes are removed. What lines mean is data: "
          "docs/formats/log-rules.md.",
      .operands = {{.name = "FILE",
                    .help = "a log, a zip of logs, a directory, or - for standard input; LABEL=FILE names it",
                    .repeats = true}},
      .flags = {{"--fail-within", "DAYS",
                 "exit 1 if a deprecation's deadline is at most so many days away, such as 60d"},
                {"--today", "DATE", "the day that deadlines are counted from, such as 2026-02-24 (default: today)"},
                findings_format_flag({"text", "markdown", "github", "sarif"},
                                     "the report as text or Markdown, or its findings for programs"),
                log_rules_flag()},
      .examples = {{"quarry log report logs.zip --fail-within 60d", "all jobs of a run, as a check"},
                   {"quarry log report build.log --format markdown", "for a pull request"},
                   {"gh run view 22368 --log-failed | quarry log report -", "the failed jobs of a run"},
                   {"quarry log report py3.11.log py3.12.log --format github",
                    "in a GitHub job: annotations, and all findings in the step summary"}},
      .exit_codes = {{1, "a job failed, or a deadline is near"},
                     {2, "all files are empty or no logs"},
                     {6, "a log cannot be read; the others are reported"}},
      .schema = "quarry.log-report/1",
      .run = run_report};
}

// log diff

Result<buildlog::Input> one_log(const std::string& named, Findings& findings) {
  TRY(auto logs, buildlog::find_inputs(named, findings));
  if (logs.size() == 1) return std::move(logs.front());
  std::vector<std::string> names;
  for (const auto& log : logs) names.push_back(log.variant);
  bool one_text = logs[0].name == logs[1].name; // of several jobs, as `gh run view --log` prints it
  bool zipped = logs[0].name.find('!') != std::string::npos;
  auto hint = one_text
                  ? "save the log of one job: `gh run view --log --job ID > job.log` (`gh run view RUN` lists the ids)"
              : zipped ? "unpack the zip and name the log of one job"
                       : "name the log of one job";
  return fail(ErrorKind::invalid_argument, "X502",
              fmt::format("{} holds {} logs ({}); one is compared with one", named, logs.size(), text::first(names, 3)),
              hint);
}

Result<int> run_log_diff(Context& context, const Arguments& arguments) {
  TRY(auto rules, load_log_rules(context, arguments));
  Findings findings;
  TRY(auto good, one_log(arguments.operands.at(0), findings));
  TRY(auto bad, one_log(arguments.operands.at(1), findings));
  TRY(auto difference, buildlog::compare_logs(good, bad, rules));
  bool fails = difference.failure.has_value();
  Section head{fmt::format("{} of {} lines are new in {}", units::count(difference.fresh_lines),
                           units::count(difference.bad_lines), bad.variant),
               {},
               {},
               {},
               fmt::format("compared with {} of {}", units::things(difference.good_lines, "line"), good.variant)};
  Section fresh{"new lines", {"line", "seen", "text"}, {k_number, k_number, k_text}, {}, "", 60};
  Json lines = Json::array();
  std::string under;
  for (const auto& line : difference.fresh) {
    if (!line.under.empty() && line.under != under) fresh.rows.push_back({"", "in both", line.under});
    under = line.under;
    fresh.rows.push_back(
        {units::count(line.first), units::count(line.count), {line.text, line.failure ? Tone::bad : Tone::plain}});
    lines.push_back({{"text", line.text}, {"line", line.first}, {"count", line.count}, {"failure", line.failure}});
    if (!line.under.empty()) lines.back()["under"] = line.under;
  }
  if (!difference.all_known)
    context.out.warn(
        fmt::format("warning: {} has more than {} different lines; lines that only the others have may be shown as new",
                    good.name, units::count(buildlog::k_known_max)));
  if (fails)
    findings.push_back({"X517", Severity::error, fmt::format("{}:{}", bad.name, difference.failure->line),
                        difference.failure->name + ": " + difference.failure->text, ""});
  print_report(context, arguments, {head, fresh}, findings);
  context.out.document({{"good", good.name},
                        {"bad", bad.name},
                        {"good_lines", difference.good_lines},
                        {"bad_lines", difference.bad_lines},
                        {"new_lines", difference.fresh_lines},
                        {"lines", lines},
                        {"left_out", difference.left_out},
                        {"failure", failure_json(difference.failure)},
                        {"findings", findings_json(findings)}});
  return fails ? traits(ErrorKind::failed).exit_code : 0;
}

Command log_diff_command() {
  return {
      .path = {"log", "diff"},
      .summary = "what a bad log says and a good one does not",
      .description =
          "Prints the lines of BAD that GOOD does not have, in the order of BAD. Numbers, digests and names of "
          "temporary directories do not count, and noise is left out. The good log is best the last one of the same "
          "job that passed.",
      .operands = {{.name = "GOOD", .help = "the log of a job that passed, or a zip with one log"},
                   {.name = "BAD", .help = "the log of a job that failed, or a zip with one log"}},
      .flags = {format_flag(), log_rules_flag()},
      .examples = {{"quarry log diff passed.log failed.log", "what the failed job says that is new"}},
      .exit_codes = {{1, "a line of BAD proves that its job failed"}},
      .schema = "quarry.log-diff/1",
      .run = run_log_diff};
}
} // namespace

std::vector<Command> log_commands() { return {report_command(), log_diff_command()}; }

} // namespace quarry::cli
