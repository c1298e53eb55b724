#include "cli/review_report.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/workflow_trees.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using workflow::Review;
using workflow::ReviewFinding;

std::string_view word_of(Severity severity) {
  return severity == Severity::error ? "important" : severity == Severity::warning ? "suggestion" : "note";
}

std::size_t count(const Review& review, Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(review.findings.begin(), review.findings.end(),
                    [&](const ReviewFinding& one) { return one.located.severity == severity; }));
}

/// Text of titles and descriptions as Markdown shows it: escaped, but for what stands in back quotes.
std::string escaped(std::string_view text) {
  bool balanced = std::count(text.begin(), text.end(), '`') % 2 == 0, code = false;
  std::string out;
  auto in_name = [&](std::size_t at) { // bytes of other letters, too
    return at < text.size() && std::string_view(" .,:;()[]{}<>|`'\"_*").find(text[at]) == std::string_view::npos;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '`' && balanced) code = !code;
    bool inside = c == '_' && at > 0 && in_name(at - 1) && in_name(at + 1); // GitHub leaves release_wheels alone
    bool special = c == '|' || c == '*' || c == '\\' || c == '[' || (c == '_' && !inside) || (c == '`' && !balanced);
    if (!code && (c == '<' || c == '>'))
      out += c == '<' ? "&lt;" : "&gt;";
    else if (!code && special)
      out += std::string("\\") + c;
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// A bar ends a table's cell even in back quotes.
std::string cell(std::string_view text) {
  auto out = escaped(text);
  return text::replace_all(text::replace_all(out, "\\|", "|"), "|", "\\|");
}

std::string range_of(const Review& review) {
  const auto& history = review.history;
  return fmt::format("from base `{}` to head `{}`: {}, +{} -{} lines in {}", history.base.substr(0, 9),
                     history.head.substr(0, 9), units::things(history.commits.size(), "commit"), history.added,
                     history.removed, units::things(history.files.size(), "file"));
}

std::string list(const std::vector<std::string>& items, std::string_view mark) {
  std::string out;
  for (const auto& item : items) out += fmt::format("{} {}\n", mark, escaped(item));
  return out;
}

std::string report_summary(const Review& review) {
  auto out = fmt::format("# Review of workflows\n\n## Summary\n\n{}.\n\n", range_of(review));
  out += "| commit | author | date | title |\n|---|---|---|---|\n";
  for (const auto& commit : review.history.commits)
    out += fmt::format("| {} | {} | {} | {} |\n", commit.id.substr(0, 9), cell(commit.author), commit.date,
                       cell(commit.title));
  auto important = count(review, Severity::error);
  return out + fmt::format("\nAssessment: **{}**: {}.\n", important > 0 ? "changes requested" : "ready for review",
                           review_counts(review));
}

Result<std::string> architecture(const Review& review) {
  TRY(auto before, workflow::mermaid(review.before));
  TRY(auto after, workflow::mermaid(review.after));
  if (review.after.nodes.empty() && review.before.nodes.empty()) return std::string();
  if (before == after) return fmt::format("\n## Architecture\n\nUnchanged.\n\n```mermaid\n{}```\n", after);
  return fmt::format("\n## Architecture\n\n### Before\n\n```mermaid\n{}```\n\n### After\n\n```mermaid\n{}```\n", before,
                     after);
}

std::string changes(const Review& review) {
  if (review.changes.list.empty()) return "";
  std::string out = "\n## Interfaces and calls that change\n\n| file | change |\n|---|---|\n";
  std::size_t shown = 0;
  for (const auto& change : review.changes.list) {
    if (shown++ == k_shown_changes) break;
    out += fmt::format("| {} | {} |\n", change.file, cell(workflow::sentence(change)));
  }
  if (review.changes.list.size() > k_shown_changes)
    out += fmt::format("\nand {} more\n", review.changes.list.size() - k_shown_changes);
  return out;
}

std::string findings(const Review& review) {
  std::string out = "\n## Findings\n";
  if (review.findings.empty()) return out + "\nNone.\n";
  auto last = Severity::note;
  bool first = true;
  for (const auto& one : review.findings) {
    const auto& found = one.located;
    if (first || found.severity != last) {
      auto title = std::string(word_of(found.severity));
      title[0] = static_cast<char>(title[0] - 'a' + 'A');
      out += fmt::format("\n### {}\n\n", title);
    }
    first = false;
    last = found.severity;
    out += fmt::format("- **{}** `{}`: {}\n", found.code, workflow::to_finding(found).place, escaped(found.message));
    if (!found.fix.empty()) out += fmt::format("  - recommendation: {}\n", escaped(found.fix));
    out += fmt::format("  - status: {}\n", one.status);
  }
  return out;
}

std::string report_section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format("\n## {}\n\n{}", title, body);
}

