#include "trial/device_code.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/requirement.hpp"
#include <fmt/core.h>
#include <set>

namespace quarry::trial {

namespace {

using Names = std::set<std::string>;

Names installed_targets(const Installed& installed) {
  Names targets;
  for (const auto& file : installed.files) targets.insert(dist::target_of_device_code(file.project));
  for (const auto& other : installed.others) targets.insert(dist::target_of_device_code(other.project));
  targets.erase("");
  return targets;
}

/// "gfx942" if the extra device-gfx942 was asked for. Which ones `device` and device-all mean is not known.
Names asked_targets(const std::vector<std::string>& packages) {
  constexpr std::string_view k_extra = "device-";
  Names targets;
  for (const auto& package : packages) {
    auto requirement = dist::Requirement::parse(package);
    if (!requirement || requirement->project.str() != dist::k_sdk_project) continue;
    for (const auto& extra : requirement->extras)
      if (auto key = dist::family_key(extra); key.starts_with(k_extra)) targets.insert(key.substr(k_extra.size()));
  }
  targets.erase("all");
  return targets;
}

/// Those that the source has for the libraries that serve every GPU. Empty if no such libraries are installed.
Names offered_targets(const Installed& installed) {
  Names targets;
  for (const auto& file : installed.files) {
    if (!dist::holds_libraries(file.project) || !dist::family_of_libraries(file.project).empty()) continue;
    for (const auto& offered : installed.offered)
      if (offered.file.version == file.version) targets.insert(dist::target_of_device_code(offered.file.project));
  }
  targets.erase("");
  return targets;
}

Unexpected lacking(const Names& lacks, std::string message) {
  std::vector<std::string> projects;
  for (const auto& target : lacks) projects.push_back(text::replace_all(dist::k_device_project, "{family}", target));
  return fail(
      Error::of(ErrorKind::invalid_argument, "X031", std::move(message))
          .with_detail(fmt::format("not tested  {}", text::first(projects, 5)))
          .with_hint(fmt::format("install it by its name, such as `--packages \"rocm[libraries] {}\"`; what runs "
                                 "without a GPU is recorded with `--backend cpu`",
                                 projects.front())));
}

} // namespace

Result<void> check_device_code(const Installed& installed) {
  if (installed.backend == "cpu") return {};
  auto there = installed_targets(installed);
  auto asked = asked_targets(installed.packages);
  std::erase_if(asked, [&](const auto& target) { return there.contains(target); });
  if (!asked.empty())
    return lacking(asked, "the device code that was asked for is not installed, so it cannot be tested");
  auto offered = offered_targets(installed);
  if (there.empty() && !offered.empty())
    return lacking(offered, "no device code is installed, so no GPU can be tested");
  return {};
}

} // namespace quarry::trial
