#include "retain/closed.hpp"

#include "closure/closure_rules.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>
#include <tuple>

namespace quarry::retain {

using closure::Package;
using registry::SetDigest;

namespace {

using Sets = std::vector<SetDigest>;

/// What people see together with a set.
class OtherSets final : public closure::Surroundings {
public:
  /// `owned`: projects that are made here, whether or not they are still there. The arguments must
  /// outlive this object.
  OtherSets(const Sets& sets, const Packages& packages, const std::set<std::string>& owned) : owned_(owned) {
    for (const auto& set : sets)
      if (auto found = packages.find(set); found != packages.end())
        for (const auto& package : found->second) by_file_.emplace(package.file, &package);
    for (const auto& [file, package] : by_file_) by_project_.emplace(package->project, package);
  }
  Result<std::vector<Package>> packages(const std::string& project) const override {
    std::vector<Package> found;
    auto [begin, end] = by_project_.equal_range(project);
    for (auto each = begin; each != end; ++each) found.push_back(*each->second);
    return found;
  }
  Result<const Package*> with_requirements(const Package& package) const override { return by_file_.at(package.file); }
  bool owns(const std::string& project) const override { return owned_.contains(project); }

private:
  const std::set<std::string>& owned_;
  std::map<std::string, const Package*> by_file_;
  std::multimap<std::string, const Package*> by_project_;
};

using Question = std::pair<std::string, std::string>; ///< a file of the set, and an extra or nothing
using Gaps = std::map<Question, std::string>;         ///< what cannot be installed, and the project that it lacks

Result<Gaps> gaps_of(const std::vector<Package>& set, const OtherSets& others) {
  TRY(auto targets, closure::targets_of(set, {}, {}));
  closure::ClosureQuestion question{std::move(targets.targets), nullptr, {}, {}};
  question.beside = &others;
  TRY(auto answer, closure::find_unmet(set, question));
  Gaps gaps;
  for (const auto& unmet : answer.unmet) gaps.emplace(Question{unmet.file, unmet.extra}, unmet.lacks);
  return gaps;
}

class Needs {
public:
  Needs(const Inventory& inventory, const Plan& plan, const Packages& packages) : packages_(packages) {
    for (const auto& entry : inventory.entries)
      if (entry.sealed()) groups_[entry.digest] = entry.set.origin.group;
    for (const auto& leaving : plan.tombstone) leaving_.push_back(leaving.set); // oldest first
    for (const auto& [set, group] : groups_)
      if (std::ranges::find(leaving_, set) == leaving_.end()) staying_.push_back(set);
  }

  Result<std::vector<Spared>> run() {
    for (std::size_t next = 0; next < staying_.size() && !leaving_.empty(); ++next) {
      auto set = staying_[next]; // the list grows by what is spared, which needs something itself
      if (asks_for_what_leaves(set)) TRY_DO(spare_for(set));
    }
    return std::move(spared_);
  }

private:
  std::set<std::string> projects_of(const Sets& sets) const {
    std::set<std::string> projects;
    for (const auto& set : sets)
      if (auto found = packages_.find(set); found != packages_.end())
        for (const auto& package : found->second) projects.insert(package.project);
    return projects;
  }

  bool asks_for_what_leaves(const SetDigest& set) const {
    auto found = packages_.find(set);
    if (found == packages_.end()) return false;
    auto projects = projects_of(leaving_);
    return std::ranges::any_of(found->second, [&](const Package& package) {
      return std::ranges::any_of(package.requirements,
                                 [&](const auto& wants) { return projects.contains(wants.project.str()); });
    });
  }

  bool is_beside(const SetDigest& set, const SetDigest& other) const {
    const auto &ours = groups_.at(set), &theirs = groups_.at(other);
    return set != other && (ours.empty() || theirs.empty() || ours == theirs);
  }

  Sets beside(const SetDigest& set, const Sets& all) const {
    Sets found;
    std::ranges::copy_if(all, std::back_inserter(found), [&](const SetDigest& other) { return is_beside(set, other); });
    return found;
  }

  /// The first requirement that is met now and would not be met after the removal.
  Result<std::optional<std::string>> new_gap(const SetDigest& set, const Sets& others) const {
    auto all = beside(set, staying_);
    auto leaving = beside(set, leaving_);
    all.insert(all.end(), leaving.begin(), leaving.end());
    auto owned = projects_of(all);
    const auto& packages = packages_.at(set);
    TRY(auto before, gaps_of(packages, OtherSets(all, packages_, owned)));
    TRY(auto after, gaps_of(packages, OtherSets(others, packages_, owned)));
    for (const auto& [question, lacks] : after)
      if (!before.contains(question)) return std::optional(lacks);
    return std::optional<std::string>();
  }

  /// Repeats until the set loses nothing: spares the newest set that alone fills the gap, else all that have the
  /// project.
  Result<void> spare_for(const SetDigest& set) {
    while (true) {
      TRY(auto lacks, new_gap(set, beside(set, staying_)));
      if (!lacks) return {};
      auto candidates = beside(set, leaving_);
      std::erase_if(candidates,
                    [&](const SetDigest& each) { return !lacks->empty() && !projects_of({each}).contains(*lacks); });
      if (candidates.empty()) candidates = beside(set, leaving_);
      Sets chosen = candidates;
      for (auto each = candidates.rbegin(); each != candidates.rend(); ++each) {
        auto with = beside(set, staying_);
        with.push_back(*each);
        TRY(auto still, new_gap(set, with));
        if (still && *still == *lacks) continue;
        chosen = {*each};
        break;
      }
      for (const auto& each : chosen) keep(each, set);
    }
  }

  void keep(const SetDigest& needed, const SetDigest& by) {
    std::erase(leaving_, needed);
    staying_.push_back(needed);
    spared_.push_back({needed, fmt::format("set:{} could not be installed without it", by.short_hex())});
  }

  const Packages& packages_;
  std::map<SetDigest, std::string> groups_;
  Sets leaving_, staying_;
  std::vector<Spared> spared_;
};

} // namespace

Result<std::vector<Spared>> still_needed(const Inventory& inventory, const Plan& plan, const Packages& packages) {
  return Needs(inventory, plan, packages).run();
}

} // namespace quarry::retain
