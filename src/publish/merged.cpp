#include "publish/merged.hpp"

#include "base/json.hpp"
#include "index/pages.hpp"
#include "publish/merged_sources.hpp"
#include "publish/page_order.hpp"
#include "publish/page_writer.hpp"
#include "publish/plan.hpp"
#include "registry/registry.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectStore;
using Pages = std::vector<index::Page>;

namespace {

constexpr std::string_view k_schema = "quarry.merged/1";
constexpr std::string_view k_state_name = "pages.json";

Json digests_json(const Projects& projects, const std::set<std::string>& without) {
  auto json = Json::object();
  for (const auto& [name, project] : projects)
    if (!without.contains(name)) json[name] = project.shard;
  return json;
}

/// What pages.json says that the pages were made from when they were last complete: project -> digest of its files.
std::map<std::string, std::string> vouched_for(const std::string& state) {
  std::map<std::string, std::string> shown;
  auto json = json::parse(state, k_state_name);
  if (!json || !json->is_object() || !json::require_schema(*json, k_schema, k_state_name)) return shown;
  for (const char* half : {"own", "base"}) {
    const auto digests = json->value(half, Json::object());
    for (const auto& [name, digest] : digests.items())
      if (digest.is_string()) shown[name] = digest.get<std::string>();
  }
  return shown;
}

class Merger {
public:
  Merger(ObjectStore& store, const Source& source, const Source& base, const MergeOptions& options)
      : store_(store), source_(source), base_(base), options_(options), directory_(merged_directory(source.place)) {}

  Result<Merged> run() {
    TRY(auto first, token());
    if (first.empty()) return Merged{}; // nothing to merge
    auto token_now = [this] { return token(); };
    auto work = [this](const std::string& state) { return work_of(state); };
    TRY(auto done, write_pages(store_, {directory_, token_now, work, std::string(k_state_name), options_.transfers}));
    return Merged{true, done.pages_written, done.pages_removed, std::move(notes_)};
  }

private:
  Result<std::string> token() {
    TRY(own_token_, source_.token());
    TRY(base_token_, base_.token());
    return own_token_.empty() || base_token_.empty() ? std::string() : own_token_ + "\n" + base_token_;
  }

  Result<Work> work_of(const std::string& state) {
    TRY(own_, source_.projects(own_token_));
    TRY(theirs_, base_.projects(base_token_));
    TRY(notes_, give_one_owner(store_, source_.place, own_, theirs_));
    auto complete = state_of({});
    bool as_it_says = state == complete;
    // Whoever was overtaken may have written a page that the state of a faster one vouches for: it looks at all.
    bool thorough = options_.thorough || round_++ > 0;
    Work work;
    if (as_it_says && !thorough) return work;
    auto made = differing(thorough ? "" : state);
    if (!as_it_says) work.state_before = state_page(state_of(made));
    work.batches = {{[this, made] { return pages_of_base(made); }, /*in_order=*/false},
                    {[this, made] { return own_pages_and_roots(made); }, /*in_order=*/true}};
    TRY(work.stale, stale_pages(store_, directory_, [&](const std::string& key) { return is_current(key); }));
    work.state = [complete] { return state_page(complete); };
    return work;
  }

  static index::Page state_page(const std::string& bytes) {
    return {std::string(k_state_name), bytes, "application/json"};
  }

  std::string state_of(const std::set<std::string>& without) const {
    Json state{{"schema", k_schema},
               {"directory", source_.place},
               {"own", digests_json(own_, without)},
               {"base", digests_json(theirs_, without)}};
    return state.dump();
  }

  /// Projects whose pages the state does not vouch for.
  std::set<std::string> differing(const std::string& state) const {
    auto shown = vouched_for(state);
    std::set<std::string> names;
    for (const auto* half : {&own_, &theirs_})
      for (const auto& [name, project] : *half) {
        auto before = shown.find(name);
        if (before == shown.end() || before->second != project.shard) names.insert(name);
      }
    return names;
  }

  bool is_current(const std::string& key) const {
    auto page = key.substr(directory_.size() + 1);
    page.erase(0, page.find('/') + 1); // "simple/"
    auto project = page.substr(0, page.find('/'));
    return page == "index.html" || own_.contains(project) || theirs_.contains(project);
  }

