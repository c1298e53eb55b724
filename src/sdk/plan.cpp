#include "sdk/plan.hpp"

#include "sdk/choice.hpp"
#include "sdk/device.hpp"
#include "sdk/metadata.hpp"
#include "sdk/packages.hpp"
#include "sdk/platform_tag.hpp"
#include "sdk/recipe_files.hpp"
#include "sdk/split.hpp"
#include "sdk/view.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::sdk {

namespace {

struct Prepared {
  Choice choice;
  PackageInputs inputs;
};

// Checks what was asked for, and reads every artifact that a package takes.
Result<Prepared> prepare(const BuildRequest& request, const Recipe& recipe, const Resources& resources,
                         ArtifactTrees& trees) {
  if (trees.names().empty())
    return fail(
        ErrorKind::not_found, "S004", fmt::format("{} holds no artifact", request.artifact_dir),
        "an artifact is a directory or archive {name}_{component}_{target}, not a tarball of a whole SDK; fetch "
        "some with `quarry artifact fetch`");
  TRY_DO(check_files(recipe, resources));
  TRY_DO(check_other_families(request));
  TRY(auto tag, platform_tag(request, resources));
  TRY(auto choice, choose(request, recipe, trees.names()));
  TRY_DO(trees.read_ahead(choice.artifacts, request.workers));
  TRY_DO(check_form(trees, recipe.takes(Form::split) ? Form::split : Form::whole, choice));
  TRY(auto launcher, read_resource(resources, "launcher"));
  Naming naming{&recipe,         request.version,       request.nonce,
                choice.families, choice.linux_families, choice.windows_families,
                request.platform};
  return Prepared{
      std::move(choice),
      {request, recipe, resources, std::move(naming), content::Rope::literal(std::move(launcher)), std::move(tag)}};
}

bool is_made_for(const Package& package, const Platform& platform) {
  const auto& only = package.platforms;
  return only.empty() || std::find(only.begin(), only.end(), platform) != only.end();
}

std::vector<Instance> runtime_instances(const Recipe& recipe, const std::vector<std::string>& families,
                                        const Platform& platform) {
  std::vector<Instance> instances;
  for (const auto& package : recipe.packages) {
    if (package.role != Role::runtime || !is_made_for(package, platform)) continue;
    if (!package.per_family) instances.push_back({package, ""});
    for (const auto& family : families)
      if (package.per_family) instances.push_back({package, family});
  }
  return instances;
}

// What planning of the packages hands from one to the next.
struct Packages {
  std::vector<PackagePlan> plans;
  Populations populations;
  std::set<std::string> absent; // logical names of packages without files
  std::set<std::string> noted;  // paths whose executable bit differs between artifacts
};

// The view of one package; a finding on its modes.
Result<View> view_of(const PackageInputs& inputs, const Instance& instance, ArtifactTrees& trees,
                     std::set<std::string>& noted, Findings& findings) {
  TRY(auto view, merged_view({inputs.recipe, instance.package, instance.family}, trees));
  auto place = instance.package.role == Role::devel ? instance.package.dist
                                                    : inputs.naming.dist(instance.package, instance.family);
  if (auto note = note_modes(view, place, inputs, noted)) findings.push_back(std::move(*note));
  return view;
}

Result<void> add_runtime(const PackageInputs& inputs, const Instance& instance, ArtifactTrees& trees,
                         Packages& packages, Findings& findings) {
  const auto& [package, family] = instance;
  auto planning = [&] { return "while planning " + inputs.naming.dist(package, family); };
  TRY(auto view, view_of(inputs, instance, trees, packages.noted, findings), planning());
  TRY(auto population, populate_runtime(inputs, instance, view, findings), planning());
  if (population.files.empty()) {
    TRY(auto finding, left_out(inputs, instance));
    packages.absent.insert(package.name);
    findings.push_back(std::move(finding));
    return {};
  }
  TRY(auto plan, plan_runtime(inputs, instance, population, findings));
  packages.plans.push_back(std::move(plan));
  packages.populations[{package.name, family}] = std::move(population);
  return {};
}

// Device code of each target, once the packages are known that it is laid into.
Result<void> add_devices(const PackageInputs& inputs, ArtifactTrees& trees, Packages& packages, Findings& findings) {
  FileOwners owners;
  for (const auto& [key, population] : packages.populations)
    owners.add(inputs.naming.platform(*inputs.recipe.find(key.first), key.second),
               inputs.naming.dist(*inputs.recipe.find(key.first), key.second), population);
  for (const auto& package : inputs.recipe.packages) {
    if (package.role != Role::device || !is_made_for(package, inputs.request.platform)) continue;
    for (const auto& target : inputs.naming.families) {
      Instance instance{package, target};
      auto planning = [&] { return "while planning " + inputs.naming.dist(package, target); };
      TRY(auto view, view_of(inputs, instance, trees, packages.noted, findings), planning());
      TRY(auto population, populate_runtime(inputs, instance, view, findings), planning());
      TRY_DO(leave_to_owners(inputs, instance, population, owners, findings), planning());
      if (population.files.empty()) TRY_DO(left_out(inputs, instance));
      TRY(auto plan, plan_device(inputs, instance, population, findings));
      packages.plans.push_back(std::move(plan));
    }
  }
  return {};
}

Result<void> add_devel(const PackageInputs& inputs, const Package& package, ArtifactTrees& trees, Packages& packages,
                       Findings& findings) {
  // Its links name one family's libraries; where another family is in use, the expansion leads them there.
  Instance instance{package, inputs.naming.devel_family()};
  auto planning = [&] { return "while planning " + package.dist; };
  TRY(auto view, view_of(inputs, instance, trees, packages.noted, findings), planning());
  TRY(auto tree, devel_tree(inputs, instance, view, packages.populations, findings), planning());
  if (tree.files.empty() && tree.links.empty()) {
    TRY(auto finding, left_out(inputs, {package, ""}));
    packages.absent.insert(package.name);
    findings.push_back(std::move(finding));
    return {};
  }
  if (has_errors(findings)) return {}; // nothing will be built; the tar would repeat the first of them
  TRY(auto plan, plan_devel_wheel(inputs, instance, std::move(tree), findings));
  packages.plans.push_back(std::move(plan));
  return {};
}

} // namespace

