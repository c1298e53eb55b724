#include "promote/closed.hpp"

#include "base/text.hpp"
#include "closure/stored.hpp"
#include "dist/family.hpp"
#include "promote/planning.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

using closure::Package;
using closure::Unmet;
using registry::FileRecord;
using registry::SealedSet;

namespace {

constexpr unsigned k_reads = 16;
constexpr std::size_t k_reasons_shown = 3;  // of one cell: the first ones are the cause of the others
constexpr std::size_t k_projects_shown = 5; // in a note

std::set<std::string> projects_of(const Request& request) {
  std::set<std::string> projects;
  for (const auto* sets : {&request.source.sets, &request.elsewhere})
    for (const auto& sealed : *sets)
      for (const auto& file : sealed.set.files) projects.insert(file.project);
  auto add_expected = [&](const gate::Expectation& expectation) {
    for (const auto* names : {&expectation.projects, &expectation.frameworks})
      projects.insert(names->begin(), names->end());
  };
  add_expected(request.policy.expectation);
  for (const auto& expectation : request.expectations) add_expected(expectation);
  return projects;
}

std::string reason_of(const Unmet& unmet) {
  auto extra = unmet.extra.empty() ? "" : fmt::format(" with its extra {}", unmet.extra);
  return fmt::format("{} could not be installed{}: {}", unmet.file, extra, unmet.reason);
}

/// What of a set may be named by a verdict: the set itself, or the whole that it is a part of.
const registry::SetDigest& judged_as(const SealedSet& sealed) {
  return sealed.set.subset_of.empty() ? sealed.digest : sealed.set.subset_of;
}

/// Holds a cell that was ready, for the first reasons.
bool hold_cell(gate::CellVerdict& cell, const std::vector<std::string>& reasons) {
  if (reasons.empty() || cell.verdict == gate::Decision::held) return false;
  auto count = std::min(reasons.size(), k_reasons_shown);
  cell.reasons.assign(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(count));
  if (reasons.size() > count) cell.reasons.back() += fmt::format("; and {} more", reasons.size() - count);
  cell.verdict = gate::Decision::held;
  cell.not_installable = true;
  cell.waived = false;
  cell.waivers.clear(); // they did not make it ready
  return true;
}

} // namespace

ChannelPackages::ChannelPackages(store::ObjectReader& store, const registry::ViewRecord& view, const Request& request)
    : store_(store), view_(view), request_(request), ours_(projects_of(request)) {}

bool ChannelPackages::owns(const std::string& project) const {
  // The packages of a family whose job never ran are in no set, and nobody else makes them.
  return ours_.contains(project) || view_.shards.contains(project) ||
         !dist::family_of(project, request_.policy.family_projects).empty();
}

Result<std::vector<Package>> ChannelPackages::packages(const std::string& project) const {
  TRY(auto shard, registry::load_shard_of(store_, view_, project));
  std::vector<Package> packages;
  if (!shard) return packages;
  for (auto& file : shard->files) {
    auto frame = closure::package_of_record(file, {});
    if (!frame) continue; // a name that no installer takes
    frame->requirements_known = true;
    packages.push_back(std::move(*frame));
    met_.insert_or_assign(file.filename, std::move(file));
  }
  return packages;
}

Result<const Package*> ChannelPackages::with_requirements(const Package& package) const {
  if (auto known = read_.find(package.file); known != read_.end()) return &known->second;
  auto loaded = closure::load_package(store_, met_.at(package.file));
  if (!loaded && !is_lost(loaded.error())) return fail(std::move(loaded).error());
  auto read = loaded ? std::move(*loaded) : package;
  if (!loaded) read.unreadable = loaded.error().message;
  return &read_.emplace(package.file, std::move(read)).first->second;
}

Closed::Closed(store::ObjectReader& store, const Request& request, const registry::ViewRecord& shown)
    : store_(store), request_(request), channel_(store, shown, request) {}

Result<std::vector<Package>> Closed::packages_of(const std::vector<SealedSet>& moving) {
  std::map<Sha256, const FileRecord*> files;
  for (const auto& sealed : moving)
    for (const auto& file : sealed.set.files) files.emplace(file.sha256, &file);
  std::vector<const FileRecord*> unread;
  for (const auto& [digest, file] : files)
    if (!read_.contains(digest)) unread.push_back(file);
  std::vector<std::optional<Package>> loaded(unread.size());
  TRY_DO(parallel_for(unread.size(), k_reads, [&](std::size_t i) -> Result<void> {
    TRY(loaded[i], closure::load_package(store_, *unread[i]));
    return {};
  }));
  for (std::size_t i = 0; i < unread.size(); ++i) read_.emplace(unread[i]->sha256, std::move(*loaded[i]));
  std::vector<Package> packages;
  for (const auto& [digest, file] : files) packages.push_back(read_.at(digest));
  return packages;
}

bool Closed::may_be_empty(const Package& package, const Unmet& unmet) {
  const auto& listed = request_.policy.empty_extras;
  if (unmet.extra.empty() ||
      !std::binary_search(listed.begin(), listed.end(), gate::EmptyExtra{package.project, unmet.extra}))
    return false;
  empty_extras_.push_back({package.project, package.version.str(), unmet.extra, unmet.lacks});
  return true;
}

Result<bool> Closed::hold(const std::vector<SealedSet>& moving, gate::Verdict& verdict) {
  TRY(auto packages, packages_of(moving), "while looking whether what moves can be installed");
  TRY(auto targets, closure::targets_of(packages, {}, {}));
  closure::ClosureQuestion question{std::move(targets.targets), request_.base_index, request_.base_index_name, {}};
  question.beside = &channel_;
  question.set_name = "channel " + request_.channel;
  TRY(auto answer, closure::find_unmet(packages, question));
  taken_as_given_ = std::move(answer.taken_as_given);
  empty_extras_.clear();
  std::map<std::string, std::vector<std::string>> reasons; // by file
  for (const auto& unmet : answer.unmet) {
    auto package =
        std::find_if(packages.begin(), packages.end(), [&](const Package& p) { return p.file == unmet.file; });
    if (!may_be_empty(*package, unmet)) reasons[unmet.file].push_back(reason_of(unmet));
  }
  std::set<registry::SetDigest> judged;
  for (const auto& sealed : moving) judged.insert(judged_as(sealed));
  bool more = false;
  for (auto& cell : verdict.cells) {
    if (!judged.contains(cell.set)) continue;
    std::vector<std::string> all;
    for (const auto& file : cell.files)
      if (auto found = reasons.find(file); found != reasons.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    more |= hold_cell(cell, all);
  }
  if (more) verdict.verdict = gate::Decision::held;
  verdict.would_hold |= more;
  return more;
}

Findings Closed::notes() const {
  if (taken_as_given_.empty()) return {};
  std::vector<std::string> names(taken_as_given_.begin(), taken_as_given_.end());
  return {{"O028", Severity::note, "channel " + request_.channel,
           fmt::format("dependencies that people get from elsewhere were not looked for: {}",
                       text::first(names, k_projects_shown)),
           "name the index of dependencies with --base-index"}};
}

} // namespace quarry::promote
