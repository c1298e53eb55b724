#include "sdk/choice.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "gpu/target.hpp"
#include "sdk/view.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::sdk {

namespace {

// A family's name becomes part of a Python module, a wheel and a generated file: letters, digits and '-', nothing else.
bool is_family_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return ascii::is_alnum(c) || c == '-'; });
}

bool is_gpu_family(std::string_view name) { return is_family_name(name) && name.starts_with("gfx") && name.size() > 3; }

// The order of a flag's words must not reach the packages.
std::vector<std::string> in_order(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool has_family_packages(const Recipe& recipe) {
  return std::any_of(recipe.packages.begin(), recipe.packages.end(), [](const Package& p) { return p.per_family; });
}

const std::vector<std::string>& other_families(const BuildRequest& request) {
  return request.platform == Platform::windows ? request.linux_families : request.windows_families;
}

Result<std::set<std::string>> families_of(const std::vector<artifact::Name>& names) {
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
  return present;
}

// The device code of split artifacts is built for targets, and the lists of a release name families.
Result<std::vector<std::string>> as_chosen(const BuildRequest& request, const Recipe& recipe,
                                           const std::vector<std::string>& families) {
  if (!request.expand_family || !recipe.takes(Form::split)) return families;
  std::vector<std::string> targets;
  for (const auto& family : families) {
    if (gpu::known_processor(family) == family) {
      targets.push_back(family); // also one that no family has
      continue;
    }
    TRY(auto some, request.expand_family(family));
    for (auto& target : some) targets.emplace_back(artifact::target_base(target));
  }
  return in_order(std::move(targets));
}

Result<std::vector<std::string>> choose_families(const BuildRequest& request, const Recipe& recipe,
                                                 const std::vector<std::string>& asked,
                                                 const std::set<std::string>& present) {
  if (present.empty() && asked.empty() && has_family_packages(recipe))
    return fail(ErrorKind::not_found, "S005",
                fmt::format("no artifact in {} is for a GPU family: all are generic", request.artifact_dir),
                "fetch the artifacts of a family as well: `quarry artifact fetch --artifact-group FAMILY`");
  std::vector<std::string> list(present.begin(), present.end());
  if (asked.empty()) return list;
  auto wanted = in_order(asked);
  std::vector<std::string> missing;
  for (const auto& family : wanted)
    if (!present.contains(family)) missing.push_back(family);
  if (!missing.empty())
    return fail(ErrorKind::not_found, "S005",
                fmt::format("no artifact in {} is for {} {}", request.artifact_dir,
                            recipe.takes(Form::split) ? "target" : "family", text::join(missing, ", ")),
                list.empty() ? "the directory holds generic artifacts only"
                             : "it holds " + text::join(list, ", ") + "; names are case-sensitive");
  return wanted;
}

// What any package takes for any family that is built.
std::vector<artifact::Name> selected(const Recipe& recipe, std::vector<std::string> families,
                                     const std::vector<artifact::Name>& names) {
  families.emplace_back(); // packages without one
  std::vector<artifact::Name> taken;
  std::copy_if(names.begin(), names.end(), std::back_inserter(taken), [&](const artifact::Name& name) {
    return std::any_of(recipe.packages.begin(), recipe.packages.end(), [&](const Package& package) {
      return std::any_of(package.select.begin(), package.select.end(), [&](const Selection& selection) {
        return std::any_of(families.begin(), families.end(), [&](const std::string& family) {
          return selects({recipe, package, family}, selection, name);
        });
      });
    });
  });
  return taken;
}

} // namespace

Result<void> check_other_families(const BuildRequest& request) {
  for (const auto& name : other_families(request))
    if (!is_gpu_family(name))
      return fail(ErrorKind::invalid_argument, "S044",
                  fmt::format("--{}-amdgpu-families names {:?}, which is not a GPU family",
                              request.platform == Platform::windows ? "linux" : "windows", name),
                  "families are called such as gfx94X-dcgpu: gfx, then letters, digits and '-'; `quarry matrix show` "
                  "lists them");
  return {};
}

Result<Choice> choose(const BuildRequest& request, const Recipe& recipe, const std::vector<artifact::Name>& names) {
  TRY(auto present, families_of(names));
  Choice choice;
  TRY(auto wanted, as_chosen(request, recipe, request.families));
  TRY(choice.families, choose_families(request, recipe, wanted, present));
  TRY(choice.linux_families, as_chosen(request, recipe, request.linux_families));
  TRY(choice.windows_families, as_chosen(request, recipe, request.windows_families));
  choice.linux_families = in_order(std::move(choice.linux_families));
  choice.windows_families = in_order(std::move(choice.windows_families));
  auto& own = request.platform == Platform::windows ? choice.windows_families : choice.linux_families;
  if (!other_families(request).empty() && own.empty()) own = choice.families;
  choice.artifacts = selected(recipe, choice.families, names);
  return choice;
}

} // namespace quarry::sdk