Result<BuildPlan> plan_build(const BuildRequest& request, const Recipe& recipe, ArtifactTrees& trees,
                             const Resources& resources) {
  TRY(auto prepared, prepare(request, recipe, resources, trees));
  const auto& inputs = prepared.inputs;
  BuildPlan plan;
  plan.artifacts = trees.names().size();
  plan.recipe = recipe.name;
  plan.families = prepared.choice.families;
  plan.default_family = inputs.naming.default_family();
  Packages packages;
  if (recipe.device()) {
    TRY_DO(check_targets_known(trees, prepared.choice,
                               request.families.empty() ? Chosen::by_artifacts : Chosen::by_request, plan.findings));
    check_same_artifacts(prepared.choice, plan.findings);
  }
  for (const auto& instance : runtime_instances(recipe, plan.families, request.platform))
    TRY_DO(add_runtime(inputs, instance, trees, packages, plan.findings));
  TRY_DO(add_devices(inputs, trees, packages, plan.findings));
  for (const auto& package : recipe.packages)
    if (package.role == Role::devel) TRY_DO(add_devel(inputs, package, trees, packages, plan.findings));
  plan.packages = std::move(packages.plans);
  auto unmet = unmet_requirements(recipe, packages.absent);
  plan.findings.insert(plan.findings.end(), unmet.begin(), unmet.end());
  TRY(plan.unused, find_unused(trees, prepared.choice.artifacts, plan.families));
  report_unused(plan.unused, request.artifact_dir, plan.findings);
  TRY_DO(check_platform_tag(inputs.platform_tag, plan.packages, resources, plan.findings));
  if (const auto* meta = recipe.meta()) {
    TRY(plan.sdist, plan_sdist(*meta, inputs.naming, resources));
  }
  return plan;
}

} // namespace quarry::sdk
