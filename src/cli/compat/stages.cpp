#include "cli/compat/stages.hpp"

#include "artifact/name.hpp"
#include "base/text.hpp"
#include "cli/families.hpp"
#include "matrix/expand.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

constexpr const char* k_topology_file = "BUILD_TOPOLOGY.toml";
constexpr std::uint64_t k_topology_bytes_max = 4u << 20;

std::vector<std::string> listed(const Arguments& arguments, std::string_view flag) {
  return text::split_any(said(arguments, flag).value_or(""), ",; ");
}

/// Exclusions of names that nothing has are typos.
Result<void> check_known(const std::vector<std::string>& said, const std::set<std::string>& known,
                         std::string_view flag) {
  for (const auto& name : said)
    if (!known.contains(name))
      return usage(fmt::format("{} names {}, which does not exist", flag, name),
                   "it has " + text::join(std::vector<std::string>(known.begin(), known.end()), ", "));
  return {};
}

/// Families, those that they stand for, and targets, each once.
Result<std::vector<std::string>> targets_asked(const Context& context, const Arguments& arguments) {
  std::vector<std::string> targets{"generic"};
  auto families = text::split_any(arguments.get("--amdgpu-families"), ",; ");
  if (arguments.has("--generic-only") && !families.empty())
    return usage("--generic-only and --amdgpu-families exclude each other", "use only one of them");
  targets.insert(targets.end(), families.begin(), families.end());
  if (arguments.has("--expand-family-to-targets") && !families.empty()) {
    TRY(auto known, load_families(context, ""));
    TRY(auto expanded, matrix::expand_targets(known, families));
    targets.insert(targets.end(), expanded.begin(), expanded.end());
  }
  if (arguments.has("--generic-only")) return targets;
  for (const auto& target : listed(arguments, "--amdgpu-targets")) targets.emplace_back(artifact::target_base(target));
  return targets;
}

/// Any of these, word for word.
std::string any_of(const std::vector<std::string>& words) {
  std::string joined;
  for (const auto& word : words) {
    if (!joined.empty()) joined += '|';
    for (char c : word) {
      if (std::string_view(".+*?()[]{}^$|\\").find(c) != std::string_view::npos) joined += '\\';
      joined += c;
    }
  }
  return "(" + joined + ")";
}

std::string kind_of(const artifact::Topology& topology, const std::string& name) {
  return fmt::format("  {}  {}\n", name, topology.type_of(name));
}

} // namespace

Result<artifact::Topology> topology_of(const Arguments& arguments) {
  auto file = said(arguments, "--topology").value_or(k_topology_file);
  auto text = sys::read_file(file, k_topology_bytes_max);
  if (!text) {
    auto error = std::move(text).error();
    error.hint = "name the file of the sources that were built: --topology FILE";
    return fail(std::move(error));
  }
  return artifact::Topology::parse({file, *text});
}

Result<Names> inbound_of(const Arguments& arguments) {
  auto stage = said(arguments, "--stage").value_or("all");
  auto excluded = listed(arguments, "--exclude-artifacts");
  bool without = stage == "all" && !said(arguments, "--topology") && !sys::exists(k_topology_file);
  if (without && excluded.empty()) return Names();
  TRY(auto topology, topology_of(arguments));
  std::set<std::string> names = topology.artifacts();
  if (stage != "all") {
    TRY(auto found, topology.stage(stage));
    names = topology.inbound(found);
  }
  TRY_DO(check_known(excluded, topology.artifacts(), "--exclude-artifacts"));
  for (const auto& name : excluded) names.erase(name);
  return Names(std::move(names));
}

Result<Names> produced_of(const Arguments& arguments) {
  auto stages = listed(arguments, "--stage");
  if (stages.empty()) return usage("--stage is missing", "name the stage");
  TRY(auto topology, topology_of(arguments));
  std::set<std::string> names;
  for (const auto& name : stages) {
    if (name == "all") return Names(topology.artifacts());
    TRY(auto stage, topology.stage(name));
    names.merge(topology.produced(stage));
  }
  return Names(std::move(names));
}

Result<Place> staged_place(Context& context, const Arguments& arguments) {
  auto run_id = said(arguments, "--run-id").value_or(context.variable("GITHUB_RUN_ID"));
  if (run_id.empty()) run_id = "local";
  auto staging = said(arguments, "--local-staging-dir");
  auto platform = arguments.get("--platform");
  TRY(auto place,
      place_of(context, arguments, {run_id, platform, "", staging ? "file:" + *staging : arguments.get("--store")}));
  if (staging) { // as the script has it: no bucket, no other repositories
    place.external_repo.clear();
    place.prefix = run_id + "-" + platform;
  }
  return place;
}

Result<std::vector<std::string>> expressions_of(const Context& context, const Arguments& arguments,
                                                const Names& names) {
  TRY(auto targets, targets_asked(context, arguments));
  std::set<std::string> components(artifact::k_components.begin(), artifact::k_components.end());
  auto excluded = listed(arguments, "--exclude-components");
  TRY_DO(check_known(excluded, components, "--exclude-components"));
  for (const auto& component : excluded) components.erase(component);
  auto rest = fmt::format("_{}_{}(:[^_]*)?$", any_of({components.begin(), components.end()}), any_of(targets));
  if (!names) return std::vector<std::string>{"^[^_]+" + rest};
  std::vector<std::string> expressions;
  for (const auto& name : *names) expressions.push_back("^" + any_of({name}) + rest);
  return expressions;
}

Result<int> show_stage(Context& context, const Arguments& arguments) {
  auto name = said(arguments, "--stage");
  if (!name) return usage("--stage is missing", "name the stage");
  TRY(auto topology, topology_of(arguments));
  TRY(auto stage, topology.stage(*name));
  auto inbound = topology.inbound(stage), produced = topology.produced(stage);
  auto text = fmt::format("{}  {}  {}\ngroups  {}\n\ntakes {}\n", stage.name, stage.type, stage.description,
                          text::join(stage.groups, ", "), inbound.size());
  for (const auto& artifact : inbound) text += kind_of(topology, artifact);
  text += fmt::format("\nmakes {}\n", produced.size());
  for (const auto& artifact : produced) text += kind_of(topology, artifact);
  context.out.data(text);
  context.out.document({{"stages", {{{"name", stage.name}, {"inbound", inbound}, {"produced", produced}}}}});
  return 0;
}

Result<int> list_stages(Context& context, const Arguments& arguments) {
  TRY(auto topology, topology_of(arguments));
  Json stages = Json::array();
  for (const auto& stage : topology.stages()) {
    auto inbound = topology.inbound(stage), produced = topology.produced(stage);
    context.out.data(fmt::format("{}  {}  takes {}, makes {}  {}\n", stage.name, stage.type, inbound.size(),
                                 produced.size(), stage.description));
    stages.push_back({{"name", stage.name}, {"inbound", inbound}, {"produced", produced}});
  }
  context.out.document({{"stages", stages}});
  return 0;
}

} // namespace quarry::cli::compat
