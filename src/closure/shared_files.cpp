#include "closure/shared_files.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <span>
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

std::vector<Place> places_by_path(const std::vector<InstalledFiles>& wheels) {
  std::vector<Place> places;
  for (const auto& wheel : wheels)
    for (const auto& file : wheel.files) places.push_back({&file, &wheel.package});
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    return std::tie(a.file->path, a.owner->project, a.owner->file) <
           std::tie(b.file->path, b.owner->project, b.owner->file);
  });
  return places;
}

bool meet(const Package& a, const Package& b, const std::vector<mirror::Target>& targets) {
  if (a.tags == b.tags) return true;
  return std::ranges::any_of(targets, [&](const mirror::Target& target) {
    return mirror::fit(*a.tags, target) && mirror::fit(*b.tags, target);
  });
}

void add(SharedByProjects& shared, const Place& a, const Place& b) {
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
          fmt::format("{} also installs {}{}", shared.first->file, text::first(paths, k_paths_shown),
                      differ ? ", with other bytes" : ""),
          differ ? "leave each file to one of the two projects: the one that is installed last overwrites the other's"
                 : "leave each file to one of the two projects: whoever removes one of them breaks the other"};
}

/// `places` are those of one path.
void add_all(SharedByProjects& shared, std::span<const Place> places, const std::vector<mirror::Target>& targets) {
  if (places.front().owner->project == places.back().owner->project) return;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (auto j = i + 1; j < places.size(); ++j)
      if (places[i].owner->project != places[j].owner->project && meet(*places[i].owner, *places[j].owner, targets))
        add(shared, places[i], places[j]);
}
} // namespace

std::vector<std::size_t> wheels_to_compare(const std::vector<Package>& set) {
  std::map<std::string, const dist::Version*> newest;
  for (const auto& package : set) {
    if (!package.tags) continue;
    auto& version = newest[package.project];
    if (!version || *version < package.version) version = &package.version;
  }
  std::vector<std::size_t> numbers;
  if (newest.size() < 2) return numbers;
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i].tags && *newest[set[i].project] == set[i].version) numbers.push_back(i);
  return numbers;
}

Findings check_shared_files(const std::vector<InstalledFiles>& wheels, const std::vector<mirror::Target>& targets) {
  auto places = places_by_path(wheels);
  SharedByProjects shared;
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && places[end].file->path == places[begin].file->path) ++end;
    add_all(shared, std::span(places).subspan(begin, end - begin), targets);
  }
  Findings findings;
  for (const auto& [_, both] : shared)
    if (findings.size() < k_findings_max) findings.push_back(finding_of(both));
  return findings;
}

} // namespace quarry::closure
