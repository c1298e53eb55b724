#include "base/units.hpp"
#include "buildlog/compare.hpp"
#include "buildlog/timeline_page.hpp"
#include "buildlog/times.hpp"
#include "cli/commands.hpp"
#include "cli/log_rules.hpp"
#include "cli/records.hpp"
#include "sys/file.hpp"
#include <cmath>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using buildlog::Saving;
using buildlog::TimeReport;

constexpr double k_action_seconds_shown = 5; // shorter ones are not what a build waits for

struct Read {
  std::vector<TimeReport> reports;
  std::vector<Saving> savings;
  Findings findings;
};

const Flag k_targets{"--targets", "NOW=THEN", "what fewer GPU targets would save, such as 9=2"},
    k_cached{.name = "--cached", .value = "PHASE", .help = "what a cache of this phase would save", .repeats = true},
    k_shared{.name = "--shared",
             .value = "PHASE",
             .help = "what doing this phase once for all variants would save",
             .repeats = true},
    k_html{"--html", "FILE", "also write a page with the timeline, which needs no other file"};

/// The page must not replace a log that it is made from.
Result<void> check_page(const Arguments& arguments) {
  auto file = arguments.find("--html");
  if (!file) return {};
  if (*file == "-")
    return fail(ErrorKind::invalid_argument, "C006", "--html needs a file: tables go to standard output", "name one");
  if (sys::is_directory(*file))
    return fail(ErrorKind::invalid_argument, "C006", fmt::format("--html {} is a directory", *file),
                fmt::format("name a file in it: --html {}{}times.html", *file, file->ends_with('/') ? "" : "/"));
  auto page = sys::real_path(*file);
  for (const auto& operand : arguments.operands)
    for (const auto& log : {operand, operand.substr(operand.find('=') + 1)}) {
      auto read = sys::real_path(log);
      bool below =
          page && read && page->starts_with(*read + "/") && (page->ends_with(".log") || page->ends_with(".txt"));
      if (page && read && (*page == *read || below))
        return fail(ErrorKind::invalid_argument, "C042", fmt::format("--html {} is a log that is read", *file),
                    "name another file for the page");
    }
  return {};
}

Result<Read> read_times(Context& context, const Arguments& arguments) {
  TRY_DO(check_page(arguments));
  Read read;
  std::optional<buildlog::TargetCount> targets;
  if (auto said = arguments.find("--targets")) {
    TRY(targets, buildlog::parse_targets(*said));
  }
  TRY(auto rules, load_log_rules(context, arguments));
  TRY(auto logs, find_logs(arguments, read.findings));
  auto times = [&](const buildlog::Input& log) { return buildlog::report_times(log, rules); };
  TRY(read.reports, reports_of<TimeReport>(context, logs, times, read.findings));
  if (targets) read.savings.push_back(buildlog::fewer_targets(read.reports, *targets));
  for (const auto& name : arguments.list("--cached")) {
    TRY(auto saving, buildlog::cached_phase(read.reports, name));
    read.savings.push_back(std::move(saving));
  }
  for (const auto& name : arguments.list("--shared")) {
    TRY(auto saving, buildlog::shared_phase(read.reports, name));
    read.savings.push_back(std::move(saving));
  }
  if (auto file = arguments.find("--html"))
    TRY_DO(sys::write_file(*file, buildlog::timeline_page(read.reports, read.savings)), "while writing --html");
  return read;
}

int exit_code_of(const Read& read) { return has_errors(read.findings) ? traits(ErrorKind::corrupt).exit_code : 0; }

std::string duration(double seconds) { return seconds <= 0 ? "0 s" : duration_text(seconds); }

Section savings_section(const Read& read) {
  Section section{"what a change would save", {"change"}, {k_name}, {}};
  for (const auto& report : read.reports) {
    section.header.push_back(report.variant);
    section.columns.push_back(k_number);
  }
  section.header.insert(section.header.end(), {"all", "from"});
  section.columns.insert(section.columns.end(), {k_number, k_text});
  for (const auto& saving : read.savings) {
    std::vector<Cell> row{saving.change};
    for (auto seconds : saving.seconds) row.emplace_back(duration(seconds));
    row.emplace_back(duration(saving.total));
    row.emplace_back(saving.basis);
    section.rows.push_back(std::move(row));
  }
  return section;
}

/// A phase of a log without stamps whose tool did not print how long it took.
bool is_known(const TimeReport& report, const buildlog::PhaseTime& phase) {
  return report.stamped || phase.seconds > 0;
}

