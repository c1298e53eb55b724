#include "sdk/packages.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/family.hpp"
#include "dist/unpacking.hpp"
#include "sdk/windows.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::sdk {

namespace {

PopulateOptions options_for(const PackageInputs& inputs, const Instance& instance) {
  const auto& naming = inputs.naming;
  PopulateOptions options;
  options.launcher = inputs.launcher;
  options.place = naming.dist(instance.package, instance.family);
  options.platform = naming.platform(instance.package, instance.family);
  for (const auto& edge : instance.package.rpath) {
    const auto* other = inputs.recipe.find(edge.package);
    options.run_path.push_back(naming.platform(*other, instance.family) + "/" + edge.path);
  }
  return options;
}

// The plan of a package with its metadata and without members.
Result<PackagePlan> empty_plan(const PackageInputs& inputs, const Package& package, const std::string& family) {
  PackagePlan out;
  out.logical = package.name;
  out.family = family;
  out.dist = inputs.naming.dist(package, family);
  TRY(out.wheel, wheel_frame(package, family, inputs.naming, inputs.resources));
  out.wheel.tags.platform = inputs.platform_tag;
  return out;
}

// The members of the importable package: its files, and what it says about itself.
Result<std::vector<wheel::Member>> pure_members(const PackageInputs& inputs, const Instance& instance,
                                                const Holdings& holdings) {
  auto pure = inputs.naming.pure(instance.package, instance.family);
  TRY(auto files, pure_tree(instance.package, inputs.resources));
  std::vector<wheel::Member> members;
  for (auto& [path, text] : files)
    members.push_back({pure + "/" + path, content::Rope::literal(std::move(text)), false});
  auto info = dist_info(instance.package, instance.family, inputs.naming, holdings);
  members.push_back({pure + "/_dist_info.py", content::Rope::literal(std::move(info)), false});
  return members;
}

void append(std::vector<wheel::Member>& to, std::vector<wheel::Member> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

wheel::Member unpacking_file(const dist::Unpacking& unpacking) {
  return {std::string(dist::k_unpacking_file), content::Rope::literal(dist::render(unpacking)), false};
}

// `paths`: what is made of the wheel below site-packages; the paths of its members are added.
void check_lengths(const PackagePlan& plan, std::vector<std::string> paths, Findings& findings) {
  for (const auto& member : plan.wheel.members) paths.push_back(member.path);
  check_windows_lengths(paths, plan.dist, findings);
}

bool holds_library(const Population& population) {
  // Libraries of Windows in artifacts for Linux get a finding of their own (S036).
  return std::any_of(population.files.begin(), population.files.end(), [](const auto& file) {
    return file.first.ends_with(".dll") || path::basename(file.first).find(".so") != std::string::npos;
  });
}

Finding incomplete(const PackagePlan& plan, const BuildRequest& request) {
  return {"S024", request.require_complete ? Severity::error : Severity::note, plan.dist,
          fmt::format("not a complete set: no program for {}", text::join(plan.missing_scripts, ", ")),
          "the artifacts that hold them are not in " + request.artifact_dir};
}

// It is unpacked under a passing name first (rocm_sdk._devel), which is the longer one.
std::vector<std::string> unpacked_paths(const std::string& platform, const DevelTree& tree) {
  auto top = platform + ".partial/";
  std::vector<std::string> paths;
  for (const auto& [path, file] : tree.files) paths.push_back(top + path);
  for (const auto& [path, target] : tree.links) paths.push_back(top + path);
  return paths;
}

std::string payload_name(const Package& package, codec::Compression compression) {
  if (compression == codec::Compression::none) return package.payload;
  return package.payload.substr(0, package.payload.rfind(".tar")) + std::string(codec::suffix_of(compression));
}

const Package* devel_package(const Recipe& recipe) {
  auto it = std::find_if(recipe.packages.begin(), recipe.packages.end(),
                         [](const Package& p) { return p.role == Role::devel; });
  return it == recipe.packages.end() ? nullptr : &*it;
}

} // namespace

ScriptChoice choose_scripts(const Package& package, const Population& population, const Platform& platform) {
  ScriptChoice choice;
  for (const auto& script : package.scripts) {
    const auto& only = script.platforms;
    if (!only.empty() && std::find(only.begin(), only.end(), platform) == only.end()) continue;
    auto program = script.program;
    if (platform == Platform::windows && !program.ends_with(".exe")) program += ".exe"; // Windows runs nothing else
    if (population.files.contains(program)) {
      choice.held.push_back(script);
      choice.held.back().program = std::move(program);
    } else if (script.required) {
      choice.missing.push_back(script.name);
    }
  }
  return choice;
}

std::optional<Finding> note_modes(const View& view, const std::string& place, const PackageInputs& inputs,
                                  std::set<std::string>& noted) {
  std::vector<std::string> fresh;
  for (const auto& [path, artifacts] : view.executable_in_some)
    if (noted.insert(path).second) fresh.push_back(fmt::format("{} ({})", path, artifacts));
  if (fresh.empty() || inputs.for_windows()) return std::nullopt;
  return Finding{"S050", Severity::note, place,
                 fmt::format("{} is executable in one artifact and not in another, and is made executable{}",
                             fresh.front(), fresh.size() == 1 ? "" : fmt::format("; so are {} more", fresh.size() - 1)),
                 ""};
}

Result<Population> populate_runtime(const PackageInputs& inputs, const Instance& instance, const View& view,
                                    Findings& findings) {
  return (inputs.for_windows() ? populate_windows : populate)(view, options_for(inputs, instance), findings);
}

Result<PackagePlan> plan_runtime(const PackageInputs& inputs, const Instance& instance, const Population& population,
                                 Findings& findings) {
  const auto& [package, family] = instance;
  const auto& naming = inputs.naming;
  auto dist = naming.dist(package, family);
  if (!dist::family_of_libraries(dist).empty() && !holds_library(population))
    return fail(ErrorKind::corrupt, "S059",
                fmt::format("{} would hold {} and no library, as if the artifacts of {} were split by GPU target; the "
                            "others are not",
                            dist, units::things(population.files.size(), "file"), family),
                "take all artifacts from one run; `quarry artifact list DIR` shows what each of them is for");
  TRY(auto out, empty_plan(inputs, package, family));
  auto scripts = choose_scripts(package, population, inputs.request.platform);
  for (const auto& script : scripts.held) {
    out.scripts.push_back(script.name);
    out.wheel.entry_points.push_back(
        {"console_scripts", script.name, naming.pure(package, family) + "._cli", entry_point_attribute(script.name)});
  }
  out.missing_scripts = std::move(scripts.missing);
  if (!out.missing_scripts.empty()) findings.push_back(incomplete(out, inputs.request));
  out.input_bytes = population.bytes;
  out.elf_edits = population.elf_edits;
  out.launchers = population.launchers;
  out.aliases = population.aliases.size();
  out.dropped_links = population.dropped_links;
  auto root = naming.platform(package, family);
  for (const auto& [path, file] : population.files)
    out.wheel.members.push_back({root + "/" + path, file.data, file.executable});
  if (!population.files.contains("__init__.py")) out.wheel.members.push_back({root + "/__init__.py", {}, false});
  TRY(auto pure, pure_members(inputs, instance, {std::move(scripts.held), population.libraries}));
  append(out.wheel.members, std::move(pure));
  out.files = out.wheel.members.size();
  if (inputs.for_windows()) check_lengths(out, {}, findings);
  return out;
}

Result<PackagePlan> plan_device(const PackageInputs& inputs, const Instance& instance, const Population& population,
                                Findings& findings) {
  const auto& [package, target] = instance;
  TRY(auto out, empty_plan(inputs, package, target));
  out.input_bytes = population.bytes;
  out.elf_edits = population.elf_edits;
  out.aliases = population.aliases.size();
  out.dropped_links = population.dropped_links;
  auto root = inputs.naming.platform(package, target);
  Json links = Json::array();
  for (const auto& [path, file] : population.files) {
    out.wheel.members.push_back({root + "/" + path, file.data, file.executable});
    links.push_back({{"relpath", path}, {"target", into_sibling(path, root)}});
  }
  Json list{{"version", inputs.naming.version.str()}, {"links", std::move(links)}};
  out.wheel.members.push_back(
      {fmt::format("{}/.devel_links/{}.json", root, target), content::Rope::literal(json::pretty(list)), false});
  // pip removes a directory with the last package that has a file right in it: the overlaid one may go first.
  auto dist = inputs.naming.dist(package, target);
  out.wheel.members.push_back({fmt::format("{}/.{}", root, dist), content::Rope::literal(dist + "\n"), false});
  out.files = out.wheel.members.size();
  const auto* devel = devel_package(inputs.recipe);
  if (devel) out.wheel.dist_info.push_back(unpacking_file({"", inputs.naming.platform(*devel, ""), {root}}));
  if (inputs.for_windows()) {
    std::vector<std::string> mirrored;
    if (devel)
      for (const auto& [path, file] : population.files)
        mirrored.push_back(inputs.naming.platform(*devel, "") + "/" + path);
    check_lengths(out, std::move(mirrored), findings);
  }
  return out;
}

Result<DevelTree> devel_tree(const PackageInputs& inputs, const Instance& instance, const View& view,
                             const Populations& populations, Findings& findings) {
  const auto& package = instance.package;
  std::vector<RuntimeTree> runtime;
  for (const auto& name : package.links_into) {
    const auto* other = inputs.recipe.find(name);
    auto it = populations.find({name, other->per_family ? instance.family : ""});
    if (it != populations.end()) runtime.push_back({inputs.naming.platform(*other, instance.family), &it->second});
  }
  auto options = options_for(inputs, instance);
  options.for_windows = inputs.for_windows();
  (inputs.for_windows() ? check_windows_names : check_names)(view, package.dist, findings);
  return plan_devel(view, runtime, options, findings);
}

Result<PackagePlan> plan_devel_wheel(const PackageInputs& inputs, const Instance& instance, DevelTree tree,
                                     Findings& findings) {
  const auto& [package, family] = instance;
  const auto& naming = inputs.naming;
  if (!tree.files.contains("__init__.py")) tree.files["__init__.py"] = {};
  TRY(auto out, empty_plan(inputs, package, ""));
  out.wheel.metadata.requires_dist = naming.requirements(package, family);
  out.input_bytes = tree.bytes;
  out.dropped_links = tree.dropped_links;
  auto platform = naming.platform(package, "");
  TRY(auto payload, devel_tar(tree, platform), "while planning " + package.dist);
  auto name = naming.pure(package, family) + "/" + payload_name(package, inputs.request.payload);
  if (inputs.request.payload != codec::Compression::none) out.payload = name;
  dist::Unpacking unpacking{name, platform, {}};
  const auto* device = inputs.recipe.device();
  for (const auto& linked : package.links_into) { // others have one place each, which the payload itself names
    const auto* other = inputs.recipe.find(linked);
    bool varies = other->per_family || (device && device->overlays == linked);
    if (varies) unpacking.beside.push_back(naming.platform(*other, other->per_family ? "*" : ""));
  }
  out.wheel.dist_info.push_back(unpacking_file(unpacking));
  out.wheel.members.push_back({std::move(name), std::move(payload), false});
  for (const auto& [path, file] : tree.files) out.inside.push_back({path, file.data, file.executable});
  TRY(auto pure, pure_members(inputs, instance, {}));
  append(out.wheel.members, std::move(pure));
  if (inputs.for_windows()) check_lengths(out, unpacked_paths(platform, tree), findings);
  out.files = tree.files.size() + tree.links.size();
  return out;
}

Result<Finding> left_out(const PackageInputs& inputs, const Instance& instance) {
  const auto& package = instance.package;
  auto place = inputs.recipe.place(package, "select");
  if (package.per_family)
    return fail(
        ErrorKind::not_found, "S006",
        fmt::format("family {} has no files for {}", instance.family, inputs.naming.dist(package, instance.family)),
        fmt::format("{} says what is looked for; omit the family with --{}-amdgpu-families, or fetch "
                    "its artifacts",
                    place, inputs.request.platform));
  auto what = fmt::format("{}: nothing is selected for the package {}", place, package.dist);
  constexpr const char* k_hint =
      "`quarry artifact list DIR` shows what there is, with the directory of `--artifact-dir`";
  if (package.required || package.never_empty)
    return fail(ErrorKind::not_found, "S007",
                what + (package.required ? ", which is required" : ", which must not be empty"), k_hint);
  return Finding{"S026", Severity::warning, package.dist, what + "; it is left out", k_hint};
}

Findings unmet_requirements(const Recipe& recipe, const std::set<std::string>& absent) {
  Findings findings;
  for (const auto& package : recipe.packages) {
    if (absent.contains(package.name)) continue;
    for (const auto& name : package.requires_packages)
      if (absent.contains(name))
        findings.push_back({"S027", Severity::error, package.dist,
                            fmt::format("{}: {} has no files, so nothing could install this package",
                                        recipe.place(package, "requires"), name),
                            "fetch its artifacts, or fix what it selects"});
  }
  return findings;
}

} // namespace quarry::sdk
