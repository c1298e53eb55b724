#include "pages/merged_sources.hpp"

#include "pages/clash.hpp"
#include "pages/merged.hpp"
#include "pages/shown_sets.hpp"
#include "registry/history.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

namespace quarry::pages {

using registry::FileRecord;
using registry::ShardRecord;
using store::ObjectReader;

namespace {

Projects projects_of(std::vector<FileRecord> files) {
  std::map<std::string, ShardRecord> shards;
  for (auto& file : files) {
    auto& shard = shards[file.project];
    shard.project = file.project;
    shard.files.push_back(std::move(file));
  }
  Projects projects;
  for (auto& [name, shard] : shards) {
    auto digest = registry::digest_of(shard);
    projects.emplace(name, Project{digest, std::move(shard)});
  }
  return projects;
}

Offer offer_of(const std::string& place, const std::vector<FileRecord>& files) {
  Offer offer{place, {}};
  for (const auto& file : files) offer.versions.push_back(file.version);
  return offer;
}

} // namespace

Source directory_source(ObjectReader& store, const std::string& directory) {
  auto token = [&store, directory] { return token_of_shown(store, directory); };
  auto projects = [&store, directory](const std::string&) -> Result<Projects> {
    TRY(auto sets, shown_in(store, directory));
    TRY(auto files, registry::union_of(sets));
    TRY(auto history, listed_history(store, directory));
    return projects_of(registry::with_history(std::move(files), history));
  };
  return {directory, token, projects};
}

Source channel_source(ObjectReader& store, const std::string& name) {
  auto channel = std::make_shared<registry::Channel>();
  auto token = [&store, name, channel]() -> Result<std::string> {
    TRY_DO(registry::update_channel(store, name, *channel));
    return channel->record.view.hex();
  };
  auto projects = [&store](const std::string& view) -> Result<Projects> {
    TRY(auto record, registry::load_view(store, registry::ViewDigest::parse(view).value_or(registry::ViewDigest())));
    Projects found;
    for (const auto& [project, digest] : record.shards) found.emplace(project, Project{digest, {}});
    return found;
  };
  return {registry::channel_directory(name), token, projects};
}

namespace {

/// A key of a seal: the part before "/seals/" is the directory.
std::string directory_of_seal(const std::string& key) {
  auto at = key.rfind("/seals/");
  return at == key.npos ? std::string() : key.substr(0, at);
}

/// The files of all sets, without the projects that two of the sets disagree about; those go to `torn`.
std::vector<FileRecord> files_without(const std::vector<registry::SealedSet>& sets,
                                      std::map<std::string, std::array<std::string, 2>>& torn) {
  std::map<std::string, FileRecord> files;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) {
      auto [it, added] = files.emplace(file.filename, file);
      if (!added && it->second.sha256 != file.sha256)
        torn.try_emplace(file.project, std::array{it->second.key, file.key});
    }
  std::vector<FileRecord> kept;
  for (auto& [name, file] : files)
    if (!torn.contains(file.project)) kept.push_back(std::move(file));
  return kept;
}

Finding torn_note(const std::string& place, const std::string& run, const std::string& project,
                  const std::array<std::string, 2>& keys) {
  return {"P053", Severity::warning, place,
          fmt::format("{} is left out: {} and {} are different files of one name", project, keys[0], keys[1]),
          fmt::format("install from one group: `--index-url STORE/{0}/merged/GROUP/simple/`, for a group with packages "
                      "in one area `STORE/{0}/AREA/GROUP/merged/simple/`, or `run:ID@GROUP`",
                      run)};
}

Finding torn_in_group_note(const std::string& place, const std::string& project,
                           const std::array<std::string, 2>& keys) {
  return {"P053", Severity::warning, place,
          fmt::format("{} is left out: {} and {} are different files of one name", project, keys[0], keys[1]),
          "publish one of them under another version"};
}

/// The directory belongs to the group, or to all groups.
bool serves_group(const std::string& directory, const std::string& group) {
  auto of = run::group_of(directory);
  return of.empty() || of == group;
}

/// The sets of directories that seals_of_run() has found, oldest first: a file that a later set has, too, keeps its
/// link. Sets elsewhere below the areas are not read: they may be damaged.
Result<std::vector<registry::SealedSet>> sets_sealed_in(ObjectReader& store,
                                                        const std::map<std::string, std::string>& directories) {
  std::vector<registry::SealedSet> sets;
  for (const auto& [directory, keys] : directories) {
    TRY(auto there, registry::sealed_sets_in(store, directory));
    std::move(there.begin(), there.end(), std::back_inserter(sets));
  }
  auto order = [](const registry::SealedSet& one) { return std::tie(one.seal.time, one.digest); };
  std::ranges::sort(sets, [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return sets;
}

} // namespace

std::string merged_directory(const Source& source) {
  return source.written_to.empty() ? merged_directory(source.place) : source.written_to;
}

Result<std::map<std::string, std::string>> seals_of_run(ObjectReader& store, const std::string& run) {
  std::map<std::string, std::string> seals;
  for (const auto& area : run::package_areas()) {
    TRY(auto objects, store.list(run + "/" + area + "/"));
    for (const auto& object : objects) {
      auto directory = directory_of_seal(object.key);
      if (!directory.empty() && run::run_of(directory) == run) seals[directory] += object.key + "\n";
    }
  }
  return seals;
}

std::set<std::string> groups_of(const std::map<std::string, std::string>& seals) {
  std::set<std::string> groups;
  for (const auto& [directory, keys] : seals)
    if (auto group = run::group_of(directory); !group.empty()) groups.insert(std::move(group));
  return groups;
}

Source run_source(ObjectReader& store, const std::string& run) {
  auto token = [&store, run]() -> Result<std::string> {
    TRY(auto seals, seals_of_run(store, run));
    std::string all;
    for (const auto& [directory, keys] : seals) all += keys;
    return seals.size() < 2 ? std::string() : all;
  };
  auto notes = std::make_shared<Findings>();
  auto projects = [&store, run, notes](const std::string&) -> Result<Projects> {
    TRY(auto seals, seals_of_run(store, run));
    TRY(auto sets, sets_sealed_in(store, seals));
    std::map<std::string, std::array<std::string, 2>> torn;
    auto files = files_without(sets, torn);
    notes->clear();
    for (const auto& [project, keys] : torn) notes->push_back(torn_note(merged_directory(run), run, project, keys));
    return projects_of(std::move(files));
  };
  return {run, token, projects, [notes] { return *notes; }};
}

Source group_source(ObjectReader& store, const RunGroup& of) {
  auto token = [&store, of]() -> Result<std::string> {
    TRY(auto seals, seals_of_run(store, of.run));
    if (groups_of(seals).size() < 2) return std::string();
    std::erase_if(seals, [&](const auto& entry) { return !serves_group(entry.first, of.group); });
    std::string all;
    for (const auto& [directory, keys] : seals) all += keys;
    return seals.size() < 2 ? std::string() : all;
  };
  auto place = group_index_directory(of);
  auto notes = std::make_shared<Findings>();
  auto projects = [&store, of, place, notes](const std::string&) -> Result<Projects> {
    TRY(auto seals, seals_of_run(store, of.run));
    std::erase_if(seals, [&](const auto& entry) { return !serves_group(entry.first, of.group); });
    TRY(auto sets, sets_sealed_in(store, seals));
    std::map<std::string, std::array<std::string, 2>> torn;
    auto files = files_without(sets, torn);
    notes->clear();
    for (const auto& [project, keys] : torn) notes->push_back(torn_in_group_note(place, project, keys));
    return projects_of(std::move(files));
  };
  return {place, token, projects, [notes] { return *notes; }, place};
}

Source read_once(Source source) {
  struct Known {
    std::mutex mutex;
    std::optional<std::string> token; ///< of the projects; without one nothing was read yet
    Projects projects;
  };
  auto known = std::make_shared<Known>();
  auto projects = [known, read = source.projects](const std::string& token) -> Result<Projects> {
    std::lock_guard lock(known->mutex);
    if (known->token == token) return known->projects;
    TRY(known->projects, read(token));
    known->token = token;
    return known->projects;
  };
  return {source.place, source.token, projects, source.notes, source.written_to};
}

Result<std::vector<FileRecord>> files_of(ObjectReader& store, const Project& project) {
  if (project.record) return project.record->files;
  TRY(auto shard, registry::load_shard(store, project.shard));
  return std::move(shard.files);
}

Result<Findings> give_one_owner(ObjectReader& store, const Source& source, const Projects& own, Projects& base) {
  const auto& place = source.place;
  Findings notes;
  for (const auto& [name, project] : own) {
    auto twice = base.find(name);
    if (twice == base.end()) continue;
    TRY(auto ours, files_of(store, project));
    TRY(auto theirs, files_of(store, twice->second));
    auto lines = installers_would_take(offer_of(place, ours), offer_of(std::string(k_base_index), theirs));
    notes.push_back({"P050", Severity::warning, merged_directory(source),
                     fmt::format("{} is a project of {} and of {}: the merged index shows the first alone; given both "
                                 "indexes, {}; {}",
                                 name, place, k_base_index, lines[0], lines[1]),
                     "give the package another name, or keep the base index in another store"});
    base.erase(twice);
  }
  return notes;
}

} // namespace quarry::pages
