#include "gate/expect.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "gate/family.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::gate {

namespace {

/// What the sets of a release have on one platform.
struct Inventory {
  std::set<std::string> families, projects; ///< as dist::family_key() has them
  /// Of projects that have wheels for particular Pythons: what each may be installed with.
  std::map<std::string, std::vector<Reach>> particular;
};

/// A name that cannot be read is a held cell already, so it is left out here.
Inventory inventory_of(const Policy& policy, const std::vector<Subject>& release, const Platform& platform) {
  Inventory found;
  for (const auto& subject : release)
    for (const auto& file : subject.set.files) {
      auto reach = reach_of(file.filename);
      if (!reach || !fits_platform(*reach, platform)) continue;
      found.projects.insert(file.project);
      if (auto family = dist::family_of(file.project, policy.family_projects); !family.empty())
        found.families.insert(family);
      if (!reach->pythons.empty()) found.particular[file.project].push_back(std::move(*reach));
    }
  return found;
}

/// The projects that have wheels for other Pythons and none for this one.
std::vector<std::string> without_python(const Inventory& inventory, const std::string& python) {
  std::vector<std::string> lacking;
  for (const auto& [project, reaches] : inventory.particular)
    if (std::none_of(reaches.begin(), reaches.end(), [&](const Reach& r) { return fits_python(r, python); }))
      lacking.push_back(project);
  return lacking;
}

CellPlan missing(registry::Cell cell, std::string gap) {
  CellPlan plan;
  plan.cell = std::move(cell);
  plan.gap = std::move(gap);
  return plan;
}

/// Whether a set's file was built for the platform. A pure wheel or an sdist can be installed anywhere, so one of a
/// Linux run says nothing of Windows; of a run that names no platform it says no less of the one than of the other.
bool is_built_for(const Subject& subject, const Reach& reach, const Platform& platform) {
  const auto& own = subject.set.origin.platform;
  return fits_platform(reach, platform) && (!reach.platforms.empty() || own.empty() || own == platform);
}

/// Whether a set has a file for which `fits` (of the set, the file and its reach) is true.
template <class Fits> bool any_file(const std::vector<Subject>& release, Fits fits) {
  for (const auto& subject : release)
    for (const auto& file : subject.set.files)
      if (auto reach = reach_of(file.filename); reach && fits(subject, file, *reach)) return true;
  return false;
}

/// Whether a set brings a wheel of the framework for the cell. A job that builds it for one family says so by its
/// group, any other job builds it for all families. An sdist is not a build.
bool has_framework(const std::vector<Subject>& release, const registry::Cell& cell) {
  return any_file(release, [&](const Subject& subject, const registry::FileRecord& file, const Reach& reach) {
    const auto& group = subject.set.origin.group;
    bool of_family =
        cell.family.empty() || !group.starts_with("gfx") || dist::family_key(group) == dist::family_key(cell.family);
    return of_family && file.project == dist::family_key(cell.framework) && file.filename.ends_with(".whl") &&
           is_built_for(subject, reach, cell.platform) && fits_python(reach, cell.python);
  });
}

/// What is expected, and who expects it.
struct Asked {
  const Expectation& expectation;
  std::string by;
};

/// For each expected Python; there for each expected family, or once if no family has it.
void add_missing_framework(const std::vector<Subject>& release, const Asked& asked, const registry::Cell& framework,
                           std::vector<CellPlan>& cells) {
  auto add = [&](const registry::Cell& cell) {
    auto where = cell.python.empty() ? std::string() : " for Python " + cell.python;
    if (!cell.family.empty()) where += (where.empty() ? " for " : " and ") + cell.family;
    cells.push_back(
        missing(cell, fmt::format("{} expects {}{}, which no set brings", asked.by, cell.framework, where)));
  };
  auto pythons = asked.expectation.pythons;
  if (pythons.empty()) pythons.emplace_back();
  for (const auto& python : pythons) {
    auto cell = framework;
    cell.python = python;
    if (!has_framework(release, cell)) {
      add(cell);
      continue;
    }
    for (const auto& family : asked.expectation.families) {
      cell.family = family;
      if (!has_framework(release, cell)) add(cell);
    }
  }
}

void add_missing(const Policy& policy, const std::vector<Subject>& release, const Asked& asked,
                 std::vector<CellPlan>& cells) {
  const auto& expect = asked.expectation;
  for (const auto& platform : expect.platforms) {
    auto before = cells.size();
    auto inventory = inventory_of(policy, release, platform);
    std::vector<std::string> projects;
    for (const auto& project : expect.projects)
      if (!inventory.projects.contains(dist::family_key(project))) projects.push_back(project);
    if (!projects.empty())
      cells.push_back(missing({platform, "", "", ""},
                              fmt::format("{} expects {}, which no set brings", asked.by, text::join(projects, ", "))));
    for (const auto& family : expect.families)
      if (!inventory.families.contains(dist::family_key(family)))
        cells.push_back(missing({platform, family, "", ""},
                                fmt::format("{} expects packages of {}, which no set brings", asked.by, family)));
    for (const auto& framework : expect.frameworks) {
      inventory.particular.erase(dist::family_key(framework)); // it is asked for by name
      add_missing_framework(release, asked, {platform, "", "", framework}, cells);
    }
    for (const auto& python : expect.pythons)
      if (auto lacking = without_python(inventory, python); !lacking.empty())
        cells.push_back(missing({platform, "", python, ""},
                                fmt::format("{} expects Python {}, for which {} {} no wheel", asked.by, python,
                                            text::join(lacking, ", "), lacking.size() == 1 ? "has" : "have")));
    bool built = any_file(release, [&](const Subject& subject, const registry::FileRecord&, const Reach& reach) {
      return is_built_for(subject, reach, platform);
    });
    if (cells.size() == before && !built)
      cells.push_back(missing({platform, "", "", ""},
                              fmt::format("{} expects {}, and no set was built for it", asked.by, platform)));
  }
}

/// What moves and what belongs to it. A set that has another version of a project that moves is of another release: its
/// family was built then, and says nothing of now.
std::vector<Subject> release_of(const Case& input) {
  std::map<std::string, std::set<std::string>> moving; // versions by project
  for (const auto& subject : input.subjects)
    for (const auto& file : subject.set.files) moving[file.project].insert(file.version);
  auto is_other_release = [&](const Subject& subject) {
    return std::ranges::any_of(subject.set.files, [&](const registry::FileRecord& file) {
      auto versions = moving.find(file.project);
      return versions != moving.end() && !versions->second.contains(file.version);
    });
  };
  auto release = input.subjects;
  for (const auto* others : {&input.present, &input.elsewhere})
    for (const auto& subject : *others)
      if (!is_other_release(subject)) release.push_back(subject);
  return release;
}

} // namespace

std::vector<CellPlan> missing_cells(const Policy& policy, const Case& input) {
  std::vector<CellPlan> cells;
  if (input.subjects.empty()) return cells;
  auto release = release_of(input);
  add_missing(policy, release, {policy.expectation, "policy " + policy.name}, cells);
  for (const auto& expectation : input.expectations) add_missing(policy, release, {expectation, "the release"}, cells);
  return cells;
}

} // namespace quarry::gate
