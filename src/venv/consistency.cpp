#include "venv/consistency.hpp"

#include "base/text.hpp"
#include "dist/metadata.hpp"
#include "dist/requirement.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <map>

namespace quarry::venv {

namespace {

dist::MarkerEnvironment marker_environment(const Environment& environment) {
  return {{"python_version", environment.minor()},
          {"python_full_version", environment.version},
          {"implementation_version", environment.version},
          {"implementation_name", "cpython"},
          {"platform_python_implementation", "CPython"},
          {"os_name", "posix"},
          {"sys_platform", "linux"},
          {"platform_system", "Linux"},
          {"platform_machine", "x86_64"}};
}

std::vector<std::string> requirements_of(const Environment& environment, const Distribution& distribution) {
  auto path = path::join(path::join(environment.site_packages, distribution.dist_info), "METADATA");
  auto text = sys::read_file(path, dist::k_metadata_bytes_max);
  if (!text) return {};
  auto metadata = dist::Metadata::parse(*text);
  return metadata ? metadata->requires_dist : std::vector<std::string>();
}

} // namespace

Result<void> check_consistency(const Environment& environment, const std::vector<Distribution>& distributions,
                               const std::set<std::string>& installed) {
  std::map<std::string, const Distribution*> by_project;
  for (const auto& distribution : distributions) by_project[distribution.project] = &distribution;
  auto markers = marker_environment(environment);
  std::vector<std::string> broken;
  std::set<std::string> again;
  for (const auto& distribution : distributions)
    for (const auto& line : requirements_of(environment, distribution)) {
      auto requirement = dist::Requirement::parse(line);
      if (!requirement || !requirement->marker.holds(markers)) continue;
      auto there = by_project.find(requirement->project.str());
      if (there == by_project.end()) continue;
      if (!installed.contains(distribution.project) && !installed.contains(there->first)) continue;
      auto version = dist::Version::parse(there->second->version);
      if (!version || requirement->specifiers.contains(*version)) continue;
      broken.push_back(fmt::format("{} {} requires {}{}, and {} is installed", distribution.project,
                                   distribution.version, there->first, requirement->specifier_text,
                                   there->second->version));
      again.insert(installed.contains(distribution.project) ? there->first : distribution.project);
    }
  if (broken.empty()) return {};
  auto error =
      Error::of(ErrorKind::failed, "V018", fmt::format("packages in {} do not fit each other", environment.directory))
          .with_details(std::move(broken))
          .with_hint(fmt::format("install {} together with them, or make the environment from scratch with --clean",
                                 text::join(std::vector<std::string>(again.begin(), again.end()), ", ")));
  return fail(std::move(error));
}

} // namespace quarry::venv
