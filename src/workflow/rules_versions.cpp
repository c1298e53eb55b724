#include "workflow/rules_versions.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "workflow/dockerfile.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <set>

namespace quarry::workflow {

namespace {
// The bounds of one name: each pair of sets is compared. Images write one value, sometimes two.
constexpr std::size_t k_values_of_file_max = 16, k_value_sets_max = 256;

/// `ROCM_VERSION`, `PYTHON_VERSIONS`. Each image means its own program by `VERSION` alone. A single Python is the
/// choice of each job or image: jax lints with another one than it tests with, and that is not drift.
bool is_name_of_version(std::string_view name) {
  bool upper = std::ranges::all_of(name, [](char c) { return c == '_' || ascii::is_upper(c) || ascii::is_digit(c); });
  return upper && (name.ends_with("_VERSION") || name.ends_with("_VERSIONS")) && name != "PYTHON_VERSION";
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
void add_instruction(const std::string& file, const Instruction& one, std::vector<WrittenVersion>& found) {
  auto head = text::lower(text::trim(one.text).substr(0, 3));
  if (head != "env" && head != "arg") return;
  auto commands = shell_commands(one.text);
  if (commands.empty() || commands[0].words.size() < 2 || commands[0].words[0].text.size() != head.size()) return;
  const auto& all = commands[0].words;
  if (head == "env" && all[1].text.find('=') == std::string::npos) {
    if (all.size() == 3) add_version({all[1].text, all[2].text, file, one.at(all[1].offset)}, found);
    return;
  }
  for (std::size_t i = 1; i < all.size(); ++i)
    if (auto equals = all[i].text.find('='); equals != std::string::npos)
      add_version({all[i].text.substr(0, equals), all[i].text.substr(equals + 1), file, one.at(all[i].offset)}, found);
}

using ValuesOfFiles = std::map<std::string, std::set<std::string>>;

/// The sets of values that files write under one name, each once; nullopt if there are more than are compared.
std::optional<std::set<std::set<std::string>>> different_sets(const ValuesOfFiles& values_of_files) {
  std::set<std::set<std::string>> found;
  for (const auto& [file, values] : values_of_files) {
    if (values.size() > k_values_of_file_max) return std::nullopt;
    found.insert(values);
    if (found.size() > k_value_sets_max) return std::nullopt;
  }
  return found;
}

/// Whether two of the sets have no value in common. A file may write several: an image sets `CMAKE_VERSION` for two
/// programs, and its copy does the same.
bool drifts(const std::set<std::set<std::string>>& sets) {
  for (auto one = sets.begin(); one != sets.end(); ++one)
    for (auto other = std::next(one); other != sets.end(); ++other)
      if (std::ranges::none_of(*one, [&](const auto& value) { return other->contains(value); })) return true;
  return false;
}
} // namespace

void add_dockerfile_versions(const std::string& file, std::string_view text, std::vector<WrittenVersion>& found) {
  if (text.find("VERSION") == text.npos) return;
  for (const auto& one : dockerfile_instructions(text)) add_instruction(file, one, found);
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
    ValuesOfFiles values_of_files;
    std::map<std::string, std::set<std::string>> files_of_values;
    for (const auto* one : places) {
      values_of_files[one->file].insert(one->value);
      files_of_values[one->value].insert(one->file);
    }
    auto sets = different_sets(values_of_files);
    if (!sets) rules.not_looked_at("versions with more values than are compared");
    if (!sets || !drifts(*sets)) continue;
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
