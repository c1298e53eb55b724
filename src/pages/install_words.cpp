#include "pages/install_words.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <set>

namespace quarry::pages {

namespace {

using ProjectNames = std::set<std::string, std::less<>>;

bool has_prerelease(const std::vector<registry::FileRecord>& files) {
  return std::any_of(files.begin(), files.end(), [](const auto& file) {
    auto version = dist::Version::parse(file.version);
    return version && version->is_prerelease();
  });
}

/// Only the extras whose wheels exist: pip warns about an extra that it cannot satisfy, or fails.
std::string rocm_requirement(const ProjectNames& projects) {
  bool libraries = std::any_of(projects.begin(), projects.end(), dist::holds_libraries);
  std::vector<std::string> extras;
  if (libraries) extras.emplace_back("libraries");
  if (projects.contains(dist::k_devel_project)) extras.emplace_back("devel");
  if (projects.contains(dist::k_profiler_project)) extras.emplace_back("profiler");
  // Whoever copies the line may have any of the GPUs; who knows better says device-gfx942.
  std::vector<std::string> targets;
  for (const auto& project : projects)
    if (auto target = dist::target_of_device_code(project); !target.empty()) targets.push_back(std::move(target));
  if (!targets.empty()) extras.push_back(targets.size() == 1 ? "device-" + targets.front() : "device-all");
  if (extras.empty()) return std::string(dist::k_sdk_project);
  return fmt::format("\"{}[{}]\"", dist::k_sdk_project, text::join(extras, ","));
}

std::string requirement_of(const std::vector<registry::FileRecord>& files) {
  ProjectNames projects;
  for (const auto& file : files) projects.insert(file.project);
  if (projects.contains(dist::k_sdk_project)) return rocm_requirement(projects);
  std::vector<std::string> names(projects.begin(), projects.end());
  return text::join(names, " ");
}
} // namespace

std::string requirement_of(const registry::SetRecord& set) { return requirement_of(set.files); }

std::string install_words(const std::vector<registry::FileRecord>& files) {
  constexpr std::size_t k_line_max = 60; // more names than that are not installed together
  auto words = requirement_of(files);
  if (words.empty() || words.size() > k_line_max) words = "PROJECT";
  return has_prerelease(files) ? words + " --pre" : words;
}

std::string install_line(const registry::SetRecord& set, const Addresses& from) {
  return fmt::format("pip install {} {}{}{}", requirement_of(set), has_prerelease(set.files) ? "--pre " : "",
                     installer_words(from),
                     from.best_index().starts_with("file:") ? " --disable-pip-version-check" : "");
}

} // namespace quarry::pages
