#include "matrix/expand.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::matrix {

namespace {
Unexpected refused(std::string code, std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, std::move(code), std::move(message), std::move(hint));
}

std::vector<std::string> names_of(const Families& families) {
  std::vector<std::string> names;
  for (const auto& family : families.families) names.push_back(family.name);
  return names;
}

Unexpected unknown(const Families& families, const std::string& name) {
  std::vector<std::string> owners;
  for (const auto& family : families.families)
    if (contains(families.targets_of(family.name), name)) owners.push_back(family.name);
  auto message = owners.empty() ? fmt::format("the family {} does not exist", name)
                                : fmt::format("{} is a target, not a family", name);
  auto hint = owners.empty() ? "known are " + text::join(names_of(families), ", ")
                             : "the families that hold it: " + text::join(owners, ", ");
  return refused("F003", std::move(message), std::move(hint));
}

/// The tiers of a trigger. nullopt: no tier at all, families are named one by one.
Result<std::optional<std::vector<std::string>>> tiers_of(const Families& families, const std::string& trigger) {
  using Tiers = std::optional<std::vector<std::string>>;
  if (auto event = families.triggers.find(trigger); event != families.triggers.end())
    return event->second.empty() ? Tiers() : Tiers(event->second);
  auto tiers = text::split_any(trigger, ", ");
  bool known = !tiers.empty() &&
               std::all_of(tiers.begin(), tiers.end(), [&](const auto& t) { return contains(families.tiers, t); });
  if (known) return Tiers(tiers);
  std::vector<std::string> events;
  for (const auto& [event, of] : families.triggers) events.push_back(event);
  return refused(
      "F005", fmt::format("{:?} is not a trigger", trigger),
      fmt::format("an event ({}) or tiers ({})", text::join(events, ", "), text::join(families.tiers, ", ")));
}

/// The families that are meant, in the order of the file, each once.
Result<std::vector<const Family*>> chosen(const Families& families, const ExpandRequest& request) {
  TRY(auto tiers, tiers_of(families, request.trigger));
  if (!tiers && request.families.empty())
    return refused("F004", fmt::format("{} runs only what is named", request.trigger),
                   "name the families with --families");
  std::vector<const Family*> named;
  for (const auto& name : request.families) {
    const auto* family = families.find(name);
    if (!family) return unknown(families, name);
    if (tiers && !contains(*tiers, family->tier))
      return refused("F004",
                     fmt::format("{} does not run {}: its tier is {}", family->key, request.trigger, family->tier),
                     "use --trigger workflow_dispatch to name any family");
    if (!family->find(request.platform))
      return refused("F004", fmt::format("{} is not built on {}", family->key, request.platform),
                     "omit it for this platform");
    named.push_back(family);
  }
  std::vector<const Family*> result;
  for (const auto& family : families.families) {
    bool wanted = request.families.empty() ? contains(*tiers, family.tier)
                                           : std::find(named.begin(), named.end(), &family) != named.end();
    if (wanted) result.push_back(&family);
  }
  return result;
}

Result<std::vector<const Variant*>> chosen_variants(const Families& families, const ExpandRequest& request) {
  std::vector<const Variant*> result;
  auto known = families.variants.find(request.platform);
  if (known == families.variants.end())
    return refused("F006", fmt::format("{} has no build variants", request.platform), "add them to the families file");
  bool all = contains(request.variants, "all");
  std::vector<std::string> names;
  for (const auto& variant : known->second) {
    names.push_back(variant.name);
    if (all || contains(request.variants, variant.name)) result.push_back(&variant);
  }
  for (const auto& name : request.variants)
    if (name != "all" && !contains(names, name))
      return refused("F006", fmt::format("{} is not built as {:?}", request.platform, name),
                     "choose from " + text::join(names, ", ") + " or all");
  return result;
}

TestState state_of(const Cell& cell) {
  if (cell.variant->expected_failure || contains(cell.place->expected_failure, "build"))
    return TestState::expected_failure;
  if (cell.test_runner.empty()) return TestState::no_runner;
  if (cell.place->tests == Scope::sanity) return TestState::sanity_only;
  return cell.place->tests == Scope::all ? TestState::tested : TestState::restricted;
}