Json change_json(const workflow::Change& change) {
  return {{"file", change.file},     {"line", change.at.line},
          {"name", change.name},     {"where", change.where},
          {"detail", change.detail}, {"before", change.before},
          {"after", change.after},   {"sentence", workflow::sentence(change)}};
}
} // namespace

std::string review_counts(const Review& review) {
  return fmt::format("{}, {}, {}", units::things(count(review, Severity::error), "important finding"),
                     units::things(count(review, Severity::warning), "suggestion"),
                     units::things(count(review, Severity::note), "note"));
}

Result<std::string> review_markdown(const ReviewReport& report) {
  const auto& review = report.review;
  TRY(auto drawn, architecture(review));
  return report_summary(review) + drawn + changes(review) + findings(review) +
         report_section("Times and tests", sections_markdown(report.tables)) +
         report_section("Test plan", list(review.test_plan, "- [ ]")) +
         report_section("Checked and found right", list(review.right, "-")) +
         report_section("Not looked at", list(review.not_looked_at, "-"));
}

std::string review_text(const ReviewReport& report, Look look) {
  const auto& review = report.review;
  auto out = range_of(review) + "\n";
  auto part = [&](std::string_view title, const std::vector<std::string>& items) {
    if (items.empty()) return;
    out += fmt::format("\n{}\n", title);
    for (const auto& item : items) out += "  " + item + "\n";
  };
  std::vector<std::string> changed;
  for (const auto& change : review.changes.list) changed.push_back(change.file + ": " + workflow::sentence(change));
  part("interfaces and calls that change", changed);
  if (auto tables = sections_text(report.tables, look); !tables.empty()) out += "\n" + tables;
  part("test plan", review.test_plan);
  part("checked and found right", review.right);
  part("not looked at", review.not_looked_at);
  return out + "\n" + review_counts(review) + "\n";
}

Json review_json(const ReviewReport& report) {
  const auto& review = report.review;
  Json findings = Json::array(), changes = Json::array(), commits = Json::array(), growths = Json::array();
  for (const auto& one : review.findings) {
    auto finding = located_json(one.located);
    finding["importance"] = word_of(one.located.severity);
    finding["status"] = one.status;
    findings.push_back(std::move(finding));
  }
  for (const auto& change : review.changes.list) changes.push_back(change_json(change));
  for (const auto& one : review.history.commits)
    commits.push_back({{"id", one.id}, {"author", one.author}, {"date", one.date}, {"title", one.title}});
  for (const auto& one : review.changes.growths)
    growths.push_back({{"file", one.file},
                       {"job", one.job},
                       {"before", one.before},
                       {"after", one.after},
                       {"new_values", one.new_values}});
  return {{"base", review.history.base},
          {"head", review.history.head},
          {"commits", commits},
          {"changes", changes},
          {"growths", growths},
          {"findings", findings},
          {"important", count(review, Severity::error)},
          {"right", review.right},
          {"test_plan", review.test_plan},
          {"not_looked_at", review.not_looked_at}};
}

} // namespace quarry::cli
