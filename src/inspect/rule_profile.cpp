#include "inspect/rule_profile.hpp"

#include "base/ascii.hpp"
#include "base/day.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

namespace quarry::inspect {

namespace {
const char* const k_profile_hint = "docs/formats/rule-profile.md describes the file";

std::optional<Severity> severity_named(std::string_view name) {
  for (auto each : {Severity::note, Severity::warning, Severity::error})
    if (to_string(each) == name) return each;
  return std::nullopt;
}

/// "Q401"
bool is_code(std::string_view text) {
  constexpr std::size_t k_length = 4;
  return text.size() == k_length && ascii::is_upper(text[0]) && std::ranges::all_of(text.substr(1), ascii::is_digit);
}

bool accepts(const Suppression& row, const Finding& finding) {
  return row.code == finding.code && (row.place.empty() || text::glob_match(row.place, finding.place)) &&
         finding.message.find(row.message) != finding.message.npos;
}

Result<Suppression> read_suppression(TomlTable& table, const IsCode& exists) {
  Suppression row;
  row.line = table.line();
  TRY_DO(table.text("code", row.code, true));
  TRY_DO(table.text("place", row.place));
  TRY_DO(table.text("message", row.message));
  TRY_DO(table.text("reason", row.reason, true));
  TRY_DO(table.text("owner", row.owner, true));
  TRY_DO(table.text("until", row.until, true));
  if (!is_code(row.code))
    return table.error("code", fmt::format("{} is not a code such as Q401; a glob would accept too much", row.code));
  if (!exists(row.code))
    return table.error("code", fmt::format("{} does not exist; docs/rules lists the codes of findings", row.code));
  if (!is_day(row.until)) return table.error("until", fmt::format("{} is not a day such as 2027-01-31", row.until));
  for (const auto& [key, value] :
       std::array<std::pair<const char*, const std::string*>, 2>{{{"reason", &row.reason}, {"owner", &row.owner}}})
    if (text::trim(*value).empty()) return table.error(key, "it is empty");
  return row;
}

std::string place_of(const Suppressions& all, const Suppression& row) {
  return fmt::format("{}:{}", all.file, row.line);
}

std::string name_of(const Suppression& row) {
  return fmt::format("the suppression of {} ({}, for {})", row.code, row.reason, row.owner);
}

/// Whether a finding of the run fits the suppression.
enum class Fits : std::uint8_t { yes, no, unknown };

Finding ended(const Suppressions& all, const Suppression& row, Fits fits) {
  Finding finding{"Q251", Severity::error, place_of(all, row), fmt::format("{} ended on {}", name_of(row), row.until),
                  fmt::format("correct the defect and remove the row; or {} decides on a later day", row.owner)};
  if (fits == Fits::yes) finding.message += ": what it accepted counts again";
  if (fits == Fits::no) {
    finding.message += ", and fits no finding of this run";
    finding.fix = "remove the row: nothing needs it any more";
  }
  return finding;
}

/// `left` are the findings that no suppression accepts. Where the code fits and place or message do not, the file most
/// likely has a mistake.
Finding unneeded(const Suppressions& all, const Suppression& row, const Findings& left) {
  Finding finding{"Q252", Severity::warning, place_of(all, row), fmt::format("{} fits no finding", name_of(row)),
                  "remove it: it would hide the next defect of this kind"};
  auto same = [&](const Finding& each) { return each.code == row.code; };
  auto first = std::ranges::find_if(left, same);
  if (first == left.end()) return finding;
  finding.message += fmt::format("; this run has {} of {}, such as {}: {}", std::ranges::count_if(left, same), row.code,
                                 first->place, first->message);
  // A `*` matches no slash, so people write a pattern that stops at the first directory.
  auto name = first->place.substr(first->place.find_last_of('/') + 1);
  finding.fix = first->place.find('/') == first->place.npos
                    ? fmt::format("if it is meant: place = \"{}\", and a message that is a part of it", first->place)
                    : fmt::format("if it is meant: place = \"**/{}\"; `*` does not match `/`", name);
  return finding;
}
} // namespace

Result<RuleProfile> parse_rule_profile(const DataText& data, const FitsCode& fits) {
  TRY(auto root, TomlTable::parse({data.text, data.file}, {"Q011", "Q011", k_profile_hint}));
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.rule-profile/1"}, true));
  RuleProfile profile;
  TRY_DO(root.text("name", profile.name, true));
  TRY_DO(root.text("about", profile.about));
  TRY_DO(root.flag("wheels", profile.wheels));
  TRY_DO(root.tables("severity", [&](TomlTable& table) -> Result<void> {
    std::string codes, word;
    TRY_DO(table.text("codes", codes, true));
    TRY_DO(table.choice("is", word, {"note", "warning", "error"}, true));
    if (!fits(codes))
      return table.error("codes", fmt::format("{} fits no code; docs/rules lists the codes of findings", codes));
    profile.severities.emplace_back(codes, *severity_named(word));
    return {};
  }));
  TRY_DO(root.finish());
  return profile;
}

Result<Suppressions> parse_suppressions(const DataText& data, const IsCode& exists) {
  TRY(auto root, TomlTable::parse({data.text, data.file}, {"Q011", "Q011", k_profile_hint}));
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.suppressions/1"}, true));
  Suppressions all{data.file, {}};
  TRY_DO(root.tables("suppress", [&](TomlTable& table) -> Result<void> {
    TRY(auto row, read_suppression(table, exists));
    all.rows.push_back(std::move(row));
    return {};
  }));
  TRY_DO(root.finish());
  return all;
}

void apply_profile(const RuleProfile& profile, Findings& findings) {
  for (auto& finding : findings) {
    if (finding.severity == Severity::note) continue;
    auto fits = [&](const auto& row) { return text::glob_match(row.first, finding.code); };
    if (auto row = std::ranges::find_if(profile.severities, fits); row != profile.severities.end())
      finding.severity = row->second;
  }
}

SiftedFindings apply_suppressions(Findings findings, const Suppressions& suppressions, const SuppressedRun& run) {
  SiftedFindings judged;
  std::vector<bool> needed(suppressions.rows.size());
  const auto& today = run.today;
  for (auto& finding : findings) {
    const Suppression* by = nullptr;
    for (std::size_t i = 0; i < suppressions.rows.size(); ++i) {
      const auto& row = suppressions.rows[i];
      if (!accepts(row, finding)) continue;
      needed[i] = true;
      if (!by && row.until >= today) by = &row;
    }
    if (by)
      judged.suppressed.push_back({std::move(finding), *by});
    else
      judged.findings.push_back(std::move(finding));
  }
  Findings about;
  for (std::size_t i = 0; i < suppressions.rows.size(); ++i) {
    const auto& row = suppressions.rows[i];
    if (row.until < today)
      about.push_back(ended(suppressions, row,
                            needed[i]                 ? Fits::yes
                            : run.looks_for(row.code) ? Fits::no
                                                      : Fits::unknown));
    else if (!needed[i] && run.looks_for(row.code))
      about.push_back(unneeded(suppressions, row, judged.findings));
  }
  std::ranges::move(about, std::back_inserter(judged.findings));
  return judged;
}

Findings without_known(Findings findings, const Baseline& before) {
  // What was a warning and is an error now is not known: somebody chose a stricter profile.
  std::map<std::tuple<std::string, std::string, std::string, bool>, std::size_t> known;
  auto is_error = [](const Finding& each) { return each.severity == Severity::error; };
  for (const auto& each : before.findings) ++known[{each.code, each.place, each.message, is_error(each)}];
  std::erase_if(findings, [&](const Finding& each) {
    for (bool error : {is_error(each), true}) {
      auto found = known.find({each.code, each.place, each.message, error});
      if (found == known.end() || found->second == 0) continue;
      --found->second;
      return true;
    }
    return false;
  });
  return findings;
}

} // namespace quarry::inspect
