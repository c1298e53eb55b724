#include "cli/annotations.hpp"

#include "base/text.hpp"
#include "run/locator.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_line_max = 1'000'000'000; // beyond, a number behind a colon is not a line

std::string_view workflow_command(Severity severity) {
  return severity == Severity::note ? "notice" : to_string(severity);
}

std::string with_fix(const PlacedFinding& one) { return one.fix.empty() ? one.message : one.message + "\n" + one.fix; }

/// Workflow commands end at a line break and escape by percent; values of properties also have `:` and `,`.
std::string escaped_data(std::string_view text, bool property) {
  auto made = text::replace_all(text::replace_all(text, "%", "%25"), "\r", "%0D");
  made = text::replace_all(made, "\n", "%0A");
  return property ? text::replace_all(text::replace_all(made, ":", "%3A"), ",", "%2C") : made;
}

/// XML 1.0 has no control characters but tab and line breaks, not even escaped.
std::string xml_text(std::string_view text) {
  std::string kept;
  for (char c : text)
    if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') kept += c;
  return text::html_escape(kept);
}

} // namespace

std::vector<PlacedFinding> placed(const Findings& findings) {
  std::vector<PlacedFinding> out;
  for (const auto& one : findings) {
    auto colon = one.place.rfind(':');
    auto line = colon == one.place.npos ? std::nullopt : text::parse_u64(std::string_view(one.place).substr(colon + 1));
    // "run:42" and "set:12345678" are places of a store, not lines of a file.
    bool has_line = line && *line <= k_line_max && !run::names_no_file(one.place);
    out.push_back({one.code, one.severity, has_line ? one.place.substr(0, colon) : one.place,
                   has_line ? static_cast<unsigned>(*line) : 0, 0, one.message, one.fix});
  }
  return out;
}

std::string annotations(const std::vector<PlacedFinding>& findings, std::string_view rest) {
  std::map<std::string_view, std::size_t> total, shown;
  for (const auto& one : findings) ++total[workflow_command(one.severity)];
  std::string lines;
  for (const auto& one : findings) {
    auto command = workflow_command(one.severity);
    auto number = ++shown[command];
    if (number > k_annotations_max) continue;
    auto message = with_fix(one);
    if (number == k_annotations_max && total[command] > number)
      message += fmt::format("\n{} more: {}", total[command] - number, rest);
    lines += fmt::format("::{} file={},line={},col={},title={}::{}\n", command, escaped_data(one.file, true),
                         std::max(one.line, 1u), std::max(one.column, 1u), one.code, escaped_data(message, false));
  }
  return lines;
}

Json sarif(const std::vector<PlacedFinding>& findings, const std::vector<Rule>& rules, const SarifTool& tool) {
  Json rule_list = Json::array(), results = Json::array();
  for (const auto& rule : rules)
    rule_list.push_back({{"id", rule.code},
                         {"shortDescription", {{"text", rule.title}}},
                         {"fullDescription", {{"text", rule.about}}},
                         {"help", {{"text", rule.fix}}}});
  for (const auto& one : findings) {
    Json region = {{"startLine", std::max(one.line, 1u)}, {"startColumn", std::max(one.column, 1u)}};
    Json location = {
        {"physicalLocation", {{"artifactLocation", {{"uri", text::percent_encode(one.file)}}}, {"region", region}}}};
    results.push_back({{"ruleId", one.code},
                       {"level", to_string(one.severity)},
                       {"message", {{"text", with_fix(one)}}},
                       {"locations", Json::array({location})}});
  }
  Json driver = {{"name", tool.name}, {"version", tool.version}, {"rules", rule_list}};
  Json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
}

std::string junit(const std::vector<PlacedFinding>& findings, const std::vector<Rule>& rules,
                  const std::string& suite) {
  std::string cases;
  std::size_t tests = 1, failures = 0; // with "all other rules"
  for (const auto& rule : rules) {
    std::string lines;
    bool failed = false;
    for (const auto& one : findings) {
      if (one.code != rule.code) continue;
      failed = failed || one.severity == Severity::error;
      lines += fmt::format("{}: {}: {}\n", to_string(one.severity), one.file, one.message);
      if (!one.fix.empty()) lines += "  " + one.fix + "\n";
    }
    ++tests;
    failures += failed ? 1 : 0;
    auto title = fmt::format("{} {}", rule.code, rule.title);
    auto body = failed ? fmt::format("<failure message=\"{}\">{}</failure>", xml_text(rule.title), xml_text(lines))
                       : fmt::format("<system-out>{}</system-out>", xml_text(lines));
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", xml_text(suite), xml_text(title),
                         body);
  }
  cases += fmt::format("    <testcase classname=\"{}\" name=\"all other rules\"/>\n", xml_text(suite));
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                     "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
                     xml_text(suite), tests, failures, cases);
}

} // namespace quarry::cli
