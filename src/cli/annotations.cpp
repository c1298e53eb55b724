#include "cli/annotations.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
std::string_view workflow_command(Severity severity) {
  return severity == Severity::note ? "notice" : to_string(severity);
}

/// Workflow commands end at a line break and escape by percent; values of properties also have `:` and `,`.
std::string escaped_data(std::string_view text, bool property) {
  auto made = text::replace_all(text::replace_all(text, "%", "%25"), "\r", "%0D");
  made = text::replace_all(made, "\n", "%0A");
  return property ? text::replace_all(text::replace_all(made, ":", "%3A"), ",", "%2C") : made;
}
} // namespace

std::string annotations(const std::vector<workflow::Located>& findings) {
  std::map<std::string_view, std::size_t> total, shown;
  for (const auto& one : findings) ++total[workflow_command(one.severity)];
  std::string lines;
  for (const auto& one : findings) {
    auto command = workflow_command(one.severity);
    auto number = ++shown[command];
    if (number > k_annotations_max) continue;
    auto message = one.message;
    if (number == k_annotations_max && total[command] > number)
      message += fmt::format("\n{} more are in the log", total[command] - number);
    lines +=
        fmt::format("::{} file={},line={},col={},title={}::{}\n", command, escaped_data(one.file, true),
                    std::max(one.at.line, 1u), std::max(one.at.column, 1u), one.code, escaped_data(message, false));
  }
  return lines;
}

Json sarif(const std::vector<workflow::Located>& findings, const std::vector<Rule>& rules, const std::string& version) {
  Json rule_list = Json::array(), results = Json::array();
  for (const auto& rule : rules) rule_list.push_back({{"id", rule.code}, {"shortDescription", {{"text", rule.title}}}});
  for (const auto& one : findings) {
    auto message = one.fix.empty() ? one.message : one.message + "\n" + one.fix;
    Json region = {{"startLine", std::max(one.at.line, 1u)}, {"startColumn", std::max(one.at.column, 1u)}};
    Json location = {
        {"physicalLocation", {{"artifactLocation", {{"uri", text::percent_encode(one.file)}}}, {"region", region}}}};
    results.push_back({{"ruleId", one.code},
                       {"level", to_string(one.severity)},
                       {"message", {{"text", message}}},
                       {"locations", Json::array({location})}});
  }
  Json driver = {{"name", "quarry workflow lint"}, {"version", version}, {"rules", rule_list}};
  Json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return {{"version", "2.1.0"}, {"runs", Json::array({run})}};
}

} // namespace quarry::cli