void add_sections(const TimeReport& report, std::vector<Section>& into) {
  Section phases{report.variant + ": " + duration(report.total),
                 {"phase", "time", "share", "times"},
                 {k_name, k_number, k_number, k_number},
                 {},
                 report.stamped ? ""
                                : "the lines have no time stamps: only what tools print about themselves is known"};
  // Without stamps nobody knows how long the job took: no shares then.
  auto share = [&](double seconds) { return report.stamped ? units::percent(seconds, report.total) : std::string(); };
  for (const auto& phase : report.phases)
    phases.rows.push_back({phase.name, is_known(report, phase) ? duration(phase.seconds) : "unknown",
                           share(phase.seconds), units::count(phase.times)});
  phases.rows.push_back(
      {"unattributed", report.stamped ? duration(report.unattributed) : "unknown", share(report.unattributed), ""});
  if (report.stamped && report.unattributed > report.total / 2)
    phases.text = "no rule claims most of the time; --rules adds phases (docs/formats/log-rules.md)";
  into.push_back(std::move(phases));
  Section steps{
      "steps of the job", {"time", "share", "line", "step"}, {k_number, k_number, k_number, k_name}, {}, "", 10};
  for (const auto& step : report.steps)
    if (step.seconds >= 1)
      steps.rows.push_back(
          {duration(step.seconds), units::percent(step.seconds, report.total), units::count(step.line), step.name});
  into.push_back(std::move(steps));
  Section actions{"longest actions",
                  {"time", "alone", "lines", "phase", "action"},
                  {k_number, k_number, k_number, k_text, k_name},
                  {},
                  "",
                  10};
  for (const auto& action : report.actions)
    if (action.seconds >= k_action_seconds_shown)
      actions.rows.push_back(
          {duration(action.seconds), duration(action.alone), units::count(action.lines), action.phase, action.name});
  into.push_back(std::move(actions));
  Section builds{"critical paths, as Bazel prints them",
                 {"phase", "elapsed", "critical path", "share", "actions"},
                 {k_text, k_number, k_number, k_number, k_number},
                 {}};
  for (const auto& build : report.builds)
    if (build.critical >= 0)
      builds.rows.push_back({build.phase, duration(build.elapsed), duration(build.critical),
                             units::percent(build.critical, build.elapsed), units::count(build.actions)});
  into.push_back(std::move(builds));
}

Json number(double seconds) { return std::round(seconds * 1000) / 1000; }

Json report_json(const TimeReport& report) {
  Json phases = Json::array(), actions = Json::array(), builds = Json::array(), intervals = Json::array();
  for (const auto& p : report.phases)
    phases.push_back({{"name", p.name}, {"seconds", number(p.seconds)}, {"times", p.times}});
  for (const auto& a : report.actions)
    actions.push_back({{"name", a.name},
                       {"phase", a.phase},
                       {"seconds", number(a.seconds)},
                       {"alone", number(a.alone)},
                       {"lines", a.lines},
                       {"device", a.device}});
  for (const auto& b : report.builds)
    builds.push_back({{"phase", b.phase},
                      {"target", b.target},
                      {"elapsed", number(b.elapsed)},
                      {"critical_path", b.critical < 0 ? Json(nullptr) : number(b.critical)},
                      {"actions", b.actions}});
  for (const auto& i : report.intervals)
    intervals.push_back({{"name", i.name}, {"begin", number(i.begin)}, {"end", number(i.end)}});
  Json steps = Json::array();
  for (const auto& s : report.steps)
    steps.push_back({{"name", s.name}, {"seconds", number(s.seconds)}, {"line", s.line}});
  return {{"name", report.name},
          {"variant", report.variant},
          {"stamped", report.stamped},
          {"total", number(report.total)},
          {"unattributed", number(report.unattributed)},
          {"lines", report.lines},
          {"phases", phases},
          {"steps", steps},
          {"actions", actions},
          {"builds", builds},
          {"intervals", intervals}};
}

Json savings_json(const std::vector<Saving>& savings) {
  Json list = Json::array();
  for (const auto& saving : savings) {
    Json seconds = Json::array();
    for (auto value : saving.seconds) seconds.push_back(number(value));
    list.push_back(
        {{"change", saving.change}, {"basis", saving.basis}, {"seconds", seconds}, {"total", number(saving.total)}});
  }
  return list;
}

Json reports_json(const std::vector<TimeReport>& reports) {
  Json list = Json::array();
  for (const auto& report : reports) list.push_back(report_json(report));
  return list;
}

Result<int> run_time_report(Context& context, const Arguments& arguments) {
  TRY(auto read, read_times(context, arguments));
  std::vector<Section> sections;
  for (const auto& report : read.reports) add_sections(report, sections);
  sections.push_back(savings_section(read));
  print_report(context, arguments, sections, read.findings);
  context.out.document({{"logs", reports_json(read.reports)},
                        {"savings", savings_json(read.savings)},
                        {"findings", findings_json(read.findings)}});
  return exit_code_of(read);
}

const Operand k_log{.name = "FILE",
                    .help = "a log, a zip of logs, a directory, or - for standard input; LABEL=FILE names it",
                    .repeats = true};

