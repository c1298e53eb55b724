#include "closure/coherence.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "dist/family.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <set>

namespace quarry::closure {

namespace {
constexpr std::size_t k_packages_shown = 4;

std::string common_of(const dist::Version& version, Common common) {
  switch (common) {
  case Common::local: return version.local().empty() ? "no local segment" : "+" + version.local();
  case Common::public_version: return version.public_version().key();
  case Common::version: break;
  }
  return version.key();
}

std::string_view words_of(Common common) {
  switch (common) {
  case Common::local: return "the part of the version behind +";
  case Common::public_version: return "the version before +";
  case Common::version: break;
  }
  return "the version";
}

bool belongs(const Package& package, const CoherentGroup& group) {
  return std::ranges::any_of(group.projects,
                             [&](const std::string& glob) { return text::glob_match(glob, package.project); });
}

/// "torch 2.10.0+rocm7, torchvision 0.25.0+rocm6.4": one project of each value.
std::string examples_of(const std::map<std::string, const Package*>& by_value) {
  std::vector<std::string> names;
  for (const auto& [_, package] : by_value)
    names.push_back(fmt::format("{} {}", package->project, package->version.str()));
  return text::first(names, k_packages_shown);
}

void check_group(const std::vector<Package>& set, const CoherentGroup& group, Findings& findings) {
  std::map<std::string, const Package*> by_value;
  std::set<std::string> met;
  for (const auto& package : set) {
    if (!belongs(package, group)) continue;
    by_value.try_emplace(common_of(package.version, group.common), &package);
    for (const auto& glob : group.projects)
      if (text::glob_match(glob, package.project)) met.insert(glob);
  }
  if (by_value.size() > 1)
    findings.push_back({"Q411", Severity::error, by_value.begin()->second->file,
                        fmt::format("the packages of {} disagree about {}: {}", group.name, words_of(group.common),
                                    examples_of(by_value)),
                        group.why + ": build them in one run, and publish only these"});
  if (!group.complete || met.empty()) return;
  for (const auto& glob : group.projects)
    if (!met.contains(glob))
      findings.push_back({"Q412", Severity::error, by_value.begin()->second->file,
                          fmt::format("{} has no package {}", group.name, glob),
                          group.why + ": publish both with the set"});
}

Result<CoherentGroup> read_group(TomlTable& table) {
  CoherentGroup group;
  std::string common;
  TRY_DO(table.text("name", group.name, true));
  TRY_DO(table.text("why", group.why, true));
  TRY_DO(table.texts("projects", group.projects));
  TRY_DO(table.choice("same", common, {"version", "public version", "local"}, true));
  TRY_DO(table.flag("complete", group.complete));
  if (group.projects.empty()) return table.error("projects", "a group needs at least one project");
  group.common = common == "local" ? Common::local : common == "version" ? Common::version : Common::public_version;
  return group;
}
} // namespace

Result<std::vector<CoherentGroup>> parse_coherence(const DataText& data) {
  TRY(auto root,
      TomlTable::parse({data.text, data.file}, {"Q410", "Q410", "docs/formats/set-check.md describes the file"}));
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.coherence/1"}, true));
  std::vector<CoherentGroup> groups;
  TRY_DO(root.tables("group", [&](TomlTable& table) -> Result<void> {
    TRY(auto group, read_group(table));
    groups.push_back(std::move(group));
    return {};
  }));
  TRY_DO(root.finish());
  return groups;
}

Findings check_coherence(const std::vector<Package>& set, const std::vector<CoherentGroup>& groups) {
  Findings findings;
  for (const auto& group : groups) check_group(set, group, findings);
  return findings;
}

namespace {
/// The GPU targets that a `rocm` has extras for; empty for any other package, and for one that is not split.
std::set<std::string> targets_of_extras(const Package& package) {
  constexpr std::string_view k_extra = "device-", k_all = "device-all";
  std::set<std::string> targets;
  if (package.project != dist::k_sdk_project) return targets;
  for (const auto& extra : package.extras)
    if (extra.starts_with(k_extra) && extra != k_all) targets.insert(extra.substr(k_extra.size()));
  return targets;
}
} // namespace

std::vector<std::string> projects_of_others(const std::vector<Package>& set) {
  std::set<std::string> asked, own;
  for (const auto& package : set) {
    bool split = !targets_of_extras(package).empty();
    for (const auto& requirement : package.requirements) {
      asked.insert(requirement.project.str());
      if (split && requirement.specifier_text == "==" + package.version.str()) own.insert(requirement.project.str());
    }
  }
  std::vector<std::string> others;
  std::ranges::set_difference(asked, own, std::back_inserter(others));
  return others;
}

Findings check_device_code(const std::vector<Package>& set) {
  std::set<std::string> known; // targets
  for (const auto& package : set) known.merge(targets_of_extras(package));
  Findings findings;
  if (known.empty()) return findings;
  for (const auto& package : set) {
    auto target = dist::target_of_device_code(package.project);
    if (target.empty() || known.contains(target)) continue;
    findings.push_back({"Q413", Severity::warning, package.file,
                        fmt::format("rocm has no extra device-{}: it was built for {}", target,
                                    text::join(std::vector<std::string>(known.begin(), known.end()), ", ")),
                        "build the set again with all targets, or leave this package out"});
  }
  return findings;
}

} // namespace quarry::closure
