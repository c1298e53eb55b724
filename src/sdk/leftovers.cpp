#include "sdk/leftovers.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/name.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {
constexpr std::size_t k_named_max = 5;   // in a message
constexpr std::size_t k_pasted_max = 12; // in a command that somebody pastes

// "rocm-sdk-libraries-{family}" is every project "rocm-sdk-libraries-…".
bool is_project_of(const Recipe& recipe, const std::string& project) {
  return std::any_of(recipe.packages.begin(), recipe.packages.end(), [&](const Package& package) {
    auto pattern = dist::ProjectName::parse(text::replace_all(package.dist, "{family}", "family"));
    if (!pattern) return false;
    if (!package.per_family) return pattern->str() == project;
    auto glob = text::replace_all(package.dist, "{family}", "*");
    std::replace_if(glob.begin(), glob.end(), [](char c) { return c == '_' || c == '.'; }, '-');
    return text::glob_match(text::lower(glob), project);
  });
}

std::string first_of(const std::vector<std::string>& names) { return text::first(names, k_named_max); }

std::string removal(const std::string& directory, const std::vector<std::string>& names) {
  if (names.size() > k_pasted_max) return "build into another --dest-dir, or delete them";
  std::string command = "build into another --dest-dir, or delete them: rm";
  for (const auto& name : names) command += " " + text::shell_word(path::join(directory, name));
  return command;
}
} // namespace

Result<void> check_leftovers(const std::string& dist_dir, const Expected& expected, Findings& findings) {
  if (!sys::is_directory(dist_dir)) return {};
  TRY(auto entries, sys::list_directory(dist_dir));
  std::vector<std::string> older, others;
  for (const auto& entry : entries) {
    const auto& name = entry.path;
    bool package = !name.starts_with('.') && (name.ends_with(".whl") || name.ends_with(".tar.gz"));
    bool ours = std::find(expected.file_names.begin(), expected.file_names.end(), name) != expected.file_names.end();
    if (!package || ours) continue;
    auto parsed = dist::DistributionName::parse(name);
    bool other_version =
        parsed && parsed->version != expected.version && is_project_of(expected.recipe, parsed->project.str());
    (other_version ? older : others).push_back(name);
  }
  if (!older.empty())
    return fail(ErrorKind::already_exists, "S056",
                fmt::format("{} holds {} of another version than {}, and would be published as one release with it: {}",
                            dist_dir, units::things(older.size(), "package"), expected.version.str(), first_of(older)),
                removal(dist_dir, older));
  if (!others.empty())
    findings.push_back({"S057", Severity::warning, dist_dir,
                        fmt::format("holds {} that this build does not write: {}",
                                    units::things(others.size(), "package"), first_of(others)),
                        "`quarry publish` would take them too: delete what is a leftover of an earlier build"});
  return {};
}

} // namespace quarry::sdk