Command time_report_command() {
  return {.path = {"time", "report"},
          .summary = "where the time of a build went, from its log",
          .description =
              "Prints the phases of each log with their share, and the time that no phase claims in a row of its own; "
              "the steps of a GitHub job that took longest; the actions that Bazel's progress names longest, and how "
              "long the build waited for one of them alone; the "
              "critical paths that Bazel prints. Times come from the stamps of GitHub or teatime; a log without stamps "
              "shows what docker, Bazel and pytest print about themselves.\n\n"
              "`--targets`, `--cached` and `--shared` estimate what a change would save, at least. Which lines begin "
              "and end a phase is data: docs/formats/log-rules.md.",
          .operands = {k_log},
          .flags = {k_targets, k_cached, k_shared, k_html, format_flag(), log_rules_flag()},
          .examples = {{"quarry time report build.log --html times.html", "a table, and a page with the timeline"},
                       {"quarry time report logs.zip --targets 9=2 --cached llvm --shared pjrt",
                        "what three changes would save in all variants"}},
          .exit_codes = {{2, "no log says anything about time, or a phase is unknown"},
                         {6, "a log cannot be read, or says nothing about time; the others are reported"}},
          .schema = "quarry.time-report/1",
          .run = run_time_report};
}

// time compare

std::string verdict(const buildlog::TimeComparison& found) {
  bool differs = false;
  for (const auto& runner : found.runners) differs = differs || runner.low > 1;
  auto actions = found.same_actions ? ", with equal numbers of actions" : "";
  if (!differs) return fmt::format("the runners do not differ provably{}", actions);
  return fmt::format("{:.0f} % of the differences between variants are the runner's{}", found.runner_share * 100,
                     actions);
}

Result<int> run_compare(Context& context, const Arguments& arguments) {
  TRY(auto read, read_times(context, arguments));
  TRY(auto found, buildlog::compare_times(read.reports));
  Section runners{
      verdict(found),
      {"variant", "time", "runner", "95 %", "content"},
      {k_name, k_number, k_number, k_text, k_number},
      {},
      fmt::format("from {} {} that all variants have", found.common, found.by_steps ? "steps" : "phases and actions")};
  Json variants = Json::array(), effects = Json::array();
  for (const auto& r : found.runners) {
    runners.rows.push_back({r.variant, duration(r.total), fmt::format("{:.2f}x", r.factor),
                            fmt::format("{:.2f} to {:.2f}", r.low, r.high),
                            fmt::format("{:+d} s", std::lround(r.content))});
    variants.push_back({{"variant", r.variant},
                        {"total", number(r.total)},
                        {"factor", number(r.factor)},
                        {"low", number(r.low)},
                        {"high", number(r.high)},
                        {"content_seconds", number(r.content)}});
  }
  Section unusual{"what is slower or faster than its runner explains",
                  {"variant", "time", "expected", "what"},
                  {k_text, k_number, k_number, k_name},
                  {},
                  "",
                  12};
  for (const auto& e : found.effects) {
    unusual.rows.push_back({e.variant, duration(e.seconds), duration(e.expected), e.what});
    effects.push_back(
        {{"variant", e.variant}, {"what", e.what}, {"seconds", number(e.seconds)}, {"expected", number(e.expected)}});
  }
  print_report(context, arguments, {runners, unusual, savings_section(read)}, read.findings);
  context.out.document({{"common", found.common},
                        {"by_steps", found.by_steps},
                        {"runner_share", number(found.runner_share)},
                        {"same_actions", found.same_actions},
                        {"variants", variants},
                        {"effects", effects},
                        {"savings", savings_json(read.savings)},
                        {"findings", findings_json(read.findings)}});
  return exit_code_of(read);
}

Command compare_command() {
  return {
      .path = {"time", "compare"},
      .summary = "whether variants are slow because of their runners or their content",
      .description =
          "Takes the durations of the phases and actions that all logs have in common and splits them into a factor "
          "of each runner and the rest, which belongs to what is built (median polish). Logs with fewer than three "
          "of them in common are compared by the steps of the GitHub job. A factor is against the "
          "fastest runner; where its interval of 95 % holds 1, nothing is proven.",
      .operands = {k_log},
      .flags = {k_targets, k_cached, k_shared, k_html, format_flag(), log_rules_flag()},
      .examples = {{"quarry time compare py3.12=a.log py3.13=b.log", "two variants of one build"}},
      .exit_codes = {{2, "the logs have too little in common"},
                     {6, "a log cannot be read, or says nothing about time; the others are compared"}},
      .schema = "quarry.time-compare/1",
      .run = run_compare};
}
} // namespace

std::vector<Command> time_commands() { return {time_report_command(), compare_command()}; }

} // namespace quarry::cli
