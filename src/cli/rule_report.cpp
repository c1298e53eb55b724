#include "cli/rule_report.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/annotations.hpp"
#include "cli/codes.hpp"
#include "cli/grouped.hpp"
#include "cli/job_files.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_rule_file_bytes_max = 1u << 20;  // a few thousand suppressions
constexpr std::uint64_t k_baseline_bytes_max = 256u << 20; // a document of half a million findings
constexpr std::string_view k_profiles = "data/profiles/";

Result<Findings> findings_of_document(const std::string& file) {
  auto no_document = [&](const std::string& why) {
    return fail(ErrorKind::corrupt, "Q012", fmt::format("--baseline {}: {}", file, why),
                "write one with `--json > FILE` of the same command");
  };
  TRY(auto text, sys::read_file(file, k_baseline_bytes_max), "while reading --baseline");
  auto document = json::parse(text, file);
  if (!document) return no_document(document.error().message);
  if (!document->is_object() || !document->contains("findings") || !(*document)["findings"].is_array())
    return no_document("it has no findings");
  Findings findings;
  for (const auto& each : (*document)["findings"]) {
    if (!each.is_object()) return no_document("a finding is not an object");
    findings.push_back({json::string_or(each, "code", ""),
                        json::string_or(each, "severity", "error") == "error" ? Severity::error : Severity::warning,
                        json::string_or(each, "place", ""),
                        json::string_or(each, "message", ""),
                        {}});
  }
  return findings;
}

std::size_t count_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

Result<std::vector<Rule>> rules_of(const Context& context, const Findings& findings) {
  TRY(auto codes, load_codes(context.resources));
  std::set<std::string> used;
  for (const auto& one : findings) used.insert(one.code);
  std::vector<Rule> rules;
  for (const auto& code : used) {
    auto known = codes.find(code);
    rules.push_back({code, known == codes.end() ? std::string() : known->second.title});
  }
  return rules;
}

/// GitHub shows ten annotations of a kind; the summary has all findings.
std::string markdown_of(const RuleReport& report, const std::string& suite) {
  if (report.findings.empty()) return {};
  auto text =
      fmt::format("### {}: {}\n\n| code | severity | place | finding |\n|---|---|---|---|\n", suite, counts_of(report));
  for (const auto& one : report.findings)
    text += fmt::format("| {} | {} | {} | {} |\n", one.code, to_string(one.severity), table_cell(one.place),
                        table_cell(one.message));
  return text;
}

Json suppressed_json(const RuleReport& report) {
  Json out = Json::array();
  for (const auto& one : report.suppressed)
    out.push_back({{"code", one.finding.code},
                   {"place", one.finding.place},
                   {"message", one.finding.message},
                   {"reason", one.by.reason},
                   {"owner", one.by.owner},
                   {"until", one.by.until}});
  return out;
}

void print_text(Context& context, const RuleReport& report, const ReportWords& words) {
  if (words.list_findings) context.out.findings(grouped(report.findings));
  bool errors = has_errors(report.findings), warnings = count_of(report.findings, Severity::warning) > 0;
  auto tone = errors ? Tone::bad : warnings ? Tone::doubtful : Tone::good;
  context.out.data(
      fmt::format("{}: {}\n", words.summary, painted(counts_of(report), tone, context.out.data_look().color)));
}
} // namespace

Flag rule_profile_flag(const std::string& fallback) {
  return {.name = "--profile",
          .value = "NAME|FILE",
          .help = "the rule profile, which says how severe findings are: store, release, or a file",
          .fallback = fallback,
          .environment = "QUARRY_RULE_PROFILE"};
}

std::vector<Flag> rule_report_flags() {
  return {
      {.name = "--suppressions",
       .value = "FILE",
       .help = "findings that are accepted, with reason, owner and last day"},
      {.name = "--baseline", .value = "FILE", .help = "report only what this --json document of an earlier run lacks"},
      {.name = "--format",
       .value = "F",
       .help = "how findings are written",
       .choices = {"text", "json", "github", "sarif", "junit"},
       .fallback = "text"}};
}

