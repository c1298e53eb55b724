#include "pages/merged_sources.hpp"

#include "pages/clash.hpp"
#include "pages/merged.hpp"
#include "pages/shown_sets.hpp"
#include "registry/history.hpp"
#include <fmt/core.h>
#include <memory>
#include <mutex>

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
    TRY(auto history, registry::history_of(store, directory));
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

Source read_once(Source source) {
  struct Known {
    std::mutex mutex;
    std::string token;
    Projects projects;
  };
  auto known = std::make_shared<Known>();
  auto projects = [known, read = source.projects](const std::string& token) -> Result<Projects> {
    std::lock_guard lock(known->mutex);
    if (known->token != token) {
      TRY(known->projects, read(token));
      known->token = token;
    }
    return known->projects;
  };
  return {source.place, source.token, projects};
}

Result<std::vector<FileRecord>> files_of(ObjectReader& store, const Project& project) {
  if (project.record) return project.record->files;
  TRY(auto shard, registry::load_shard(store, project.shard));
  return std::move(shard.files);
}

Result<Findings> give_one_owner(ObjectReader& store, const std::string& place, const Projects& own, Projects& base) {
  Findings notes;
  for (const auto& [name, project] : own) {
    auto twice = base.find(name);
    if (twice == base.end()) continue;
    TRY(auto ours, files_of(store, project));
    TRY(auto theirs, files_of(store, twice->second));
    auto lines = installers_would_take(offer_of(place, ours), offer_of(std::string(k_base_index), theirs));
    notes.push_back({"P050", Severity::warning, merged_directory(place),
                     fmt::format("{} is a project of {} and of {}: the merged index shows the first alone; given both "
                                 "indexes, {}; {}",
                                 name, place, k_base_index, lines[0], lines[1]),
                     "give the package another name, or keep the base index in another store"});
    base.erase(twice);
  }
  return notes;
}

} // namespace quarry::pages