Cell make_cell(const Families& families, const Family& family, const Variant& variant, const ExpandRequest& request) {
  Cell cell;
  cell.family = &family;
  cell.place = family.find(request.platform);
  cell.variant = &variant;
  cell.artifact_group = family.name + (variant.suffix.empty() ? "" : "-" + variant.suffix);
  cell.targets = families.targets_of(family.name);
  auto pick = [&](const Runners* runners, std::string_view purpose) {
    auto seed = request.seed.empty() ? "" : fmt::format("{}/{}/{}/{}", request.seed, family.key, variant.name, purpose);
    return runners ? choose(*runners, seed) : std::string();
  };
  if (auto kinds = families.build_runners.find(request.platform); kinds != families.build_runners.end())
    if (auto kind = kinds->second.find(variant.build); kind != kinds->second.end())
      cell.build_runner = pick(&kind->second, "build");
  const Runners* testers = nullptr;
  for (const auto& purpose : variant.test)
    if (!testers) testers = cell.place->find(purpose);
  cell.test_runner = pick(testers, "test");
  cell.multi_gpu_runner = pick(cell.place->find("multi-gpu"), "multi-gpu");
  cell.benchmark_runner = pick(cell.place->find("benchmark"), "benchmark");
  cell.state = state_of(cell);
  cell.held = cell.state == TestState::no_runner || cell.state == TestState::expected_failure;
  return cell;
}

Json runners_json(const Place& place) {
  Json all = Json::object();
  for (const auto& [purpose, runners] : place.runners)
    for (const auto& runner : runners) all[purpose].push_back({{"label", runner.label}, {"weight", runner.weight}});
  return all;
}
} // namespace

std::string_view to_string(TestState state) {
  switch (state) {
  case TestState::tested: return "tested";
  case TestState::sanity_only: return "sanity_only";
  case TestState::restricted: return "restricted";
  case TestState::no_runner: return "no_runner";
  case TestState::expected_failure: return "expected_failure";
  }
  return "";
}

Result<Expansion> expand(const Families& families, const ExpandRequest& asked) {
  auto request = asked;
  if (!request.platform.kind())
    return refused("F004", fmt::format("{:?} is not a platform", request.platform.text()),
                   "choose one of: " + text::join(platform_names(), ", "));
  if (request.variants.empty()) request.variants = {"release"};
  TRY(auto selected, chosen(families, request));
  TRY(auto variants, chosen_variants(families, request));
  Expansion result;
  for (const auto* family : selected) {
    const auto* place = family->find(request.platform);
    if (!place) {
      result.skipped.push_back(fmt::format("{} is not built on {}", family->key, request.platform));
      continue;
    }
    for (const auto* variant : variants)
      if (contains(place->variants, variant->name))
        result.cells.push_back(make_cell(families, *family, *variant, request));
      else
        result.skipped.push_back(fmt::format("{} is not built as {}", family->key, variant->name));
  }
  return result;
}

Json cell_json(const Cell& cell) {
  const auto& place = *cell.place;
  return {{"family", cell.family->key},
          {"amdgpu_family", cell.family->name},
          {"artifact_group", cell.artifact_group},
          {"platform", place.platform},
          {"tier", cell.family->tier},
          {"gfx_targets", cell.targets},
          {"fetch_gfx_targets", place.fetch},
          {"build_variant", cell.variant->name},
          {"build_variant_suffix", cell.variant->suffix},
          {"build_variant_cmake_preset", cell.variant->preset},
          {"build_runs_on", cell.build_runner},
          {"test_runs_on", cell.test_runner},
          {"test_runs_on_multi_gpu", cell.multi_gpu_runner},
          {"benchmark_runs_on", cell.benchmark_runner},
          {"test_runs_on_kernel", place.kernels},
          {"runners", runners_json(place)},
          {"tests", to_string(place.tests)},
          {"state", to_string(cell.state)},
          {"held", cell.held},
          {"expect_failure", cell.state == TestState::expected_failure},
          {"expect_pytorch_failure", contains(place.expected_failure, "pytorch")},
          {"release_untested", place.release_untested},
          {"reason", place.reason}};
}

Result<std::string> github_matrix(const Expansion& expansion) {
  if (expansion.cells.size() > k_github_jobs_max)
    return refused(
        "F007",
        fmt::format("{} jobs are more than the {} of one GitHub matrix", expansion.cells.size(), k_github_jobs_max),
        "split them by --families or --variant");
  Json include = Json::array();
  for (const auto& cell : expansion.cells) include.push_back(cell_json(cell));
  TRY(auto text, json::canonical(Json{{"include", include}}));
  if (text.size() * 2 > k_github_output_max)
    return refused("F007",
                   fmt::format("the matrix has {} characters; as UTF-16 an output of GitHub holds {}", text.size(),
                               k_github_output_max / 2),
                   "split it by --families or --variant");
  return text;
}

Result<std::vector<std::string>> expand_targets(const Families& families, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const auto& name : names) {
    auto targets = families.targets_of(name);
    // The short key of a family ("gfx94x") is nobody's group: it stands for the family's own name.
    if (const auto* family = families.find(name); targets.empty() && family)
      targets = families.targets_of(family->name);
    if (targets.empty()) return unknown(families, name);
    for (auto& target : targets)
      if (!contains(result, target)) result.push_back(std::move(target));
  }
  return result;
}

} // namespace quarry::matrix
