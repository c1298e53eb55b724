#include "cli/sections.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {
std::string markdown_cell(std::string_view text) {
  std::string out;
  for (char c : text::one_line(text::replace_all(text, "\n", " "))) {
    if (c == '|' || c == '\\' || c == '<' || c == '>' || c == '*' || c == '_' || c == '`') out += '\\';
    out += c;
  }
  return out;
}

std::size_t shown_rows(const Section& section) {
  return section.rows_max == 0 ? section.rows.size() : std::min(section.rows_max, section.rows.size());
}

std::string left_out(const Section& section) {
  auto more = section.rows.size() - shown_rows(section);
  return more == 0 ? "" : fmt::format("and {} more; --json lists them", units::count(more));
}

bool is_empty(const Section& section) { return section.rows.empty() && section.text.empty(); }
} // namespace

Flag format_flag() {
  return {"--format", "F", "text, or Markdown for a pull request or a job summary", {"text", "markdown"}, "text"};
}

std::string sections_text(const std::vector<Section>& sections, Look look) {
  std::string out;
  for (const auto& section : sections) {
    if (is_empty(section)) continue;
    if (!out.empty()) out += "\n";
    if (!section.title.empty()) out += section.title + "\n";
    if (!section.text.empty()) out += "  " + text::one_line(section.text) + "\n";
    TableRows rows;
    if (!section.rows.empty() && !section.header.empty())
      rows.emplace_back(section.header.begin(), section.header.end());
    for (std::size_t i = 0; i < shown_rows(section); ++i) rows.push_back(section.rows[i]);
    out += table(section.columns, rows, look, 2);
    if (auto more = left_out(section); !more.empty()) out += "  " + more + "\n";
  }
  return out;
}

std::string sections_markdown(const std::vector<Section>& sections) {
  std::string out;
  for (const auto& section : sections) {
    if (is_empty(section)) continue;
    if (!out.empty()) out += "\n";
    if (!section.title.empty()) out += "### " + markdown_cell(section.title) + "\n\n";
    if (!section.text.empty()) out += markdown_cell(section.text) + "\n";
    if (section.rows.empty()) continue;
    if (!section.text.empty()) out += "\n";
    out += "|";
    for (const auto& name : section.header) out += fmt::format(" {} |", name);
    out += "\n|";
    for (const auto& column : section.columns) out += column.right ? "---:|" : "---|";
    out += "\n";
    for (std::size_t i = 0; i < shown_rows(section); ++i) {
      out += "|";
      for (const auto& cell : section.rows[i]) out += fmt::format(" {} |", markdown_cell(cell.text));
      out += "\n";
    }
    if (auto more = left_out(section); !more.empty()) out += "\n" + more + "\n";
  }
  return out;
}

std::string findings_markdown(const Findings& findings) {
  if (findings.empty()) return "";
  std::string out = "\n### Findings\n\n";
  for (const auto& found : findings) {
    out += fmt::format("- **{}** {} `{}`: {}", to_string(found.severity), found.code, text::one_line(found.place),
                       markdown_cell(found.message));
    out += found.fix.empty() ? "\n" : fmt::format(". {}\n", markdown_cell(found.fix));
  }
  return out;
}

} // namespace quarry::cli
