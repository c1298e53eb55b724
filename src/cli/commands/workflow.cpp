#include "cli/commands.hpp"
#include "cli/finding_formats.hpp"
#include "cli/table.hpp"
#include "cli/workflow_trees.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "workflow/fix.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using workflow::Located;

constexpr unsigned k_fix_rounds_max = 100; // a fix may show what another one needs

std::map<std::string, std::size_t> by_code(const workflow::Report& report) {
  std::map<std::string, std::size_t> counts;
  for (const auto& one : report.findings) ++counts[one.code];
  return counts;
}

/// What `workflow lint` prints: what is left, and what it has dealt with before.
struct Linted {
  workflow::Report report;
  std::size_t known = 0;      ///< findings that the baseline has, too
  std::vector<Located> fixed; ///< by --fix
};

Json workflow_document_of(const Linted& linted, const std::string& directory) {
  const auto& report = linted.report;
  Json findings = Json::array(), suppressed = Json::array(), fixed = Json::array();
  for (const auto& one : linted.fixed) fixed.push_back(located_json(one));
  for (const auto& one : report.findings) findings.push_back(located_json(one));
  for (const auto& one : report.suppressed) {
    auto entry = located_json(one.finding);
    entry["reason"] = one.reason;
    entry["until"] = one.until;
    suppressed.push_back(std::move(entry));
  }
  return {{"directory", directory},
          {"workflows", report.workflows},
          {"actions", report.actions},
          {"calls", report.calls},
          {"dispatches", report.dispatches},
          {"errors", count_of(report.findings, Severity::error)},
          {"warnings", count_of(report.findings, Severity::warning)},
          {"notes", count_of(report.findings, Severity::note)},
          {"known", linted.known},
          {"fixed", fixed},
          {"by_code", by_code(report)},
          {"not_looked_at", report.not_looked_at},
          {"findings", findings},
          {"suppressed", suppressed}};
}

std::string counts_text(const workflow::Report& report) {
  return fmt::format("{}, {}, {}", units::things(count_of(report.findings, Severity::error), "error"),
                     units::things(count_of(report.findings, Severity::warning), "warning"),
                     units::things(count_of(report.findings, Severity::note), "note"));
}

using Codes = std::map<std::string, Explanation>;

std::string workflow_summary(const Linted& linted, const Codes& codes, Look look) {
  const auto& report = linted.report;
  TableRows rows;
  for (const auto& [code, count] : by_code(report)) {
    auto severity = Severity::note;
    for (const auto& one : report.findings)
      if (one.code == code) severity = std::max(severity, one.severity);
    auto tone = severity == Severity::error ? Tone::bad : severity == Severity::warning ? Tone::doubtful : Tone::plain;
    rows.push_back({code, units::count(count), Cell(std::string(to_string(severity)), tone), title_of(codes, code)});
  }
  auto text = table({k_text, k_number, k_text, k_name}, rows, look);
  text += fmt::format("{}, {}, {}, {}: {}\n", units::things(report.workflows, "workflow"),
                      units::things(report.actions, "action"), units::things(report.calls, "call"),
                      report.dispatches == 1 ? "1 dispatch" : units::count(report.dispatches) + " dispatches",
                      counts_text(report));
  if (linted.known > 0) text += fmt::format("{} existed in the baseline\n", units::things(linted.known, "finding"));
  if (!linted.fixed.empty()) text += fmt::format("{} fixed\n", units::things(linted.fixed.size(), "finding"));
  if (!report.suppressed.empty())
    text += fmt::format("{} suppressed\n", units::things(report.suppressed.size(), "finding"));
  for (const auto& [what, count] : report.not_looked_at)
    text += fmt::format("not looked at: {}, {}\n", what, units::things(count, "place"));
  return text;
}

/// The state that --baseline names, below DIR.
struct Baseline {
  std::unique_ptr<workflow::Tree> whole, tree; ///< nullptr without the flag
};