  Result<Pages> pages_of_some(Projects& projects, const std::set<std::string>& made,
                              std::vector<FileRecord>& files_made) {
    Pages all;
    for (auto& [name, project] : projects) {
      if (!made.contains(name)) continue;
      TRY(const auto* files, files_of(store_, project));
      auto pages = index::pages_of_project(name, *files, {.directory = directory_});
      all.insert(all.end(), pages.begin(), pages.end());
      files_made.insert(files_made.end(), files->begin(), files->end());
    }
    return all;
  }

  // Dependencies before what needs them, roots last.

  Result<Pages> pages_of_base(const std::set<std::string>& made) {
    std::vector<FileRecord> files;
    return pages_of_some(theirs_, made, files);
  }

  Result<Pages> own_pages_and_roots(const std::set<std::string>& made) {
    std::vector<FileRecord> files;
    TRY(auto pages, pages_of_some(own_, made, files));
    TRY_DO(dependencies_first(store_, files, pages));
    std::vector<std::string> names;
    for (const auto* half : {&own_, &theirs_})
      for (const auto& [name, project] : *half) names.push_back(name);
    pages.push_back({"simple/index.html", index::root_html(names), index::k_html_type});
    pages.push_back({"simple-json/index.html", index::root_json(names), index::k_json_type});
    return pages;
  }

  ObjectStore& store_;
  const Source& source_;
  const Source& base_;
  const MergeOptions& options_;
  std::string directory_;
  std::string own_token_, base_token_;
  Projects own_, theirs_; ///< of the tokens; theirs without what is own, too
  Findings notes_;
  int round_ = 0;
};

Result<Merged> merge(ObjectStore& store, const Source& source, const MergeOptions& options) {
  if (source.place == k_base_index) return Merged{};
  auto base = directory_source(store, std::string(k_base_index));
  return Merger(store, source, base, options).run();
}

/// Directories that sets were published in.
Result<std::set<std::string>> published_directories(ObjectStore& store, unsigned transfers) {
  constexpr std::string_view k_sets = "sets/", k_json = ".json";
  TRY(auto objects, store.list(std::string(k_sets)));
  std::set<std::string> directories;
  std::mutex mutex;
  TRY_DO(parallel_for(objects.size(), transfers, [&](std::size_t i) -> Result<void> {
    std::string_view key = objects[i].key;
    if (!key.ends_with(k_json)) return {};
    TRY(auto set,
        registry::load_set(store, std::string(key.substr(k_sets.size(), key.size() - k_sets.size() - k_json.size()))));
    std::lock_guard lock(mutex);
    directories.insert(set.directory);
    return {};
  }));
  directories.erase(std::string(k_base_index));
  return directories;
}

} // namespace

std::string merged_directory(const std::string& directory) { return directory + "/merged"; }

Result<Merged> merge_directory(ObjectStore& store, const std::string& directory, const MergeOptions& options) {
  return merge(store, directory_source(store, directory), options);
}

Result<Merged> merge_channel(ObjectStore& store, const std::string& name, const MergeOptions& options) {
  return merge(store, channel_source(store, name), options);
}

Result<Shown> merged_channel_shown(ObjectStore& store, const std::string& name, const registry::ViewRecord& view) {
  auto key = merged_directory(registry::channel_directory(name)) + "/" + std::string(k_state_name);
  TRY(auto bytes, store.get(key, k_page_bytes_max));
  if (!bytes) return Shown{};
  TRY(auto state, json::parse(*bytes, key));
  TRY_DO(json::require_schema(state, k_schema, key));
  return Shown{true, state.value("own", Json::object()) == Json(view.shards)};
}

Result<MergedAll> merge_all(ObjectStore& store, const MergeOptions& options) {
  std::vector<Source> sources;
  TRY(auto channels, registry::list_channels(store));
  for (const auto& name : channels) sources.push_back(channel_source(store, name));
  TRY(auto directories, published_directories(store, options.transfers));
  for (const auto& directory : directories) sources.push_back(directory_source(store, directory));
  std::vector<Merged> merged(sources.size());
  auto base = read_once(directory_source(store, std::string(k_base_index)));
  MergeOptions one{options.thorough, 1};
  TRY_DO(parallel_for(sources.size(), options.transfers, [&](std::size_t i) -> Result<void> {
    TRY(merged[i], Merger(store, sources[i], base, one).run());
    return {};
  }));
  MergedAll all;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!merged[i].exists) continue;
    all.directories.push_back(sources[i].place);
    all.pages_written += merged[i].pages_written;
    all.pages_removed += merged[i].pages_removed;
    all.notes.insert(all.notes.end(), merged[i].notes.begin(), merged[i].notes.end());
  }
  return all;
}

} // namespace quarry::publish
