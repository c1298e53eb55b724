#include "retain/rules.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::retain {

namespace {

constexpr const char* k_schema = "quarry.retention/1";
constexpr const char* k_bad_rules = "O200";
constexpr std::uint64_t k_periods_max = 100'000; // of a unit; with weeks, two thousand years

template <class W> std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (auto text : W::k_texts) words.emplace_back(text);
  return words;
}

Result<std::int64_t> period(TomlTable& table, const std::string& key) {
  std::string text;
  TRY_DO(table.text(key, text, true));
  if (auto us = parse_period(text)) return *us;
  return table.error(key, fmt::format("`{}` is not a time such as 30d, 52w or 24h", text));
}

Result<Rule> read_rule(TomlTable& table) {
  Rule rule;
  TRY_DO(table.text("name", rule.name, true));
  std::vector<std::string> types;
  TRY_DO(table.texts("release_types", types));
  for (const auto& text : types) {
    auto type = ReleaseType::read(text);
    if (!type.kind())
      return table.error("release_types",
                         fmt::format("`{}` is not one of {}", text, text::join(all_words<ReleaseTypeWords>(), ", ")));
    rule.release_types.push_back(type);
  }
  std::string runs = "any", keep;
  TRY_DO(table.choice("runs", runs, all_words<RunKindWords>()));
  rule.runs = RunKind::read(runs);
  TRY_DO(table.text("keep", keep, true));
  if (keep == "forever") return rule;
  TRY(rule.keep_us, period(table, "keep"));
  return rule;
}

/// "7.12.0a20261120" of "2.10.0+rocm7.12.0a20261120", whose own part says nothing about who made it when.
dist::Version deciding_version(const dist::Version& version) {
  std::string_view local = version.local();
  for (std::string_view mark : {"devrocm", "rocm"}) {
    if (!local.starts_with(mark)) continue;
    auto sdk = dist::Version::parse(local.substr(mark.size()));
    if (sdk) return *sdk;
    // "devrocm7.12.0.dev0.3f2a": the commit does not belong there
    auto development = dist::Version::parse("0.dev0");
    if (mark == "devrocm" && development) return *development;
  }
  return version;
}

ReleaseType type_of(const dist::Version& version) {
  if (version.is_devrelease()) return ReleaseType::development;
  if (!version.is_prerelease()) return ReleaseType::release;
  bool candidate = version.public_version().str().find("rc") != std::string::npos;
  return candidate ? ReleaseType::candidate : ReleaseType::nightly;
}

} // namespace

std::optional<std::int64_t> parse_period(std::string_view text) {
  struct Unit {
    char letter;
    std::int64_t seconds;
  };
  constexpr std::array<Unit, 5> k_units{{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}, {'w', 7 * 86'400}}};
  if (text.size() < 2) return std::nullopt;
  auto count = text::parse_u64(text.substr(0, text.size() - 1));
  const auto* unit =
      std::find_if(k_units.begin(), k_units.end(), [&](const Unit& u) { return u.letter == text.back(); });
  if (!count || *count > k_periods_max || unit == k_units.end()) return std::nullopt;
  return static_cast<std::int64_t>(*count) * unit->seconds * 1'000'000;
}

Result<Rules> parse_rules(const DataText& data) {
  TRY(auto table, TomlTable::parse({data.text, data.file},
                                   {k_bad_rules, k_bad_rules, "docs/formats/retention.md describes the file"}));
  Rules rules;
  std::string schema;
  TRY_DO(table.choice("schema", schema, {k_schema}, true));
  TRY_DO(table.text("name", rules.name, true));
  TRY(rules.grace_us, period(table, "grace"));
  if (rules.grace_us < k_grace_min_us) return table.error("grace", "it must be 24h or more");
  TRY_DO(table.tables("rule", [&](TomlTable& each) -> Result<void> {
    TRY(auto rule, read_rule(each));
    rules.rules.push_back(std::move(rule));
    return {};
  }));
  TRY_DO(table.finish());
  if (rules.rules.empty()) return table.error("rule", "there is not a single rule");
  return rules;
}

ReleaseType release_type_of(const registry::SetRecord& set) {
  std::optional<ReleaseType::Kind> longest;
  for (const auto& file : set.files) {
    auto version = dist::Version::parse(file.version);
    auto type = version ? type_of(deciding_version(*version)) : ReleaseType(ReleaseType::release);
    longest = std::max(longest, type.kind());
  }
  return longest.value_or(ReleaseType::release);
}

} // namespace quarry::retain
