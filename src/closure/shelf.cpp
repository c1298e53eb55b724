#include "closure/shelf.hpp"

#include "base/codes.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::closure {

namespace {
constexpr int k_fit_of_source = 9; // worse than every wheel: installers build only what has none

/// The edition of that version, and whether a file of this fit belongs to it.
Edition* edition_for(Project& project, const dist::Version& version, int fit) {
  auto same = [&](const Edition& each) { return each.version == version; };
  auto found = std::find_if(project.editions.begin(), project.editions.end(), same);
  if (found == project.editions.end()) {
    project.editions.push_back({version, {}, {}, fit, false});
    return &project.editions.back();
  }
  if (fit > found->fit) return nullptr;
  if (fit < found->fit) {
    found->packages.clear();
    found->upstream.clear();
    found->fit = fit;
  }
  return &*found;
}

void without_file(Project& project, const dist::Version& version) {
  if (std::ranges::find(project.without, version) == project.without.end()) project.without.push_back(version);
}

void sort_editions(Project& project) {
  std::ranges::sort(project.editions, [](const Edition& a, const Edition& b) { return a.version > b.version; });
  std::erase_if(project.without, [&](const dist::Version& version) {
    return std::ranges::any_of(project.editions, [&](const Edition& each) { return each.version == version; });
  });
  std::ranges::sort(project.without, std::greater<>());
  for (auto& edition : project.editions)
    edition.yanked = !edition.upstream.empty() &&
                     std::ranges::all_of(edition.upstream, [](const index::PageFile& file) { return file.yanked; });
}

void take(const std::vector<std::string>& texts, Needs& needs) {
  for (const auto& text : texts) {
    auto requirement = dist::Requirement::parse(text);
    needs.readable = needs.readable && requirement;
    if (requirement) needs.requirements.push_back(std::move(*requirement));
  }
}
} // namespace

Shelf::Shelf(const Sources& sources, const mirror::Target& target) : sources_(sources), target_(target) {
  for (const auto& package : sources.set) set_.emplace(package.project, &package);
}

bool Shelf::python_allows(const std::string& requires_python) const {
  auto python = dist::Specifiers::parse(requires_python);
  return !python || python->contains(target_.full); // as pip: an invalid value excludes nothing
}

void Shelf::add_files_of_set(const Package& package, Project& project) const {
  auto fit = package.tags ? mirror::fit(*package.tags, target_) : std::optional(k_fit_of_source);
  if (!fit || !python_allows(package.requires_python)) return without_file(project, package.version);
  if (auto* edition = edition_for(project, package.version, *fit)) edition->packages.push_back(&package);
}

void Shelf::add_upstream(const index::PageFile& file, Project& project) const {
  auto name = dist::WheelName::parse(file.filename);
  project.has_source = project.has_source || file.filename.ends_with(".tar.gz");
  if (!name) return;
  auto fit = mirror::fit(name->tags, target_);
  if (!fit || !python_allows(file.requires_python)) return without_file(project, name->version);
  if (auto* edition = edition_for(project, name->version, *fit)) edition->upstream.push_back(file);
}

/// A file that both have is the one of the set.
Result<void> Shelf::add_beside(const std::string& name, Project& project) {
  TRY(auto packages, sources_.beside->packages(name));
  auto [begin, end] = set_.equal_range(name);
  for (auto& package : packages) {
    project.in_set = project.known = true;
    if (std::any_of(begin, end, [&](const auto& each) { return each.second->file == package.file; })) continue;
    add_files_of_set(beside_.emplace_back(std::move(package)), project);
  }
  return {};
}

Result<const Project*> Shelf::project(const std::string& name) {
  if (auto known = projects_.find(name); known != projects_.end()) return &known->second;
  Project project;
  auto [begin, end] = set_.equal_range(name);
  project.in_set = project.known = begin != end;
  for (auto each = begin; each != end; ++each) add_files_of_set(*each->second, project);
  if (sources_.beside) TRY_DO(add_beside(name, project));
  bool foreign = !project.in_set && !(sources_.beside && sources_.beside->owns(name));
  if (foreign && sources_.base) {
    auto page = sources_.base->page(name);
    if (!page && page.error().kind != ErrorKind::not_found) return fail(std::move(page).error());
    project.known = page.has_value();
    if (page)
      for (const auto& file : (*page)->files) add_upstream(file, project);
  }
  sort_editions(project);
  return &projects_.emplace(name, std::move(project)).first->second;
}

Result<const Needs*> Shelf::needs(const Edition& edition) {
  if (auto known = needs_.find(&edition); known != needs_.end()) return &known->second;
  Needs needs;
  std::set<std::string> extras;
  for (const auto* each : edition.packages) {
    const auto* package = each;
    auto is_each = [&](const Package& one) { return &one == each; };
    if (std::ranges::any_of(beside_, is_each)) {
      TRY(package, sources_.beside->with_requirements(*each));
    }
    needs.requirements.insert(needs.requirements.end(), package->requirements.begin(), package->requirements.end());
    extras.insert(package->extras.begin(), package->extras.end());
    needs.readable = needs.readable && package->unreadable.empty();
    needs.extras_known = needs.extras_known && package->extras_known;
  }
  for (const auto& file : edition.upstream) {
    auto metadata = sources_.base->metadata(file);
    if (!metadata && !metadata.error().is(codes::metadata_unreadable)) return fail(std::move(metadata).error());
    needs.readable = needs.readable && metadata;
    if (!metadata) continue;
    take(metadata->requires_dist, needs);
    for (const auto& extra : metadata->provides_extra)
      if (auto name = dist::ProjectName::parse(extra)) extras.insert(name->str());
  }
  needs.extras.assign(extras.begin(), extras.end());
  return &needs_.emplace(&edition, std::move(needs)).first->second;
}

} // namespace quarry::closure