Result<Baseline> open_baseline(const Context& context, const Arguments& arguments) {
  Baseline baseline;
  auto revision = arguments.find("--baseline");
  if (!revision) return baseline;
  auto place = git_place(context, workflow_root(arguments), *revision);
  TRY(baseline.whole, workflow::open_revision(place), "while reading --baseline");
  TRY(auto prefix, workflow::git(place, {"rev-parse", "--show-prefix"})); // DIR may be a part of the repository
  baseline.tree = workflow::below(*baseline.whole, prefix.substr(0, prefix.find('\n')));
  return baseline;
}

Result<std::size_t> remove_baseline(const Baseline& baseline, workflow::LintOptions options, workflow::Report& report) {
  if (!baseline.tree) return 0;
  options.base = nullptr;
  auto before = workflow::lint(*baseline.tree, options);
  if (!before && before.error().is(codes::no_workflow)) return 0; // the change adds the first workflow
  if (!before) return fail(std::move(before).error());
  return workflow::remove_known(report, *before);
}

/// A finding of another repository ("OWNER/REPO:path") has no file in this one: code scanning and annotations get it at
/// the first workflow.
std::vector<workflow::Located> for_scanning(const workflow::Report& report) {
  auto found = report.findings;
  for (auto& one : found) {
    if (one.file.find(':') == one.file.npos || report.first_file.empty()) continue;
    one.message = workflow::to_finding(one).place + ": " + one.message;
    one.file = report.first_file;
    one.at = {1, 1};
  }
  return found;
}

Result<void> print_workflow(Context& context, const Arguments& arguments, const Linted& linted) {
  const auto& report = linted.report;
  auto format = arguments.get("--format");
  TRY_DO(
      print_for_programs(context, placed(for_scanning(report)), {format, "quarry workflow lint", counts_text(report)}));
  if (format == "text" || format == "github") {
    TRY(auto codes, load_codes_of(context.resources, "workflow"));
    Findings shown;
    for (const auto& one : report.findings)
      if (one.severity != Severity::note || arguments.has("--notes")) shown.push_back(workflow::to_finding(one));
    if (format == "text") context.out.findings(shown);
    auto text = workflow_summary(linted, codes, format == "text" ? context.out.data_look() : context.out.note_look());
    if (format == "text")
      context.out.data(text);
    else
      context.out.note(text::trim(text));
    auto notes = count_of(report.findings, Severity::note);
    if (notes > 0 && !arguments.has("--notes") && format == "text")
      context.out.note(fmt::format("hint: --notes shows the {} as well", units::things(notes, "note")));
  }
  bool asked = format == "json";
  if (asked || context.out.json()) context.out.document(workflow_document_of(linted, workflow_root(arguments)), asked);
  return {};
}

/// The new file appears whole, with the permissions of the old one. A link stays one: what it leads to is replaced.
Result<void> replace_text(std::string path, std::string_view text) {
  constexpr unsigned k_links_max = 40; // as Linux follows
  for (unsigned links = 0; links < k_links_max; ++links) {
    auto target = sys::read_link(path);
    if (!target) break;
    path = target->starts_with('/') ? *target : path::join(path::dirname(path), *target);
  }
  TRY(auto old, sys::File::open_read(path));
  TRY(auto mode, old.mode());
  TRY(auto file, sys::AtomicFile::create(path, mode));
  TRY_DO(file.file().set_mode(mode));
  TRY_DO(file.file().write(text));
  return file.commit_replace();
}

/// Writes the files of one round of edits. A finding that was fixed may have hidden another one of the same rule, so
/// the caller looks again.
Result<std::vector<Located>> write_fixes(Context& context, const Arguments& arguments, workflow::Tree& tree,
                                         const workflow::Report& report) {
  std::vector<Located> done;
  TRY(auto files, workflow::fixed_files(tree, report.findings));
  for (auto& file : files) {
    TRY_DO(replace_text(path::join(workflow_root(arguments), file.path), file.text));
    for (auto& one : file.fixed) {
      auto shown = workflow::to_finding(one);
      context.out.note(fmt::format("fixed[{}] {}: {}", one.code, shown.place, one.message));
      done.push_back(std::move(one));
    }
  }
  return done;
}

