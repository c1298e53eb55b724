#include "inspect/import_name_rules.hpp"

#include "base/text.hpp"
#include "inspect/installed_modules.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_import_findings_max = 100;
constexpr std::array<std::string_view, 35> k_keywords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_import_field(std::string_view lower_name) {
  return lower_name == "import-name" || lower_name == "import-namespace";
}

/// "foo.bar" of `foo.bar ; private`; nullopt if the value is not of this form. An empty value says that there is
/// nothing to import.
std::optional<std::string> name_in(std::string_view value) {
  auto semicolon = value.find(';');
  if (semicolon != value.npos && text::trim(value.substr(semicolon + 1)) != "private") return std::nullopt;
  std::string name(text::trim(value.substr(0, semicolon)));
  if (name.empty() && semicolon == value.npos) return name;
  auto parts = text::split(name, '.');
  bool fits = std::ranges::all_of(parts, [](const std::string& part) {
    return is_identifier(part) && std::ranges::find(k_keywords, part) == k_keywords.end();
  });
  return fits ? std::optional(std::move(name)) : std::nullopt;
}
} // namespace

Findings check_import_names(const WheelContents& wheel) {
  Findings findings;
  if (!wheel.report.metadata || !wheel.report.name) return findings;
  auto warn = [&](const char* code, std::string message, std::string fix) {
    auto place = fmt::format("{}!{}/METADATA", wheel.file, wheel.report.name->dist_info());
    if (findings.size() < k_import_findings_max)
      findings.push_back({code, Severity::warning, std::move(place), std::move(message), std::move(fix)});
  };
  std::optional<Modules> modules;
  std::set<std::string> names, namespaces;
  for (const auto& [field, value] : wheel.report.metadata->other) {
    auto lower = text::lower(field);
    if (!is_import_field(lower)) continue;
    auto name = name_in(value);
    if (!name) {
      warn("Q213", fmt::format("{} {:?} is not the name of a module", field, value),
           "write names as in `import foo.bar`, with `; private` behind those that are not for others");
      continue;
    }
    if (name->empty()) continue;
    (lower == "import-name" ? names : namespaces).insert(*name);
    if (!modules) {
      const WheelContents* const own[] = {&wheel};
      modules = modules_of(own);
    }
    if (!modules->contains(text::replace_all(*name, ".", "/")))
      warn("Q259", fmt::format("{} says {}, and no file of the wheel can be imported so", field, *name),
           "correct the name, or package the module");
  }
  for (const auto& name : names)
    if (namespaces.contains(name))
      warn("Q213", fmt::format("{} is in Import-Name and in Import-Namespace", name),
           "keep Import-Name if no other project has modules of this name, else Import-Namespace");
  return findings;
}

} // namespace quarry::inspect
