#include "promote/withdraw.hpp"

#include "closure/closure_rules.hpp"
#include "closure/stored.hpp"
#include "promote/planning.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::promote {

using closure::Package;

namespace {

constexpr unsigned k_packages_read = 16;

/// All that stays in a channel, read before the search. Projects that the channel never had are assumed to
/// be installable.
class Staying final : public closure::Surroundings {
public:
  Staying(std::map<std::string, std::vector<Package>> packages, std::set<std::string> gone)
      : packages_(std::move(packages)), gone_(std::move(gone)) {}
  Result<std::vector<Package>> packages(const std::string& project) const override {
    auto found = packages_.find(project);
    return found == packages_.end() ? std::vector<Package>() : found->second;
  }
  Result<const Package*> with_requirements(const Package& package) const override {
    const auto& of_project = packages_.at(package.project);
    auto same = [&](const Package& one) { return one.file == package.file; };
    return &*std::find_if(of_project.begin(), of_project.end(), same);
  }
  bool owns(const std::string& project) const override {
    return packages_.contains(project) || gone_.contains(project);
  }

private:
  std::map<std::string, std::vector<Package>> packages_;
  std::set<std::string> gone_;
};

/// A package that cannot be read could not be installed before, either.
Result<std::vector<Package>> packages_that_stay(store::ObjectReader& store,
                                                const std::vector<registry::SealedSet>& sets) {
  std::map<Sha256, const registry::FileRecord*> files;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) files.emplace(file.sha256, &file);
  std::vector<const registry::FileRecord*> list;
  for (const auto& [digest, file] : files) list.push_back(file);
  std::vector<std::optional<Package>> loaded(list.size());
  TRY_DO(parallel_for(list.size(), k_packages_read, [&](std::size_t i) -> Result<void> {
    auto package = closure::load_package(store, *list[i]);
    if (package)
      loaded[i] = std::move(*package);
    else if (package.error().kind == ErrorKind::unavailable || package.error().kind == ErrorKind::permission_denied)
      return fail(std::move(package).error());
    return {};
  }));
  std::vector<Package> packages;
  for (auto& package : loaded)
    if (package) packages.push_back(std::move(*package));
  return packages;
}

} // namespace

Result<Findings> broken_by(store::ObjectReader& store, const Withdrawal& plan) {
  return broken_by(store, {plan.stay, plan.projects, "channel " + plan.expected.record.name});
}

Result<Findings> broken_by(store::ObjectReader& store, const WhatStays& rest) {
  const auto& gone = rest.projects;
  if (gone.empty()) return Findings();
  TRY(auto all, packages_that_stay(store, rest.sets), "while looking for packages that require the files that leave");
  std::vector<Package> requiring;
  std::map<std::string, std::vector<Package>> by_project;
  for (auto& package : all) {
    auto names_one = [&](const dist::Requirement& requirement) { return gone.contains(requirement.project.str()); };
    if (std::any_of(package.requirements.begin(), package.requirements.end(), names_one)) requiring.push_back(package);
    by_project[package.project].push_back(std::move(package));
  }
  Findings found;
  if (requiring.empty()) return found;
  Staying staying(std::move(by_project), gone);
  TRY(auto targets, closure::targets_of(requiring, {}, {}));
  closure::ClosureQuestion question{std::move(targets.targets), nullptr, {}, {}};
  question.beside = &staying;
  question.set_name = rest.place;
  TRY(auto answer, closure::find_unmet(requiring, question));
  for (const auto& unmet : answer.unmet)
    if (gone.contains(unmet.lacks))
      found.push_back({"O051", Severity::warning, unmet.file,
                       fmt::format("cannot be installed any more{}: {}",
                                   unmet.extra.empty() ? "" : " with its extra " + unmet.extra, unmet.reason),
                       "yank it, too, or publish a repaired version of what it requires"});
  return found;
}

} // namespace quarry::promote
