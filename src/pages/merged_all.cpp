// Merged indexes of several places: all of the store, all groups of a run.
#include "pages/merged_sources.hpp"
#include "pages/page_writer.hpp"
#include "run/layout.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace quarry::pages {

using store::ObjectReader;
using store::ObjectStore;

namespace {

/// A merged index or a set record, and why it could not be written or read.
struct Failure {
  std::string place;
  Error error;
};

/// The directories of all set records. Records that are damaged or from a later program are added to `unreadable`: one
/// of them must not keep all directories from their dependencies.
Result<std::set<std::string>> published_directories(ObjectReader& store, unsigned transfers,
                                                    std::vector<Failure>& unreadable) {
  constexpr std::string_view k_sets = "sets/", k_json = ".json";
  TRY(auto objects, store.list(std::string(k_sets)));
  std::set<std::string> directories;
  std::vector<std::optional<Error>> errors(objects.size());
  std::mutex mutex;
  TRY_DO(parallel_for(objects.size(), transfers, [&](std::size_t i) -> Result<void> {
    std::string_view key = objects[i].key;
    if (!key.ends_with(k_json)) return {};
    auto digest = registry::SetDigest::parse(key.substr(k_sets.size(), key.size() - k_sets.size() - k_json.size()));
    if (!digest) return {};
    auto set = registry::load_set(store, *digest);
    if (set) {
      if (set->directory.empty()) return {}; // never sealed: a seal needs a place
      std::lock_guard lock(mutex);
      directories.insert(set->directory);
      return {};
    }
    if (registry::is_gone(set.error())) return {}; // garbage collection has removed it since the listing
    if (!registry::is_junk(set.error())) return fail(std::move(set).error());
    errors[i] = std::move(set).error();
    return {};
  }));
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (errors[i]) unreadable.push_back({objects[i].key, std::move(*errors[i])});
  directories.erase(std::string(k_base_index));
  return directories;
}

void add_to(MergedAll& all, const std::string& place, Merged merged) {
  if (!merged.exists) return;
  all.directories.push_back(place);
  all.pages_written += merged.pages_written;
  all.pages_removed += merged.pages_removed;
  std::move(merged.notes.begin(), merged.notes.end(), std::back_inserter(all.notes));
}

/// One error for all failures, with the kind of the first one. `count`: of the merged indexes, also those that failed.
Result<void> all_of(const std::vector<Failure>& failed, const std::vector<Failure>& unreadable, std::size_t count) {
  constexpr std::size_t k_told_max = 10;
  std::vector<std::string> told;
  for (const auto* failures : {&failed, &unreadable})
    for (const auto& [place, error] : *failures)
      told.push_back(fmt::format("{}: {} {}", place, error.code, error.message));
  if (told.empty()) return {};
  auto message =
      failed.empty()
          ? fmt::format("merged indexes may be missing, because set records cannot be read: {}; all others are written",
                        unreadable.size())
          : fmt::format("{} of {} merged indexes could not be written; all others are", failed.size(), count);
  auto error =
      Error::of((failed.empty() ? unreadable : failed).front().error.kind, "P051", message)
          .with_hint(
              "fix the problems above, then run the same command again; `quarry index check` looks at one place");
  told.resize(std::min(told.size(), k_told_max));
  error.details = std::move(told);
  return fail(std::move(error));
}

} // namespace

Result<MergedAll> merge_groups_of(ObjectStore& store, const std::string& directory, const MergeOptions& options) {
  MergedAll all;
  auto run = run::run_of(directory), own = run::group_of(directory);
  if (run.empty()) return all;
  TRY(auto seals, seals_of_run(store, run));
  auto groups = groups_of(seals);
  if (!own.empty()) groups.insert(own);
  for (const auto& group : groups) {
    auto index = group_index_directory({run, group});
    if (group != own && !own.empty() && !options.thorough) {
      TRY(auto state, store.head(index + "/" + std::string(k_state_name)));
      if (state) continue; // its own writers keep it up to date
    }
    TRY(auto merged, merge_source(store, group_source(store, {run, group}), options));
    add_to(all, index, std::move(merged));
  }
  return all;
}

Result<MergedAll> merge_all(ObjectStore& store, const MergeOptions& options) {
  std::vector<Source> sources;
  TRY(auto channels, registry::list_channels(store));
  for (const auto& name : channels) sources.push_back(channel_source(store, name));
  std::vector<Failure> failed, unreadable;
  TRY(auto directories, published_directories(store, options.transfers, unreadable));
  std::map<std::string, std::map<std::string, std::string>> runs; // their directories
  for (const auto& directory : directories) {
    sources.push_back(directory_source(store, directory));
    if (auto run = run::run_of(directory); !run.empty()) runs[run].emplace(directory, "");
  }
  for (const auto& [run, of_run] : runs) {
    if (of_run.size() > 1) sources.push_back(run_source(store, run));
    auto groups = groups_of(of_run);
    for (const auto& group : groups)
      if (groups.size() > 1) sources.push_back(group_source(store, {run, group}));
  }
  std::vector<Result<Merged>> merged(sources.size(), Merged());
  auto base = read_once(directory_source(store, std::string(k_base_index)));
  MergeOptions one{options.thorough, 1};
  TRY_DO(parallel_for(sources.size(), options.transfers, [&](std::size_t i) -> Result<void> {
    merged[i] = merge_sources(store, sources[i], base, one);
    return {}; // a broken place must not keep the others from their dependencies
  }));
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!merged[i]) failed.push_back({sources[i].place, merged[i].error()});
  TRY_DO(all_of(failed, unreadable, sources.size()));
  MergedAll all;
  for (std::size_t i = 0; i < sources.size(); ++i) add_to(all, sources[i].place, std::move(*merged[i]));
  return all;
}

} // namespace quarry::pages
