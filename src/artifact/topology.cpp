#include "artifact/topology.hpp"

#include "artifact/name.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

namespace {

constexpr const char* k_topology_hint = "name the BUILD_TOPOLOGY.toml of the sources that were built: --topology FILE";

Unexpected unfit(const std::string& file, const std::string& what) {
  return fail(ErrorKind::invalid_argument, "A095", fmt::format("{}: {}", file, what), k_topology_hint);
}

} // namespace

Result<Topology> Topology::parse(const TopologyFile& file) {
  Topology topology;
  TRY(auto root, TomlTable::parse({file.text, file.name}, {"A095", "A095", k_topology_hint}));
  TRY_DO(root.named_tables("build_stages", [&](const std::string& name, TomlTable& table) -> Result<void> {
    table.tolerate_other_keys();
    BuildStage stage;
    stage.name = name;
    TRY_DO(table.text("description", stage.description));
    TRY_DO(table.text("type", stage.type));
    TRY_DO(table.texts("artifact_groups", stage.groups));
    topology.stages_.push_back(std::move(stage));
    return {};
  }));
  TRY_DO(root.named_tables("artifact_groups", [&](const std::string& name, TomlTable& table) -> Result<void> {
    table.tolerate_other_keys();
    return table.texts("artifact_group_deps", topology.group_needs_[name]);
  }));
  TRY_DO(root.named_tables("artifacts", [&](const std::string& name, TomlTable& table) -> Result<void> {
    table.tolerate_other_keys();
    auto& artifact = topology.artifacts_[name];
    TRY_DO(table.text("artifact_group", artifact.group, true));
    TRY_DO(table.text("type", artifact.type));
    TRY_DO(table.texts("artifact_deps", artifact.needs));
    if (!parse_name(name + "_lib_generic"))
      return table.error("artifact_group", "an artifact cannot be called " + name);
    topology.names_.insert(name);
    return {};
  }));
  TRY_DO(topology.check(file.name));
  return topology;
}

Result<void> Topology::check(const std::string& file) const {
  if (stages_.empty()) return unfit(file, "it has no build_stages");
  for (const auto& stage : stages_)
    for (const auto& group : stage.groups)
      if (!group_needs_.contains(group))
        return unfit(file, fmt::format("stage {} has the group {}, which is not there", stage.name, group));
  for (const auto& [group, needs] : group_needs_)
    for (const auto& need : needs)
      if (!group_needs_.contains(need))
        return unfit(file, fmt::format("group {} needs the group {}, which is not there", group, need));
  for (const auto& [name, artifact] : artifacts_) {
    if (!group_needs_.contains(artifact.group))
      return unfit(file, fmt::format("artifact {} is of the group {}, which is not there", name, artifact.group));
    for (const auto& need : artifact.needs)
      if (!artifacts_.contains(need))
        return unfit(file, fmt::format("artifact {} needs {}, which is not there", name, need));
  }
  return {};
}

Result<BuildStage> Topology::stage(const std::string& name) const {
  auto found = std::find_if(stages_.begin(), stages_.end(), [&](const auto& stage) { return stage.name == name; });
  if (found != stages_.end()) return *found;
  std::vector<std::string> names;
  for (const auto& stage : stages_) names.push_back(stage.name);
  return fail(ErrorKind::not_found, "A096", fmt::format("the build has no stage {}", name),
              "it has " + text::join(names, ", "));
}

std::string Topology::type_of(const std::string& artifact) const {
  auto found = artifacts_.find(artifact);
  return found == artifacts_.end() ? "" : found->second.type;
}

std::set<std::string> Topology::produced(const BuildStage& stage) const {
  std::set<std::string> names;
  for (const auto& [name, artifact] : artifacts_)
    if (std::find(stage.groups.begin(), stage.groups.end(), artifact.group) != stage.groups.end()) names.insert(name);
  return names;
}

void Topology::collect(const std::string& artifact, std::set<std::string>& into) const {
  std::vector<std::string> open{artifact};
  while (!open.empty()) {
    auto name = std::move(open.back());
    open.pop_back();
    if (!into.insert(name).second) continue;
    const auto& needs = artifacts_.at(name).needs;
    open.insert(open.end(), needs.begin(), needs.end());
  }
}

std::set<std::string> Topology::inbound(const BuildStage& stage) const {
  auto made = produced(stage);
  std::set<std::string> needed;
  for (const auto& group : stage.groups)
    for (const auto& other : group_needs_.at(group))
      for (const auto& [name, artifact] : artifacts_)
        if (artifact.group == other) collect(name, needed);
  for (const auto& name : made)
    for (const auto& need : artifacts_.at(name).needs) collect(need, needed);
  std::erase_if(needed, [&](const auto& name) { return made.contains(name); });
  return needed;
}

} // namespace quarry::artifact
