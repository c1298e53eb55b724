#include "closure/shared_files.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace quarry::closure {

namespace {
constexpr std::size_t k_paths_shown = 3;
constexpr std::size_t k_findings_max = 100; // of a set whose wheels were all packed from one tree

struct Place {
  const wheel::OwnedFile* file;
  const Package* owner;
};

/// What the wheels of two projects both install.
struct Shared {
  const Package *first, *second;
  std::vector<std::string> differing, equal; ///< paths
};
using SharedByProjects = std::map<std::pair<std::string, std::string>, Shared>;

/// Installers take the newest version of a project, so older ones meet nobody.
std::map<std::string, const dist::Version*> newest_versions(const std::vector<InstalledFiles>& wheels) {
  std::map<std::string, const dist::Version*> newest;
  for (const auto& wheel : wheels) {
    auto& version = newest[wheel.package.project];
    if (!version || *version < wheel.package.version) version = &wheel.package.version;
  }
  return newest;
}

std::vector<Place> places_by_path(const std::vector<InstalledFiles>& wheels) {
  auto newest = newest_versions(wheels);
  std::vector<Place> places;
  for (const auto& wheel : wheels) {
    if (!wheel.package.tags || *newest[wheel.package.project] != wheel.package.version) continue;
    for (const auto& file : wheel.files) places.push_back({&file, &wheel.package});
  }
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    return std::tie(a.file->path, a.owner->file) < std::tie(b.file->path, b.owner->file);
  });
  return places;
}

bool meet(const Package& a, const Package& b, const std::vector<mirror::Target>& targets) {
  if (a.tags == b.tags) return true;
  return std::ranges::any_of(targets, [&](const mirror::Target& target) {
    return mirror::fit(*a.tags, target) && mirror::fit(*b.tags, target);
  });
}

void add(SharedByProjects& shared, Place a, Place b) {
  if (b.owner->project < a.owner->project) std::swap(a, b);
  auto& both = shared.try_emplace({a.owner->project, b.owner->project}, Shared{a.owner, b.owner, {}, {}}).first->second;
  bool same = a.file->size == b.file->size && a.file->crc == b.file->crc;
  auto& paths = same ? both.equal : both.differing;
  // Wheels for several Pythons meet at one path several times.
  if (paths.empty() || paths.back() != a.file->path) paths.push_back(a.file->path);
}

Finding finding_of(const Shared& shared) {
  bool differ = !shared.differing.empty();
  const auto& paths = differ ? shared.differing : shared.equal;
  return {"Q438", differ ? Severity::error : Severity::note, shared.second->file,
          fmt::format("{} installs {}, too{}: {}", shared.first->file,
                      paths.size() == 1 ? "one of its files" : units::things(paths.size(), "file") + " of it",
                      differ ? ", with other bytes" : "", text::first(paths, k_paths_shown)),
          differ ? "leave each file to one of the two projects: the one that is installed last overwrites the other's"
                 : "leave each file to one of the two projects: whoever removes one of them breaks the other"};
}
} // namespace

Findings check_shared_files(const std::vector<InstalledFiles>& wheels, const std::vector<mirror::Target>& targets) {
  auto places = places_by_path(wheels);
  SharedByProjects shared;
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && places[end].file->path == places[begin].file->path) ++end;
    for (auto i = begin; i < end; ++i)
      for (auto j = i + 1; j < end; ++j)
        if (places[i].owner->project != places[j].owner->project && meet(*places[i].owner, *places[j].owner, targets))
          add(shared, places[i], places[j]);
  }
  Findings findings;
  for (const auto& [_, both] : shared)
    if (findings.size() < k_findings_max) findings.push_back(finding_of(both));
  return findings;
}

} // namespace quarry::closure
