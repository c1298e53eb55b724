#include "cli/support_page.hpp"

#include "base/text.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace quarry::cli {

namespace {
constexpr const char* k_support_columns[] = {"project", "version", "OS", "GPU family", "Python", "state"};
constexpr std::size_t k_day = 10; // characters of a time

/// The version of the project in the set; empty if it does not hold it.
std::string version_in(const registry::SetRecord& set, const std::string& project) {
  for (const auto& file : set.files)
    if (file.project == project) return file.version;
  return "";
}

/// The day of the newest result that decided.
std::string day_of(const gate::Case& input, const std::vector<registry::EvidenceDigest>& decided) {
  std::string day;
  for (const auto& stored : input.evidence)
    if (std::find(decided.begin(), decided.end(), stored.digest) != decided.end())
      day = std::max(day, std::string(stored.record.ended.text().substr(0, k_day)));
  return day;
}

/// Whether the tests could not have used a GPU: they were not to, or the machine has none that they could open.
bool had_no_gpu(const registry::EvidenceRecord& evidence) {
  auto gpu = evidence.machine.find("gpu");
  return evidence.cell.backend == "cpu" || (gpu != evidence.machine.end() && gpu->second == "none");
}

/// "no GPU was present (backend cpu)", if that is so of every result that decided; of some: says so.
std::string without_gpu(const gate::Case& input, const std::vector<registry::EvidenceDigest>& decided) {
  std::size_t all = 0, without = 0;
  for (const auto& stored : input.evidence) {
    if (std::find(decided.begin(), decided.end(), stored.digest) == decided.end()) continue;
    ++all;
    without += had_no_gpu(stored.record);
  }
  if (without == 0) return "";
  if (without == all) return "no GPU was present (backend cpu)";
  return fmt::format("no GPU was present (backend cpu) in {} of {} results", without, all);
}

/// The Pythons of the results that decided; empty if that is all the row is about.
std::string pythons_of(const gate::Case& input, const std::vector<registry::EvidenceDigest>& decided,
                       const std::string& about) {
  std::set<dist::Version> pythons;
  for (const auto& stored : input.evidence) {
    if (std::find(decided.begin(), decided.end(), stored.digest) == decided.end()) continue;
    if (auto python = dist::Version::parse(stored.record.cell.python)) pythons.insert(*python);
  }
  std::vector<std::string> texts;
  for (const auto& python : pythons) texts.push_back(python.str());
  auto said = text::join(texts, ", ");
  return said == about ? "" : said;
}

std::string state_of(const gate::CellVerdict& cell) {
  if (!cell.failed.empty()) return "fails";
  if (!cell.evidence.empty() && cell.verdict == gate::Decision::ready) return "tested";
  return "not tested";
}

SupportRow row_of(const gate::Case& input, const gate::CellVerdict& cell, const SupportRecipe& recipe) {
  SupportRow row;
  row.project = cell.cell.framework.empty() ? recipe.project : cell.cell.framework;
  row.platform = cell.cell.platform;
  row.family = cell.cell.family.empty() ? "any" : cell.cell.family;
  row.python = cell.cell.python.empty() ? recipe.requires_python : cell.cell.python;
  for (const auto& subject : input.subjects)
    if (subject.digest == cell.set) row.version = version_in(subject.set, row.project);
  row.state = state_of(cell);
  const auto& decided = cell.failed.empty() ? cell.evidence : cell.failed;
  auto day = day_of(input, decided);
  row.without_gpu = without_gpu(input, decided);
  row.tested_on = pythons_of(input, decided, row.python);
  row.note = !day.empty() ? day : row.state == "not tested" && !cell.reasons.empty() ? cell.reasons.front() : "";
  if (cell.waived) row.note += row.note.empty() ? "waived" : ", waived";
  return row;
}

/// Whether a row of the channel is about the family: by its name, or by one of its targets.
bool is_about(const SupportRow& row, const matrix::Families& families, const matrix::Family& family) {
  if (text::lower(row.family) == text::lower(family.name)) return true;
  for (const auto& target : families.targets_of(family.name))
    if (target == row.family) return true;
  return false;
}

bool is_before(const SupportRow& left, const SupportRow& right) {
  auto key = [](const SupportRow& row) { return std::tuple(row.project, row.platform.text(), row.family, row.python); };
  if (key(left) != key(right)) return key(left) < key(right);
  auto one = dist::Version::parse(left.version), other = dist::Version::parse(right.version);
  if (one && other) return *other < *one;
  return left.version > right.version;
}

std::vector<std::string> cells_of(const SupportRow& row) {
  return {row.project,
          row.version.empty() ? "-" : row.version,
          std::string(row.platform.text()),
          row.family,
          row.python,
          fmt::format("{}{}{}{}{}{}{}", row.state, row.note.empty() ? "" : ": ", row.note,
                      row.tested_on.empty() ? "" : "; Python ", row.tested_on, row.without_gpu.empty() ? "" : "; ",
                      row.without_gpu)};
}

std::string title_of(const SupportPage& page) {
  return page.channel.empty() ? "What is built" : "What channel " + page.channel + " supports";
}
} // namespace