Result<int> run_lint(Context& context, const Arguments& arguments) {
  TRY(auto tree, workflow::open_directory(workflow_root(arguments)));
  TRY(auto others, others_of(context, arguments));
  TRY(auto baseline, open_baseline(context, arguments));
  workflow::LintOptions options{sys::rfc3339(context.clock.now_us()).substr(0, 10), others.by_name, &others.refs,
                                baseline.tree.get()};
  Linted linted;
  for (unsigned round = 0;; ++round) {
    TRY(linted.report, workflow::lint(*tree, options));
    TRY(linted.known, remove_baseline(baseline, options, linted.report));
    if (!arguments.has("--fix") || round == k_fix_rounds_max) break;
    TRY(auto fixed, write_fixes(context, arguments, *tree, linted.report));
    if (fixed.empty()) break;
    std::move(fixed.begin(), fixed.end(), std::back_inserter(linted.fixed));
  }
  TRY_DO(print_workflow(context, arguments, linted));
  return count_of(linted.report.findings, Severity::error) > 0 ? traits(ErrorKind::failed).exit_code : 0;
}

Command lint_command() {
  return {
      .path = {"workflow", "lint"},
      .summary = "defects across the workflow files of a repository",
      .description =
          "Reads .github/workflows and the composite actions that they use, follows calls and dispatches between them, "
          "and reports what no check of a single file sees: an input that is not forwarded, one ref for several "
          "repositories, a dispatch that passes no ref or an unknown input, defaults that drift apart, permissions "
          "that a "
          "caller does not grant, scripts that do not exist, jobs without a deadline, downloads that nobody verifies. "
          "What actionlint and zizmor find is not repeated; run them as well. Nothing is executed but git, and no "
          "network is "
          "used without --online.\n\n"
          "--with gives another repository that the workflows check out, as a directory, a bare clone or DIR@REV: "
          "paths in "
          "it are checked, and, in a clone, branches and tags. --online asks $GITHUB_SERVER_URL (default: "
          "https://github.com) about the branches and tags of all others by `git ls-remote`, and about those of "
          "actions. "
          "What cannot be looked up is counted as not looked at.\n\n"
          "A comment `# quarry: ignore Y125 reason=\"…\" until=2027-01-31` accepts a finding of its line, or of the "
          "next "
          "line when it stands alone. An error ends with exit code 1; warnings and notes do not. Findings are printed "
          "on standard error and the table on standard output: `2>&1 | less` shows both.\n\n"
          "--fix edits three kinds of findings: it takes the quotes off a boolean or a number that a called workflow "
          "gets "
          "as a text (Y110), spells an owner as most places do (Y137), and removes a suppression that matches nothing "
          "(Y107; not if anything was not looked at). It names each edit, and the others are left to you.",
      .operands = {{"DIR", "the root of a repository, or a directory of workflow files (default: .)", false}},
      .flags = {with_flag(),
                online_flag(),
                {"--baseline", "REV", "report only findings that this revision of DIR does not have"},
                {.name = "--fix", .value = "", .help = "edit the files where it is certain what to write"},
                findings_format_flag({"text", "json", "github", "sarif"}),
                {.name = "--notes", .value = "", .help = "show notes, too; they are always counted"}},
      .examples = {{"quarry workflow lint", "the repository of the working directory"},
                   {"quarry workflow lint --baseline origin/main --format github", "in CI: only what a change adds"},
                   {"quarry workflow lint --fix", "edit what is certain, then report the rest"},
                   {"quarry workflow lint --with ROCm/jax=../jax --notes", "and the paths in a checkout of ROCm/jax"}},
      .exit_codes = {{1, "a finding is an error"}, {3, "no workflow file, or no such revision"}},
      .schema = "quarry.workflow-lint/1",
      .run = run_lint};
}
} // namespace

std::vector<Command> workflow_commands() {
  return {lint_command(), workflow_graph_command(), workflow_review_command()};
}

} // namespace quarry::cli
