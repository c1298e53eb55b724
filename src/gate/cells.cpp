#include "gate/cells.hpp"

#include "dist/family.hpp"
#include "gate/family.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

namespace quarry::gate {

namespace {

struct File {
  const registry::FileRecord* record;
  Reach reach;
  std::string family;
};

struct Place {
  Platform platform;
  std::string family;
};

/// Files that no other cell contains would move untested, such as a wheel for a Python that no rule names. So they get
/// cells of their own.
std::vector<CellPlan> cells_of_the_rest(const Subject& subject, const std::vector<File>& files,
                                        const std::vector<CellPlan>& cells) {
  std::unordered_set<const registry::FileRecord*> covered;
  for (const auto& cell : cells) covered.insert(cell.files.begin(), cell.files.end());
  std::map<registry::Cell, CellPlan> rest;
  for (const auto& file : files) {
    if (covered.contains(file.record)) continue;
    auto python = file.reach.pythons.empty() ? std::string() : *file.reach.pythons.begin();
    if (python.ends_with('+')) python.pop_back();
    auto platform = file.reach.platforms.empty() ? subject.set.origin.platform : *file.reach.platforms.begin();
    registry::Cell cell{platform, dist::family_name(file.family), python, ""};
    auto& plan = rest[cell];
    plan.cell = cell;
    plan.set = subject.digest;
    plan.files.push_back(file.record);
    plan.gap = fmt::format("no [[require]] covers {}", plan.files.front()->filename);
    if (plan.files.size() > 1) plan.gap += fmt::format(" and {} more", plan.files.size() - 1);
  }
  std::vector<CellPlan> plans;
  for (auto& [cell, plan] : rest) {
    std::sort(plan.files.begin(), plan.files.end(), [](const auto* a, const auto* b) { return a->sha256 < b->sha256; });
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// If a set of the SDK is for one family and has none of its packages, a job lost them: a cell that is held.
std::optional<CellPlan> cell_of_lost_packages(const Subject& subject, const std::vector<File>& files) {
  const auto& group = subject.set.origin.group;
  bool part = !subject.set.subset_of.empty(); // left out on purpose
  bool sdk =
      std::any_of(files.begin(), files.end(), [](const File& f) { return f.record->project == dist::k_sdk_project; });
  bool there = std::any_of(files.begin(), files.end(),
                           [&](const File& f) { return !f.family.empty() && f.family == dist::family_key(group); });
  if (part || !sdk || there || !group.starts_with("gfx")) return std::nullopt;
  CellPlan plan;
  plan.cell = {subject.set.origin.platform, group, "", ""};
  plan.set = subject.digest;
  plan.gap = fmt::format("the set is that of {} and holds no package of it", group);
  return plan;
}

Result<std::vector<File>> files_in(const Policy& policy, const Subject& subject) {
  const auto& records = subject.set.files;
  if (records.empty()) return fail(ErrorKind::invalid_argument, "G005", "the set holds no file");
  std::vector<File> files(records.size());
  constexpr std::size_t k_at_once = 1000; // names for one thread: fewer are not worth a second one
  constexpr unsigned k_threads = 4;
  auto chunks = (records.size() + k_at_once - 1) / k_at_once;
  TRY_DO(parallel_for(chunks, k_threads, [&](std::size_t chunk) -> Result<void> {
    auto end = std::min(records.size(), (chunk + 1) * k_at_once);
    for (auto i = chunk * k_at_once; i < end; ++i) {
      TRY(auto reach, reach_of(records[i].filename));
      files[i] = {&records[i], std::move(reach), dist::family_of(records[i].project, policy.family_projects)};
    }
    return {};
  }));
  return files;
}

class Planner {
public:
  Planner(const Policy& policy, const Subject& subject) : policy_(policy), subject_(subject) {}

  std::vector<CellPlan> plan() {
    if (auto read = read_files(); !read) return {broken(read.error().message)};
    std::vector<CellPlan> cells;
    for (const auto& platform : platforms())
      for (const auto& family : families(platform))
        for (auto& [cell, plan] : cells_at({platform, family})) cells.push_back(std::move(plan));
    auto rest = cells_of_the_rest(subject_, files_, cells);
    std::move(rest.begin(), rest.end(), std::back_inserter(cells));
    if (auto lost = cell_of_lost_packages(subject_, files_)) cells.push_back(std::move(*lost));
    return cells;
  }

private:
  Result<void> read_files() {
    TRY(files_, files_in(policy_, subject_));
    return {};
  }

  CellPlan broken(std::string why) const {
    CellPlan plan;
    plan.cell.platform = subject_.set.origin.platform;
    plan.set = subject_.digest;
    plan.defect = std::move(why);
    return plan;
  }

  std::set<Platform> platforms() const {
    std::set<Platform> found;
    for (const auto& file : files_) found.insert(file.reach.platforms.begin(), file.reach.platforms.end());
    if (found.empty()) found.insert(subject_.set.origin.platform);
    return found;
  }

  std::set<std::string> families(const Platform& platform) const {
    std::set<std::string> found;
    for (const auto& file : files_)
      if (!file.family.empty() && fits_platform(file.reach, platform)) found.insert(file.family);
    if (found.empty()) found.insert(family_of_framework());
    return found;
  }

  /// A framework's wheels do not name their family; a job that builds them for one says it by its group.
  std::string family_of_framework() const {
    const auto& group = subject_.set.origin.group;
    auto held = frameworks();
    return group.starts_with("gfx") && !held.contains("") ? dist::family_key(group) : std::string();
  }

  bool belongs(const File& file, const Place& place) const {
    return (file.family.empty() || file.family == place.family) && fits_platform(file.reach, place.platform);
  }

  /// "*": one cell, for which any Python's result counts; but each Python that wheels are made for, if there are such.
  std::vector<std::string> pythons(const Place& place, const std::string& rule) const {
    if (rule != "*") return {rule};
    std::set<std::string> found;
    for (const auto& file : files_) {
      if (!belongs(file, place)) continue;
      for (auto tag : file.reach.pythons) {
        if (tag.ends_with("+")) tag.pop_back();
        found.insert(tag);
      }
    }
    if (found.empty()) return {""};
    return {found.begin(), found.end()};
  }

  /// The frameworks of the policy's rules that this set holds; {""} if it holds none of them.
  std::set<std::string> frameworks() const {
    std::set<std::string> found;
    for (const auto& rule : policy_.requirements)
      for (const auto& name : rule.frameworks) {
        auto key = dist::family_key(name);
        if (!key.empty() && std::ranges::any_of(files_, [&](const File& f) { return f.record->project == key; }))
          found.insert(name);
      }
    if (found.empty()) found.insert("");
    return found;
  }

  std::map<registry::Cell, CellPlan> cells_at(const Place& place) const {
    std::map<registry::Cell, CellPlan> cells;
    for (const auto& rule : policy_.requirements) {
      bool platform_fits = covers(rule.platforms, place.platform.text());
      if (!platform_fits || !covers(rule.families, place.family)) continue;
      if (!rule.backend.empty() && !place.family.empty()) continue; // a CPU proves nothing of a GPU family
      for (const auto& framework : frameworks()) {
        if (std::find(rule.frameworks.begin(), rule.frameworks.end(), framework) == rule.frameworks.end()) continue;
        for (const auto& named : rule.pythons)
          for (const auto& python : pythons(place, named))
            add(cells, place, {place.platform, spelling(place.family), python, framework, rule.backend}, rule);
      }
    }
    if (cells.empty()) {
      registry::Cell cell{place.platform, spelling(place.family), "", ""};
      cells.emplace(cell, start(place, cell));
    }
    return cells;
  }

  void add(std::map<registry::Cell, CellPlan>& cells, const Place& place, const registry::Cell& cell,
           const Requirement& rule) const {
    auto [at, fresh] = cells.try_emplace(cell);
    if (fresh) at->second = start(place, cell);
    auto age = rule.max_age_us ? rule.max_age_us : policy_.max_age_us;
    for (const auto& suite : rule.suites) {
      auto [known, first] = at->second.suites.try_emplace(suite, age);
      if (!first) known->second = std::min(known->second, age);
    }
  }

  CellPlan start(const Place& place, const registry::Cell& cell) const {
    CellPlan plan;
    plan.cell = cell;
    plan.set = subject_.digest;
    for (const auto& file : files_)
      if (belongs(file, place) && fits_python(file.reach, cell.python)) plan.files.push_back(file.record);
    std::sort(plan.files.begin(), plan.files.end(), [](const auto* a, const auto* b) { return a->sha256 < b->sha256; });
    auto fact = std::find_if(policy_.families.begin(), policy_.families.end(), [&](const FamilyFact& f) {
      return covers(f.platforms, place.platform.text()) && covers(f.families, place.family);
    });
    if (fact != policy_.families.end()) plan.fact = &*fact;
    return plan;
  }

  /// Project names lose case; the run's group or the policy may still know how the family is written.
  std::string spelling(const std::string& family) const {
    if (dist::family_key(subject_.set.origin.group) == family) return subject_.set.origin.group;
    auto written = [&](const std::vector<std::string>& names) {
      auto at =
          std::find_if(names.begin(), names.end(), [&](const std::string& n) { return dist::family_key(n) == family; });
      return at == names.end() ? std::string() : *at;
    };
    for (const auto& rule : policy_.requirements)
      if (auto name = written(rule.families); !name.empty()) return name;
    for (const auto& fact : policy_.families)
      if (auto name = written(fact.families); !name.empty()) return name;
    return dist::family_name(family);
  }

  const Policy& policy_;
  const Subject& subject_;
  std::vector<File> files_;
};

} // namespace

std::vector<CellPlan> plan_cells(const Policy& policy, const Subject& subject) {
  return Planner(policy, subject).plan();
}

} // namespace quarry::gate