std::vector<SupportRow> support_rows(const matrix::Families& families, const SupportRecipe& recipe,
                                     const gate::Case* input, const gate::Verdict& judged) {
  std::vector<SupportRow> rows;
  if (input)
    for (const auto& cell : judged.cells) rows.push_back(row_of(*input, cell, recipe));
  auto released = rows.size();
  for (const auto& family : families.families)
    for (const auto& place : family.places) {
      bool known =
          std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(released), [&](const auto& row) {
            return row.project == recipe.project && row.platform == place.platform && is_about(row, families, family);
          });
      if (known) continue;
      const auto* runners = place.find("test");
      SupportRow row{recipe.project, place.platform, family.name, recipe.requires_python, "", "", place.reason};
      row.state = input ? "not released" : runners ? "built and tested" : "built, not tested";
      rows.push_back(std::move(row));
    }
  std::stable_sort(rows.begin(), rows.end(), is_before);
  return rows;
}

std::string support_markdown(const SupportPage& page) {
  auto line = [](const std::vector<std::string>& cells) { return "| " + text::join(cells, " | ") + " |\n"; };
  std::vector<std::string> heads(std::begin(k_support_columns), std::end(k_support_columns));
  auto text = fmt::format("# {}\n\n{}{}\n", title_of(page), line(heads), "|---|---|---|---|---|---|");
  for (const auto& row : page.rows) {
    auto cells = cells_of(row);
    for (auto& cell : cells) cell = text::replace_all(text::replace_all(cell, "|", "\\|"), "<", "\\<");
    text += line(cells);
  }
  return text;
}

std::string support_html(const SupportPage& page) {
  auto text =
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"generator\" content=\"quarry\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{0}</title>\n"
                  "<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;"
                  "max-width:72rem;margin:2rem auto;padding:0 1rem}}table{{border-collapse:collapse}}"
                  "th,td{{padding:.35rem 1.2rem .35rem 0;border-bottom:1px solid #8884;text-align:left}}"
                  "</style>\n</head>\n<body>\n<h1>{0}</h1>\n<table>\n<tr>",
                  text::html_escape(title_of(page)));
  for (const auto* head : k_support_columns) text += fmt::format("<th>{}", head);
  text += "\n";
  for (const auto& row : page.rows) {
    text += "<tr>";
    for (const auto& cell : cells_of(row)) text += "<td>" + text::html_escape(cell);
    text += "\n";
  }
  return text + "</table>\n</body>\n</html>\n";
}

Json support_json(const SupportPage& page) {
  auto rows = Json::array();
  for (const auto& row : page.rows)
    rows.push_back({{"project", row.project},
                    {"version", row.version.empty() ? Json(nullptr) : Json(row.version)},
                    {"platform", row.platform},
                    {"family", row.family},
                    {"python", row.python},
                    {"state", row.state},
                    {"note", row.note},
                    {"tested_on", row.tested_on.empty() ? Json(nullptr) : Json(row.tested_on)},
                    {"without_gpu", row.without_gpu.empty() ? Json(nullptr) : Json(row.without_gpu)}});
  return {{"channel", page.channel.empty() ? Json(nullptr) : Json(page.channel)}, {"rows", rows}};
}

} // namespace quarry::cli
