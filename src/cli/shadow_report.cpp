#include "cli/shadow_report.hpp"

#include "base/units.hpp"
#include "cli/records.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace quarry::cli {

using shadow::Topic;

namespace {
constexpr std::size_t k_value_columns = 1000; // of a value in a finding; --json has all of it

const char* code_of(Topic topic) {
  switch (topic) {
  case Topic::keys: return "Q510";
  case Topic::packages: return "Q511";
  case Topic::pages: return "Q512";
  case Topic::outputs: return "Q513";
  case Topic::verdicts: return "Q514";
  }
  return "Q510";
}

std::string short_value(const std::string& value) {
  if (value.empty()) return "-";
  return value.size() <= k_value_columns ? value : value.substr(0, k_value_columns) + "…";
}

/// ": VALUE", unless the place says all.
std::string value_text(const std::string& value) {
  return value.empty() || value == "there" || value == "offered" ? "" : ": " + short_value(value);
}

std::string place_text(const shadow::Difference& each) {
  return each.where.empty() ? each.place : fmt::format("{} in {}", each.place, each.where);
}

std::string what_differs(const shadow::Difference& each) {
  if (each.place.ends_with("!ours")) return "only ours has it" + value_text(each.ours);
  if (each.place.ends_with("!theirs")) return "only theirs has it" + value_text(each.theirs);
  if (each.topic == Topic::packages) return fmt::format("{}: {}", each.kind, short_value(each.what));
  return fmt::format("ours {}, theirs {}", short_value(each.ours), short_value(each.theirs));
}

std::string row_for(const shadow::Difference& each) {
  return fmt::format("if it is meant, add the line `#{}<TAB>{}<TAB>REASON` to a file, and name it with --differences",
                     to_string(each.topic), each.place);
}

Json difference_json(const shadow::Difference& each) {
  auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  return {{"place", each.place},           {"where", text(each.where)},
          {"kind", text(each.kind)},       {"ours", each.ours},
          {"theirs", each.theirs},         {"what", text(each.what)},
          {"explained", each.explained()}, {"reason", text(each.reason)}};
}

using Reasons = std::map<std::pair<Topic, std::string>, std::vector<const shadow::Difference*>>;
} // namespace

std::uint64_t ShadowReport::unexplained() const {
  std::uint64_t sum = 0;
  for (const auto& [topic, section] : sections) sum += section.unexplained();
  return sum;
}

std::string shadow_text(const ShadowReport& report, bool all) {
  auto text = fmt::format("ours    {}\ntheirs  {}\n\n{:<10}{:>9}{:>11}{:>13}\n", report.ours, report.theirs, "",
                          "equal", "explained", "unexplained");
  Reasons reasons;
  for (const auto& [topic, section] : report.sections) {
    text += fmt::format("{:<10}{:>9}{:>11}{:>13}\n", to_string(topic), units::count(section.equal),
                        units::count(section.explained()), units::count(section.unexplained()));
    for (const auto& each : section.differences)
      if (each.explained()) reasons[{topic, each.reason}].push_back(&each);
  }
  if (!reasons.empty()) text += "\nexplained:\n";
  for (const auto& [key, differences] : reasons) {
    text += fmt::format("{:>6}  {:<9} {}\n", units::count(differences.size()), to_string(key.first), key.second);
    if (!all) continue;
    for (const auto* each : differences) text += fmt::format("                    {}\n", place_text(*each));
  }
  return text;
}

Json shadow_json(const ShadowReport& report) {
  Json sections = Json::object();
  for (const auto& [topic, section] : report.sections) {
    Json differences = Json::array();
    for (const auto& each : section.differences) differences.push_back(difference_json(each));
    sections[std::string(to_string(topic))] = {{"equal", section.equal},
                                               {"explained", section.explained()},
                                               {"unexplained", section.unexplained()},
                                               {"differences", differences}};
  }
  return {{"ours", report.ours},
          {"theirs", report.theirs},
          {"unexplained", report.unexplained()},
          {"sections", sections},
          {"findings", findings_json(shadow_findings(report))}};
}

Findings shadow_findings(const ShadowReport& report) {
  Findings findings;
  for (const auto& [topic, section] : report.sections)
    for (const auto& each : section.differences)
      if (!each.explained())
        findings.push_back({code_of(topic), Severity::error, place_text(each), what_differs(each), row_for(each)});
  return findings;
}

} // namespace quarry::cli
