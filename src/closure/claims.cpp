#include "closure/claims.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "gpu/target.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::closure {

namespace {
const char* const k_find_job = "find the job that should have built it, or correct the claim";

/// The projects whose wheels name a Python: "cp312-cp312". A wheel for the stable ABI is built once.
std::set<std::string> built_per_python(const std::vector<Package>& set) {
  std::set<std::string> projects;
  for (const auto& package : set)
    if (package.tags && package.tags->python.starts_with("cp3") && package.tags->abi != "abi3")
      projects.insert(package.project);
  return projects;
}

bool has_python(const Package& package, const std::string& python) {
  if (!package.tags) return false;
  auto tag = "cp" + text::replace_all(python, ".", "");
  auto tags = text::split(package.tags->python, '.');
  return std::ranges::find(tags, tag) != tags.end();
}

void check_pythons(const std::vector<Package>& set, const Claims& claims, Findings& findings) {
  auto projects = claims.projects.empty() ? built_per_python(set)
                                          : std::set<std::string>(claims.projects.begin(), claims.projects.end());
  if (projects.empty())
    for (const auto& python : claims.pythons)
      findings.push_back(
          {"Q432", Severity::error, "set",
           fmt::format("{} claims wheels for Python {}, and no wheel of the set names a Python", claims.file, python),
           k_find_job});
  for (const auto& project : projects)
    for (const auto& python : claims.pythons) {
      bool made = std::ranges::any_of(
          set, [&](const Package& each) { return each.project == project && has_python(each, python); });
      if (!made)
        findings.push_back(
            {"Q432", Severity::error, project,
             fmt::format("{} claims wheels for Python {}, and {} has none", claims.file, python, project), k_find_job});
    }
}

/// A variant ("gfx90a:xnack+") counts as its processor.
bool runs_on(const std::string& code, const std::string& device) {
  auto target = gpu::parse_target(code);
  return gpu::runs_on(target ? target->processor : code, device);
}

bool is_known_target(const std::string& text) {
  auto target = gpu::parse_target(text);
  return target && (gpu::is_foreign(*target) || gpu::known_processor(target->processor) == target->processor);
}

Result<std::vector<std::string>> normal_names(TomlTable& root, std::vector<std::string> names) {
  for (auto& name : names) {
    auto parsed = dist::ProjectName::parse(name);
    if (!parsed) return root.error("projects", fmt::format("{} is not the name of a project", name));
    name = parsed->str();
  }
  return names;
}
} // namespace

Result<Claims> parse_claims(const DataText& data) {
  TRY(auto root,
      TomlTable::parse({data.text, data.file}, {"Q434", "Q434", "docs/formats/set-check.md describes the file"}));
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.claims/1"}, true));
  Claims claims;
  claims.file = data.file;
  for (const auto& [key, list] : {std::pair{"files", &claims.files}, std::pair{"projects", &claims.projects},
                                  std::pair{"pythons", &claims.pythons}, std::pair{"targets", &claims.targets}}) {
    bool said = root.has(key);
    TRY_DO(root.texts(key, *list));
    if (said && list->empty()) return root.error(key, "it is empty, and an empty list claims nothing: leave it out");
  }
  TRY_DO(root.finish());
  TRY(claims.projects, normal_names(root, claims.projects));
  for (const auto& python : claims.pythons)
    if (text::split(python, '.').size() != 2 || !mirror::parse_target(python, Platform::linux))
      return root.error("pythons", fmt::format("{} is not a Python such as 3.12", python));
  for (const auto& target : claims.targets)
    if (!is_known_target(target))
      return root.error("targets", fmt::format("{} is not a GPU that LLVM knows, such as gfx942; families are not "
                                               "targets: `quarry matrix show` lists theirs",
                                               target));
  if (claims.files.empty() && claims.pythons.empty() && claims.targets.empty())
    return root.error("files", "the file claims nothing: files, pythons or targets");
  return claims;
}

Findings check_claims(const std::vector<Package>& set, const Claims& claims) {
  Findings findings;
  for (const auto& glob : claims.files) {
    bool made = std::ranges::any_of(set, [&](const Package& each) { return text::glob_match(glob, each.file); });
    if (!made)
      findings.push_back({"Q431", Severity::error, "set",
                          fmt::format("{} claims {}, and no file matches", claims.file, glob), k_find_job});
  }
  check_pythons(set, claims, findings);
  return findings;
}

Findings check_claimed_targets(const Claims& claims, const std::set<std::string>& made) {
  Findings findings;
  for (const auto& target : claims.targets) {
    bool covered = std::ranges::any_of(made, [&](const std::string& each) { return runs_on(each, target); });
    if (!covered)
      findings.push_back(
          {"Q433", Severity::error, "set",
           fmt::format("{} claims device code for {}, and no file of the set has any", claims.file, target),
           "build for this target, or correct the claim; `quarry gpu list` shows what there is"});
  }
  return findings;
}

} // namespace quarry::closure
