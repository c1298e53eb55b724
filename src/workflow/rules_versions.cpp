#include "workflow/rules_versions.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::workflow {

namespace {

/// `ROCM_VERSION`, `PYTHON_VERSIONS`. A single Python is the choice of each job or image: jax lints with another one
/// than it tests with, and that is not drift.
bool is_name_of_version(std::string_view name) {
  bool upper = std::ranges::all_of(name, [](char c) { return c == '_' || ascii::is_upper(c) || ascii::is_digit(c); });
  return upper && (name.ends_with("VERSION") || name.ends_with("VERSIONS")) && name != "PYTHON_VERSION";
}

void add_version(WrittenVersion version, std::vector<WrittenVersion>& found) {
  if (is_name_of_version(version.name) && !version.value.empty() && !is_dynamic(version.value))
    found.push_back(std::move(version));
}

void add_environment(const File& file, const Node& node, std::vector<WrittenVersion>& found) {
  const auto* env = node.find("env");
  if (!env) return;
  for (const auto& member : env->members)
    if (member.value.is_scalar())
      add_version({member.key, std::string(text::trim(member.value.text)), file.path, member.at}, found);
}

/// `NAME=value` and `NAME="value"` behind ARG or ENV; `NAME value` behind ENV.
void add_line(const std::string& file, std::string_view line, std::uint32_t number,
              std::vector<WrittenVersion>& found) {
  auto words = shell_commands(line);
  if (words.empty() || words[0].words.size() < 2) return;
  const auto& all = words[0].words;
  bool environment = text::lower(all[0].text) == "env";
  if (!environment && text::lower(all[0].text) != "arg") return;
  if (environment && all[1].text.find('=') == std::string::npos) {
    if (all.size() == 3)
      add_version({all[1].text, all[2].text, file, {number, static_cast<std::uint32_t>(all[1].offset + 1)}}, found);
    return;
  }
  for (std::size_t i = 1; i < all.size(); ++i)
    if (auto equals = all[i].text.find('='); equals != std::string::npos)
      add_version({all[i].text.substr(0, equals),
                   all[i].text.substr(equals + 1),
                   file,
                   {number, static_cast<std::uint32_t>(all[i].offset + 1)}},
                  found);
}

/// Whether a value that one file writes is missing in another one, with none in common: an image may set a variable
/// twice, `CMAKE_VERSION` of two programs, and its copy does the same.
bool drifts(const std::map<std::string, std::set<std::string>>& values_of_files) {
  for (auto one = values_of_files.begin(); one != values_of_files.end(); ++one)
    for (auto other = std::next(one); other != values_of_files.end(); ++other)
      if (std::ranges::none_of(one->second, [&](const auto& value) { return other->second.contains(value); }))
        return true;
  return false;
}
} // namespace

void add_dockerfile_versions(const std::string& file, std::string_view text, std::vector<WrittenVersion>& found) {
  if (text.find("VERSION") == text.npos) return;
  std::uint32_t number = 0;
  for (const auto& line : text::lines(text)) {
    ++number;
    if (line.find("VERSION") != std::string::npos) add_line(file, line, number, found);
  }
}

void check_versions(const Rules& rules, std::vector<WrittenVersion> found) {
  for (const auto& file : rules.repository.files) {
    if (file->text.find("VERSION") == std::string::npos) continue;
    add_environment(*file, file->root, found);
    for (const auto& job : file->jobs) {
      if (job.node != &file->root) add_environment(*file, *job.node, found);
      for (const auto& step : job.steps) add_environment(*file, *step.node, found);
    }
  }
  std::map<std::string, std::vector<const WrittenVersion*>> names;
  for (const auto& one : found) names[one.name].push_back(&one);
  for (const auto& [name, places] : names) {
    std::map<std::string, std::set<std::string>> values_of_files, files_of_values;
    for (const auto* one : places) {
      values_of_files[one->file].insert(one->value);
      files_of_values[one->value].insert(one->file);
    }
    if (!drifts(values_of_files)) continue;
    auto rarest = std::ranges::min_element(
        places, {}, [&](const WrittenVersion* one) { return files_of_values[one->value].size(); });
    std::vector<std::string> told;
    for (const auto& [value, files] : files_of_values)
      told.push_back(fmt::format("`{}` in {}{}", value, *files.begin(),
                                 files.size() > 1 ? fmt::format(" and {} more", files.size() - 1) : ""));
    rules.report.findings.push_back(
        {(*rarest)->file, (*rarest)->at, "Y145", Severity::note,
         fmt::format("`{}` has {} different values in {}: {}", name, files_of_values.size(),
                     units::things(values_of_files.size(), "file"), text::first(told, k_names_shown)),
         "raise all of them together, or write the version once and pass it"});
  }
}

} // namespace quarry::workflow
