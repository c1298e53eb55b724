#include "pages/install_words.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/version.hpp"
#include "registry/requirements.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <optional>
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

/// What to ask of rocm.
struct Wanted {
  std::vector<std::string> extras, projects;
};

/// The extras that rocm has; nullopt if no record says so.
std::optional<std::set<std::string>> extras_of_rocm(const std::vector<registry::FileRecord>& files) {
  std::optional<std::set<std::string>> known;
  for (const auto& file : files) {
    auto recorded = file.project == dist::k_sdk_project ? registry::recorded_requirements(file) : std::nullopt;
    if (!recorded) continue;
    if (!known) known.emplace();
    for (const auto& extra : recorded->extras) known->insert(dist::family_key(extra));
  }
  return known;
}

/// The device code of some of the set's targets. What no extra brings is named by its project.
class DeviceWords {
public:
  explicit DeviceWords(const std::vector<registry::FileRecord>& files) : known_(extras_of_rocm(files)) {
    for (const auto& file : files)
      if (auto target = dist::target_of_device_code(file.project); !target.empty()) targets_.insert(std::move(target));
  }

  /// Whoever copies the line may have any of the GPUs; who knows better says device-gfx942.
  void add_all(Wanted& wanted) const {
    if (targets_.size() > 1 && has("device-all"))
      wanted.extras.emplace_back("device-all");
    else
      for (const auto& target : targets_) add(target, wanted);
  }

  void add(const std::string& target, Wanted& wanted) const {
    if (has("device-" + target))
      wanted.extras.push_back("device-" + target);
    else if (targets_.size() == 1 && has("device"))
      wanted.extras.emplace_back("device");
    else
      wanted.projects.push_back(text::replace_all(dist::k_device_project, "{family}", target));
  }

private:
  bool has(const std::string& extra) const { return !known_ || known_->contains(dist::family_key(extra)); }

  std::optional<std::set<std::string>> known_;
  std::set<std::string> targets_;
};

/// Only the extras whose wheels exist: pip warns about an extra that it cannot satisfy, or fails.
Wanted wanted_of_rocm(const ProjectNames& projects) {
  Wanted wanted;
  if (std::any_of(projects.begin(), projects.end(), dist::holds_libraries)) wanted.extras.emplace_back("libraries");
  if (projects.contains(dist::k_devel_project)) wanted.extras.emplace_back("devel");
  if (projects.contains(dist::k_profiler_project)) wanted.extras.emplace_back("profiler");
  return wanted;
}

ProjectNames names_of(const std::vector<registry::FileRecord>& files) {
  ProjectNames projects;
  for (const auto& file : files) projects.insert(file.project);
  return projects;
}

std::string words_of(const Wanted& wanted, std::string_view quote) {
  auto words = std::string(dist::k_sdk_project);
  if (!wanted.extras.empty()) words = fmt::format("{0}{1}[{2}]{0}", quote, words, text::join(wanted.extras, ","));
  for (const auto& project : wanted.projects) words += " " + project;
  return words;
}

std::string requirement_of(const std::vector<registry::FileRecord>& files) {
  auto projects = names_of(files);
  if (!projects.contains(dist::k_sdk_project)) {
    std::vector<std::string> names(projects.begin(), projects.end());
    return text::join(names, " ");
  }
  auto wanted = wanted_of_rocm(projects);
  DeviceWords(files).add_all(wanted);
  return words_of(wanted, "\"");
}
} // namespace

std::string requirement_of(const registry::SetRecord& set) { return requirement_of(set.files); }

std::string requirement_for(const registry::SetRecord& set, const std::vector<std::string>& targets) {
  auto projects = names_of(set.files);
  if (!projects.contains(dist::k_sdk_project)) return text::replace_all(requirement_of(set), "\"", "");
  auto wanted = wanted_of_rocm(projects);
  DeviceWords words(set.files);
  for (const auto& target : targets) words.add(target, wanted);
  return words_of(wanted, "");
}

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
