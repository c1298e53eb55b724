#include "sdk/plan.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/family.hpp"
#include "sdk/devel.hpp"
#include "sdk/dist_info.hpp"
#include "sdk/metadata.hpp"
#include "sdk/platform_tag.hpp"
#include "sdk/populate.hpp"
#include "sdk/recipe_files.hpp"
#include "sdk/split.hpp"
#include "sdk/view.hpp"
#include "sdk/windows.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::sdk {

namespace {

// A family's name becomes part of a Python module, a wheel and a generated file: letters, digits and '-', nothing else.
bool is_family_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// The order of a flag's words must not reach the packages.
std::vector<std::string> in_order(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// No artifacts of the other platform are at hand, so only the form of the name can be checked: gfx…
bool is_gpu_family(std::string_view name) { return is_family_name(name) && name.starts_with("gfx") && name.size() > 3; }

Result<void> check_listed(const std::vector<std::string>& names, std::string_view platform) {
  for (const auto& name : names)
    if (!is_gpu_family(name))
      return fail(ErrorKind::invalid_argument, "S044",
                  fmt::format("--{}-amdgpu-families names {:?}, which is not a GPU family", platform, name),
                  "families are called such as gfx94X-dcgpu: gfx, then letters, digits and '-'; `quarry matrix show` "
                  "lists them");
  return {};
}

bool has_family_packages(const Recipe& recipe) {
  return std::any_of(recipe.packages.begin(), recipe.packages.end(), [](const Package& p) { return p.per_family; });
}

Result<std::vector<std::string>> choose_families(const BuildRequest& request, const Recipe& recipe,
                                                 const std::vector<artifact::Name>& names) {
  std::set<std::string> present;
  for (const auto& name : names) {
    std::string target(name.target_base());
    if (target == "generic") continue;
    if (!is_family_name(target))
      return fail(ErrorKind::invalid_argument, "S008",
                  fmt::format("artifact {} has a target that cannot name a package", name.text()),
                  "targets are letters, digits and '-', such as gfx94X-dcgpu");
    present.insert(target);
  }
  if (present.empty() && request.families.empty() && has_family_packages(recipe))
    return fail(ErrorKind::not_found, "S005",
                fmt::format("no artifact in {} is for a GPU family: all are generic", request.artifact_dir),
                "fetch the artifacts of a family as well: `quarry artifact fetch --artifact-group FAMILY`");
  if (request.families.empty()) return std::vector<std::string>(present.begin(), present.end());
  auto wanted = in_order(request.families);
  for (const auto& family : wanted)
    if (!present.contains(family)) {
      std::vector<std::string> list(present.begin(), present.end());
      return fail(ErrorKind::not_found, "S005",
                  fmt::format("no artifact in {} is for family {}", request.artifact_dir, family),
                  list.empty() ? "the directory holds generic artifacts only"
                               : "it holds " + text::join(list, ", ") + "; names are case-sensitive");
    }
  return wanted;
}

class Planner {
public:
  Planner(const BuildRequest& request, const Recipe& recipe, const artifact::Catalogue& catalogue,
          const Resources& resources)
      : request_(request), recipe_(recipe), resources_(resources), trees_(catalogue, request.trees) {}

  Result<BuildPlan> run() {
    plan_.artifacts = trees_.names().size();
    if (trees_.names().empty())
      return fail(ErrorKind::not_found, "S004", fmt::format("{} holds no artifact", request_.artifact_dir),
                  "an artifact is a directory or archive {name}_{component}_{target}; fetch some with `quarry artifact "
                  "fetch`");
    TRY_DO(check_files(recipe_, resources_));
    TRY_DO(check_listed(other_families(), windows() ? "linux" : "windows"));
    TRY(platform_tag_, platform_tag(request_, resources_));
    TRY_DO(refuse_split(trees_));
    TRY(plan_.families, choose_families(request_, recipe_, trees_.names()));
    auto wanted = selected();
    TRY_DO(trees_.read_ahead(wanted, request_.workers));
    TRY_DO(refuse_split(trees_));
    TRY(auto launcher, resources_text("launcher"));
    launcher_ = content::Rope::literal(std::move(launcher));
    naming_ = Naming{&recipe_,
                     request_.version,
                     request_.nonce,
                     plan_.families,
                     in_order(request_.linux_families),
                     in_order(request_.windows_families),
                     request_.platform};
    list_what_is_built();
    plan_.default_family = naming_.default_family();
    for (const auto& package : recipe_.packages)
      if (package.role == Role::runtime) TRY_DO(runtime(package));
    for (const auto& package : recipe_.packages)
      if (package.role == Role::devel) TRY_DO(devel(package));
    check_requirements();
    TRY(plan_.unused, find_unused(trees_, wanted, plan_.families));
    report_unused(plan_.unused, request_.artifact_dir, plan_.findings);
    TRY_DO(check_platform_tag(platform_tag_, plan_.packages, resources_, plan_.findings));
    if (const auto* meta = recipe_.meta()) {
      TRY(plan_.sdist, plan_sdist(*meta, naming_, resources_));
    }
    return std::move(plan_);
  }

private:
  // What any package takes for any family that is built.
  std::vector<artifact::Name> selected() const {
    auto families = plan_.families;
    families.emplace_back(); // packages without one
    std::vector<artifact::Name> names;
    for (const auto& name : trees_.names()) {
      bool taken = std::any_of(recipe_.packages.begin(), recipe_.packages.end(), [&](const Package& package) {
        return std::any_of(package.select.begin(), package.select.end(), [&](const Selection& selection) {
          return std::any_of(families.begin(), families.end(), [&](const std::string& family) {
            return selects({recipe_, package, family}, selection, name);
          });
        });
      });
      if (taken) names.push_back(name);
    }
    return names;
  }

  const std::vector<std::string>& other_families() const {
    return windows() ? request_.linux_families : request_.windows_families;
  }

  // With the other platform's list alone, the release would say that it has nothing for this one.
  void list_what_is_built() {
    if (other_families().empty()) return;
    auto& own = windows() ? naming_.windows_families : naming_.linux_families;
    if (own.empty()) own = plan_.families;
  }

  bool windows() const { return request_.platform == "windows"; }

  Result<std::string> resources_text(std::string_view name) { return read_resource(resources_, name); }

  Result<void> runtime(const Package& package) {
    if (!package.per_family) return runtime_instance(package, "");
    for (const auto& family : plan_.families) TRY_DO(runtime_instance(package, family));
    return {};
  }

  PopulateOptions options_for(const Package& package, const std::string& family) const {
    PopulateOptions options;
    options.launcher = launcher_;
    options.place = naming_.dist(package, family);
    options.platform = naming_.platform(package, family);
    for (const auto& edge : package.rpath) {
      const auto* other = recipe_.find(edge.package);
      options.run_path.push_back(naming_.platform(*other, family) + "/" + edge.path);
    }
    return options;
  }

  // Each file once, in the first package that holds it: devel sees those of the others again.
  void note_modes(const View& view, const std::string& place) {
    std::vector<std::string> fresh;
    for (const auto& [path, artifacts] : view.executable_in_some)
      if (noted_modes_.insert(path).second) fresh.push_back(fmt::format("{} ({})", path, artifacts));
    if (fresh.empty() || windows()) return;
    plan_.findings.push_back(
        {"S050", Severity::note, place,
         fmt::format("{} is executable in one artifact and not in another, and is made executable{}", fresh.front(),
                     fresh.size() == 1 ? "" : fmt::format("; so are {} more", fresh.size() - 1)),
         ""});
  }

  Result<void> runtime_instance(const Package& package, const std::string& family) {
    TRY(auto view, merged_view({recipe_, package, family}, trees_), "while planning " + naming_.dist(package, family));
    note_modes(view, naming_.dist(package, family));
    TRY(auto population, (windows() ? populate_windows : populate)(view, options_for(package, family), plan_.findings),
        "while planning " + naming_.dist(package, family));
    if (population.files.empty()) return nothing(package, family);
    // Libraries of Windows in artifacts for Linux get a finding of their own (S036).
    bool has_library = std::any_of(population.files.begin(), population.files.end(), [](const auto& file) {
      return file.first.ends_with(".dll") || path::basename(file.first).find(".so") != std::string::npos;
    });
    if (!dist::family_of_libraries(naming_.dist(package, family)).empty() && !has_library)
      return fail(ErrorKind::unsupported, "S053",
                  fmt::format("{} would hold {} and no library: the artifacts of {} are split by GPU target",
                              naming_.dist(package, family), units::things(population.files.size(), "file"), family),
                  "take artifacts of a run that was built with KPACK_SPLIT_ARTIFACTS=OFF");
    auto& out = plan_.packages.emplace_back();
    TRY_DO(describe(package, family, out));
    scripts(package, population, out);
    out.input_bytes = population.bytes;
    out.elf_edits = population.elf_edits;
    out.launchers = population.launchers;
    out.aliases = population.aliases.size();
    out.dropped_links = population.dropped_links;
    auto root = naming_.platform(package, family);
    for (const auto& [path, file] : population.files)
      out.wheel.members.push_back({root + "/" + path, file.data, file.executable});
    if (!population.files.contains("__init__.py")) out.wheel.members.push_back({root + "/__init__.py", {}, false});
    TRY_DO(pure_members(package, family, population.libraries, out));
    check_lengths(out, {});
    populations_[{package.name, family}] = std::move(population);
    return {};
  }

  Result<void> nothing(const Package& package, const std::string& family) {
    if (package.per_family)
      return fail(ErrorKind::not_found, "S006",
                  fmt::format("family {} has no files for {}", family, naming_.dist(package, family)),
                  fmt::format("{} says what is looked for; omit the family with --{}-amdgpu-families, or fetch "
                              "its artifacts",
                              recipe_.place(package, "select"), request_.platform));
    auto what =
        fmt::format("{}: nothing is selected for the package {}", recipe_.place(package, "select"), package.dist);
    constexpr const char* k_hint =
        "`quarry artifact list DIR` shows what there is, with the directory of `--artifact-dir`";
    if (package.required) return fail(ErrorKind::not_found, "S007", what + ", which is required", k_hint);
    left_out_.insert(package.name);
    plan_.findings.push_back({"S026", Severity::warning, package.dist, what + "; it is left out", k_hint});
    return {};
  }

  /// A package that asks for one that was left out could not be installed.
  void check_requirements() {
    for (const auto& package : recipe_.packages) {
      if (left_out_.contains(package.name)) continue;
      for (const auto& name : package.requires_packages)
        if (left_out_.contains(name))
          plan_.findings.push_back({"S027", Severity::error, package.dist,
                                    fmt::format("{}: {} has no files, so nothing could install this package",
                                                recipe_.place(package, "requires"), name),
                                    "fetch its artifacts, or fix what it selects"});
    }
  }

  Result<void> describe(const Package& package, const std::string& family, PackagePlan& out) {
    out.logical = package.name;
    out.family = family;
    out.dist = naming_.dist(package, family);
    TRY(out.wheel, wheel_frame(package, family, naming_, resources_));
    out.wheel.tags.platform = platform_tag_;
    return {};
  }

  Result<void> pure_members(const Package& package, const std::string& family,
                            const std::vector<std::string>& libraries, PackagePlan& out) {
    auto pure = naming_.pure(package, family);
    TRY(auto files, pure_tree(package, resources_));
    for (auto& [path, text] : files)
      out.wheel.members.push_back({pure + "/" + path, content::Rope::literal(std::move(text)), false});
    Holdings holdings{scripts_, libraries};
    auto info = dist_info(package, family, naming_, holdings);
    out.wheel.members.push_back({pure + "/_dist_info.py", content::Rope::literal(std::move(info)), false});
    out.files = out.wheel.members.size();
    return {};
  }

  // What a wheel's paths become below site-packages; `more`: what is made of it there.
  void check_lengths(const PackagePlan& out, std::vector<std::string> more) {
    if (!windows()) return;
    for (const auto& member : out.wheel.members) more.push_back(member.path);
    check_windows_lengths(more, out.dist, plan_.findings);
  }

  bool is_here(const Script& script) const {
    return script.platforms.empty() ||
           std::find(script.platforms.begin(), script.platforms.end(), request_.platform) != script.platforms.end();
  }

  // Windows runs what is called .exe.
  std::string program_of(const Script& script) const {
    return windows() && !script.program.ends_with(".exe") ? script.program + ".exe" : script.program;
  }

  void scripts(const Package& package, const Population& population, PackagePlan& out) {
    scripts_.clear();
    for (const auto& script : package.scripts) {
      if (!is_here(script)) continue;
      auto program = program_of(script);
      if (population.files.contains(program)) {
        out.scripts.push_back(script.name);
        out.wheel.entry_points.push_back({"console_scripts", script.name, naming_.pure(package, out.family) + "._cli",
                                          entry_point_attribute(script.name)});
        scripts_.push_back(script);
        scripts_.back().program = program;
      } else if (script.required) {
        out.missing_scripts.push_back(script.name);
      }
    }
    if (out.missing_scripts.empty()) return;
    plan_.findings.push_back(
        {"S024", request_.require_complete ? Severity::error : Severity::note, out.dist,
         fmt::format("not a complete set: no program for {}", text::join(out.missing_scripts, ", ")),
         "the artifacts that hold them are not in " + request_.artifact_dir});
  }

  Result<void> devel(const Package& package) {
    // Its links name one family's libraries; where another family is in use, the expansion leads them there.
    auto family = naming_.devel_family();
    TRY(auto view, merged_view({recipe_, package, family}, trees_), "while planning " + package.dist);
    note_modes(view, package.dist);
    std::vector<RuntimeTree> runtime;
    for (const auto& name : package.links_into) {
      const auto* other = recipe_.find(name);
      auto it = populations_.find({name, other->per_family ? family : ""});
      if (it != populations_.end()) runtime.push_back({naming_.platform(*other, family), &it->second});
    }
    auto options = options_for(package, family);
    options.for_windows = windows();
    (windows() ? check_windows_names : check_names)(view, package.dist, plan_.findings);
    TRY(auto tree, plan_devel(view, runtime, options, plan_.findings), "while planning " + package.dist);
    if (tree.files.empty() && tree.links.empty()) return nothing(package, "");
    if (has_errors(plan_.findings)) return {}; // nothing will be built; the tar would repeat the first of them
    if (!tree.files.contains("__init__.py")) tree.files["__init__.py"] = {};
    auto& out = plan_.packages.emplace_back();
    TRY_DO(describe(package, "", out));
    out.wheel.metadata.requires_dist = naming_.requirements(package, family);
    out.input_bytes = tree.bytes;
    out.dropped_links = tree.dropped_links;
    auto pure = naming_.pure(package, family);
    TRY(auto payload, devel_tar(tree, naming_.platform(package, "")), "while planning " + package.dist);
    auto name = pure + "/" + package.payload;
    if (request_.payload != codec::Compression::none) {
      name = pure + "/" + package.payload.substr(0, package.payload.rfind(".tar")) +
             std::string(codec::suffix_of(request_.payload));
      out.payload = name;
    }
    out.wheel.members.push_back({std::move(name), std::move(payload), false});
    for (const auto& [path, file] : tree.files) out.inside.push_back({path, file.data, file.executable});
    scripts_.clear();
    TRY_DO(pure_members(package, family, {}, out));
    check_lengths(out, devel_paths(package, tree));
    out.files = tree.files.size() + tree.links.size();
    return {};
  }

  // It is unpacked under a passing name first (rocm_sdk._devel), which is the longer one.
  std::vector<std::string> devel_paths(const Package& package, const DevelTree& tree) const {
    auto top = naming_.platform(package, "") + ".partial/";
    std::vector<std::string> paths;
    for (const auto& [path, file] : tree.files) paths.push_back(top + path);
    for (const auto& [path, target] : tree.links) paths.push_back(top + path);
    return paths;
  }

  const BuildRequest& request_;
  const Recipe& recipe_;
  const Resources& resources_;
  Naming naming_{&recipe_, request_.version, "", {}, {}, {}};
  ArtifactTrees trees_;
  content::Rope launcher_;
  std::string platform_tag_;
  std::vector<Script> scripts_; // of the package that is being planned, those whose program it holds
  std::map<std::pair<std::string, std::string>, Population> populations_;
  std::set<std::string> left_out_;    // logical names of packages without files
  std::set<std::string> noted_modes_; // paths whose executable bit differed
  BuildPlan plan_;
};

} // namespace

Result<BuildPlan> plan_build(const BuildRequest& request, const Recipe& recipe, const artifact::Catalogue& catalogue,
                             const Resources& resources) {
  return Planner(request, recipe, catalogue, resources).run();
}

} // namespace quarry::sdk