Result<inspect::RuleProfile> rule_profile_of(const Context& context, const Arguments& arguments) {
  auto said = arguments.get("--profile");
  auto name = fmt::format("{}{}.toml", k_profiles, said);
  if (auto text = said.find('/') == said.npos ? context.resources.read(name) : std::nullopt)
    return inspect::parse_rule_profile({*text, name});
  auto text = sys::read_file(said, k_rule_file_bytes_max);
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_found, "Q013", fmt::format("{} is neither a rule profile nor a file", said),
                "the profiles are store and release; those of `sdk build --profile` are about compression");
  if (!text) return fail(std::move(text).error().with_context("while reading --profile"));
  return inspect::parse_rule_profile({*text, said});
}

Result<RuleReport> judged_by_rules(const Context& context, const Arguments& arguments, Findings findings) {
  if (!arguments.get("--profile").empty()) {
    TRY(auto profile, rule_profile_of(context, arguments));
    inspect::apply_profile(profile, findings);
  }
  RuleReport report;
  if (auto file = arguments.find("--suppressions")) {
    TRY(auto text, sys::read_file(*file, k_rule_file_bytes_max), "while reading --suppressions");
    TRY(auto codes, load_codes(context.resources));
    auto exists = [&](const std::string& code) { return codes.contains(code); };
    TRY(auto suppressions, inspect::parse_suppressions({text, *file}, exists));
    auto judged = inspect::apply_suppressions(std::move(findings), suppressions,
                                              sys::rfc3339(context.clock.now_us()).substr(0, 10));
    findings = std::move(judged.findings);
    report.suppressed = std::move(judged.suppressed);
  }
  if (auto file = arguments.fallbacks.contains("--baseline") ? arguments.find("--baseline") : std::nullopt) {
    TRY(auto before, findings_of_document(*file));
    auto count = findings.size();
    findings = inspect::without_known(std::move(findings), {std::move(before)});
    report.known = count - findings.size();
  }
  report.findings = std::move(findings);
  return report;
}

bool writes_text(const Arguments& arguments) { return arguments.get("--format") == "text"; }

std::string counts_of(const RuleReport& report) {
  auto errors = count_of(report.findings, Severity::error), warnings = count_of(report.findings, Severity::warning);
  auto text = errors + warnings == 0
                  ? std::string("no errors or warnings")
                  : fmt::format("{}, {}", units::things(errors, "error"), units::things(warnings, "warning"));
  if (!report.suppressed.empty()) text += fmt::format("; {} suppressed", units::count(report.suppressed.size()));
  if (report.known > 0) text += fmt::format("; {} in the baseline", units::count(report.known));
  return text;
}

Result<void> print_rule_report(Context& context, const Arguments& arguments, const RuleReport& report,
                               const ReportWords& words, Json document) {
  auto format = arguments.get("--format");
  if (!document.contains("findings")) document["findings"] = findings_json(report.findings);
  document["suppressed"] = suppressed_json(report);
  document["known"] = report.known;
  if (format == "text") print_text(context, report, words);
  if (format == "json") context.out.data(json::pretty(document));
  if (format == "github") {
    context.out.data(annotations(placed(report.findings)));
    TRY_DO(append_for_job("GITHUB_STEP_SUMMARY", context.variable("GITHUB_STEP_SUMMARY"),
                          markdown_of(report, words.suite)));
  }
  if (format == "sarif" || format == "junit") {
    TRY(auto rules, rules_of(context, report.findings));
    context.out.data(format == "sarif" ? json::pretty(sarif(placed(report.findings), rules,
                                                            {words.suite, std::string(program_version())}))
                                       : junit(placed(report.findings), rules, words.suite));
  }
  context.out.document(document);
  return {};
}

} // namespace quarry::cli
