#include "cli/rule_report.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/codes.hpp"
#include "cli/finding_formats.hpp"
#include "cli/grouped.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_rule_file_bytes_max = 1u << 20;  // a few thousand suppressions
constexpr std::uint64_t k_baseline_bytes_max = 256u << 20; // a document of half a million findings
constexpr std::string_view k_profiles = "data/profiles/";

Result<Findings> findings_of_document(const std::string& file, const std::string& schema) {
  auto no_document = [&](const std::string& why) {
    return fail(ErrorKind::corrupt, "Q012", fmt::format("--baseline {}: {}", file, why),
                "write one with `--json > FILE` of the same command");
  };
  TRY(auto text, sys::read_file(file, k_baseline_bytes_max), "while reading --baseline");
  auto document = json::parse({text, file});
  if (!document) return no_document(document.error().message);
  auto written = document->is_object() ? json::string_or(*document, "schema", "") : std::string();
  if (written != schema)
    return no_document(written.empty() ? fmt::format("it is not a {} document", schema)
                                       : fmt::format("it is a {} document, not {}", written, schema));
  if (!document->contains("findings") || !(*document)["findings"].is_array()) return no_document("it has no findings");
  Findings findings;
  for (const auto& each : (*document)["findings"]) {
    if (!each.is_object()) return no_document("a finding is not an object");
    for (const char* key : {"code", "place", "message"})
      if (!each.contains(key) || !each[key].is_string()) return no_document(fmt::format("a finding has no `{}`", key));
    findings.push_back({each["code"],
                        json::string_or(each, "severity", "error") == "error" ? Severity::error : Severity::warning,
                        each["place"],
                        each["message"],
                        {}});
  }
  return findings;
}

std::size_t count_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
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

/// A sentence as the other hints are written: "link with …".
std::string as_hint(std::string text) {
  auto is_upper = [&](std::size_t i) { return i < text.size() && ascii::is_upper(text[i]); };
  if (is_upper(0) && !is_upper(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  if (text.ends_with('.')) text.pop_back();
  return text;
}

Result<void> add_fixes(const Context& context, Findings& findings) {
  auto lacks = [](const Finding& each) { return each.fix.empty(); };
  if (std::ranges::none_of(findings, lacks)) return {};
  TRY(auto codes, load_codes(context.resources));
  for (auto& each : findings)
    if (auto known = codes.find(each.code); lacks(each) && known != codes.end()) each.fix = as_hint(known->second.fix);
  return {};
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
      findings_format_flag({"text", "json", "github", "sarif", "junit"})};
}

Result<inspect::RuleProfile> rule_profile_of(const Context& context, const Arguments& arguments) {
  TRY(auto codes, load_codes(context.resources));
  auto fits = fits_code_of(codes);
  auto said = arguments.get("--profile");
  auto name = fmt::format("{}{}.toml", k_profiles, said);
  if (auto text = said.find('/') == said.npos ? context.resources.read(name) : std::nullopt)
    return inspect::parse_rule_profile({*text, name}, fits);
  auto text = sys::read_file(said, k_rule_file_bytes_max);
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_found, "Q013", fmt::format("{} is neither a rule profile nor a file", said),
                "the profiles are store and release; those of `sdk build --profile` are about compression");
  if (!text) return fail(std::move(text).error().with_context("while reading --profile"));
  return inspect::parse_rule_profile({*text, said}, fits);
}

Result<RuleInputs> rule_inputs_of(const Context& context, const Arguments& arguments, const std::string& schema) {
  RuleInputs inputs;
  if (!arguments.get("--profile").empty()) {
    TRY(inputs.profile, rule_profile_of(context, arguments));
  }
  if (auto file = arguments.find("--suppressions")) {
    TRY(auto text, sys::read_file(*file, k_rule_file_bytes_max), "while reading --suppressions");
    TRY(auto codes, load_codes(context.resources));
    auto exists = [&](const std::string& code) { return codes.contains(code); };
    TRY(inputs.suppressions, inspect::parse_suppressions({text, *file}, exists));
  }
  if (auto file = arguments.fallbacks.contains("--baseline") ? arguments.find("--baseline") : std::nullopt) {
    TRY(inputs.known, findings_of_document(*file, schema));
  }
  return inputs;
}

Result<RuleReport> judged_by_rules(const Context& context, RuleInputs inputs, FoundByRules found) {
  auto findings = std::move(found.findings);
  TRY_DO(add_fixes(context, findings));
  if (inputs.profile) inspect::apply_profile(*inputs.profile, findings);
  RuleReport report;
  if (inputs.suppressions) {
    auto judged = inspect::apply_suppressions(std::move(findings), *inputs.suppressions,
                                              {sys::rfc3339(context.clock.now_us()).substr(0, 10), found.looks_for});
    findings = std::move(judged.findings);
    report.suppressed = std::move(judged.suppressed);
  }
  if (inputs.known) {
    auto count = findings.size();
    findings = inspect::without_known(std::move(findings), {std::move(*inputs.known)});
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
  TRY_DO(print_for_programs(context, placed(report.findings), {format, words.suite, counts_of(report)}));
  context.out.document(document, format == "json");
  return {};
}

} // namespace quarry::cli
