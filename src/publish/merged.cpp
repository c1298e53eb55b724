#include "publish/merged.hpp"

#include "base/json.hpp"
#include "index/pages.hpp"
#include "publish/merged_sources.hpp"
#include "publish/page_order.hpp"
#include "publish/plan.hpp"
#include "publish/projection.hpp"
#include "publish/publish.hpp"
#include "registry/registry.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectStore;

namespace {

constexpr std::string_view k_schema = "quarry.merged/1";
constexpr std::uint64_t k_page_bytes_max = 64u << 20;  // one project's 150,000 files as JSON
constexpr std::uint64_t k_state_bytes_max = 64u << 20; // a digest for each of 500,000 projects

Json digests_json(const Projects& projects, const std::set<std::string>& without) {
  auto json = Json::object();
  for (const auto& [name, project] : projects)
    if (!without.contains(name)) json[name] = project.shard;
  return json;
}

class Merger {
public:
  Merger(ObjectStore& store, const Source& source, const Source& base, const MergeOptions& options)
      : store_(store), source_(source), base_(base), options_(options), directory_(merged_directory(source.place)) {}

  Result<Merged> run() {
    for (int round = 0; round < k_rebase_max; ++round) {
      TRY(bool done, try_once(), "while writing the pages of " + directory_);
      if (done) return std::move(done_);
    }
    return fail(ErrorKind::precondition_failed, "P010", fmt::format("others kept writing the pages of {}", directory_),
                "`quarry index repair` completes them when it is quiet");
  }

private:
  struct Existing {
    std::string bytes, etag;
  };
  using Pages = std::vector<index::Page>;

  std::string key_of(const std::string& page) const { return directory_ + "/" + page; }
  std::string state_key() const { return key_of("pages.json"); }

  Result<std::optional<Existing>> look(const std::string& key, std::uint64_t max) {
    Existing existing;
    TRY(auto bytes, store_.get(key, max, &existing.etag));
    if (!bytes) return std::optional<Existing>();
    existing.bytes = std::move(*bytes);
    return std::optional(std::move(existing));
  }

  /// False: overtaken, start anew.
  Result<bool> try_once() {
    own_pages_.clear(), base_pages_.clear(), roots_.clear();
    made_.clear(), existing_.clear(), stale_.clear();
    TRY(auto own_token, source_.token());
    TRY(auto base_token, base_.token());
    if (own_token.empty() || base_token.empty()) return true; // nothing to merge
    done_.exists = true;
    TRY(auto own, source_.projects(own_token));
    TRY(auto base, base_.projects(base_token));
    TRY(done_.notes, give_one_owner(store_, source_.place, own, base));
    TRY(auto state, look(state_key(), k_state_bytes_max));
    auto complete = state_of(own, base, {});
    bool as_it_says = state && state->bytes == complete;
    if (as_it_says && !options_.thorough) return true;
    TRY_DO(make_pages(own, base, state ? state->bytes : std::string()));
    TRY_DO(look_at_pages(own, base));
    if (as_it_says && all_right()) return true;
    TRY(auto own_again, source_.token());
    TRY(auto base_again, base_.token());
    if (own_again != own_token || base_again != base_token) return false;
    TRY(bool told, say(state_of(own, base, made_), state));
    if (!told) return false;
    TRY(bool written, write_pages());
    if (!written) return false;
    if (!stale_.empty()) {
      TRY_DO(remove_stale());
      TRY(auto after, source_.token()); // a removal has no condition: what needed the page has moved the truth
      if (after != own_token) return false;
    }
    return say(complete, state);
  }

  /// Changes the state. Before pages are written it no longer vouches for them: a writer that is killed between leaves
  /// pages that the next one looks at, whatever the truth is by then.
  Result<bool> say(const std::string& bytes, std::optional<Existing>& state) {
    if (state && state->bytes == bytes) return true;
    index::Page page{"pages.json", bytes, "application/json"};
    TRY(auto etag, put(page, state ? std::optional(state->etag) : std::nullopt));
    if (!etag) return false;
    state = Existing{bytes, *etag};
    done_.pages_written = ++written_;
    return true;
  }

  std::string state_of(const Projects& own, const Projects& base, const std::set<std::string>& without) const {
    Json state{{"schema", k_schema},
               {"directory", source_.place},
               {"own", digests_json(own, without)},
               {"base", digests_json(base, without)}};
    return state.dump();
  }

  /// What the pages showed when they were last complete.
  Result<std::map<std::string, std::string>> shown_before(const std::string& state) const {
    std::map<std::string, std::string> shown;
    if (state.empty() || options_.thorough) return shown;
    TRY(auto json, json::parse(state, state_key()));
    TRY_DO(json::require_schema(json, k_schema, state_key()));
    for (const char* half : {"own", "base"}) {
      auto digests = json.value(half, Json::object());
      for (const auto& [name, digest] : digests.items())
        if (digest.is_string()) shown[name] = digest.get<std::string>();
    }
    return shown;
  }

  Result<void> make_pages(Projects& own, Projects& base, const std::string& state) {
    TRY(auto shown, shown_before(state));
    std::vector<FileRecord> own_files;
    std::vector<std::string> names;
    for (auto* half : {&own, &base})
      for (auto& [name, project] : *half) {
        names.push_back(name);
        auto before = shown.find(name);
        if (before != shown.end() && before->second == project.shard) continue;
        made_.insert(name);
        TRY(const auto* files, files_of(store_, project));
        auto pages = index::pages_of_project(name, *files, {.directory = directory_});
        auto& all = half == &own ? own_pages_ : base_pages_;
        all.insert(all.end(), pages.begin(), pages.end());
        if (half == &own) own_files.insert(own_files.end(), files->begin(), files->end());
      }
    TRY_DO(dependencies_first(store_, own_files, own_pages_));
    roots_ = {{"simple/index.html", index::root_html(names), index::k_html_type},
              {"simple-json/index.html", index::root_json(names), index::k_json_type}};
    return {};
  }

  /// What is there of the pages that are to be written, and which no project has any more.
  Result<void> look_at_pages(const Projects& own, const Projects& base) {
    std::set<std::string> there;
    for (const std::string tree : {"simple/", "simple-json/"}) {
      TRY(auto objects, store_.list(key_of(tree)));
      for (const auto& object : objects) {
        there.insert(object.key);
        auto rest = object.key.substr(key_of(tree).size());
        auto project = rest.substr(0, rest.find('/'));
        if (rest == project + "/index.html" && !own.contains(project) && !base.contains(project))
          stale_.push_back(object.key);
      }
    }
    std::vector<const index::Page*> wanted;
    for (const auto* pages : {&base_pages_, &own_pages_, &roots_})
      for (const auto& page : *pages)
        if (there.contains(key_of(page.key))) wanted.push_back(&page);
    std::mutex mutex;
    return parallel_for(wanted.size(), options_.transfers, [&](std::size_t i) -> Result<void> {
      auto key = key_of(wanted[i]->key);
      TRY(auto existing, look(key, k_page_bytes_max));
      std::lock_guard lock(mutex);
      if (existing) existing_.emplace(key, std::move(*existing));
      return {};
    });
  }

  /// The new etag; nullopt: a rival was faster.
  Result<std::optional<std::string>> put(const index::Page& page, const std::optional<std::string>& etag) {
    store::PutOptions options;
    options.precondition = etag ? store::Precondition::if_match(*etag) : store::Precondition::if_absent();
    options.content_type = page.content_type;
    options.cache_control = k_page_cache;
    auto written = store_.put(key_of(page.key), content::Rope::literal(page.bytes), options);
    if (written) return std::optional(std::move(written->etag));
    auto kind = written.error().kind;
    // A lost reply starts a new round like a lost race: it looks at what is there.
    if (kind == ErrorKind::precondition_failed || written.error().code == "R002" || kind == ErrorKind::outcome_unknown)
      return std::optional<std::string>();
    return fail(std::move(written).error());
  }

  bool is_right(const index::Page& page) const {
    auto existing = existing_.find(key_of(page.key));
    return existing != existing_.end() && existing->second.bytes == page.bytes;
  }

  bool all_right() const {
    auto right = [&](const Pages& pages) {
      return std::all_of(pages.begin(), pages.end(), [&](const auto& page) { return is_right(page); });
    };
    return stale_.empty() && right(base_pages_) && right(own_pages_) && right(roots_);
  }

  Result<bool> bring_up(const index::Page& page) {
    if (is_right(page)) return true;
    auto existing = existing_.find(key_of(page.key));
    TRY(auto etag, put(page, existing == existing_.end() ? std::nullopt : std::optional(existing->second.etag)));
    if (etag) ++written_;
    return etag.has_value();
  }

  /// Dependencies before what needs them, roots last.
  Result<bool> write_pages() {
    std::atomic<bool> overtaken = false;
    TRY_DO(parallel_for(base_pages_.size(), options_.transfers, [&](std::size_t i) -> Result<void> {
      if (overtaken) return {};
      TRY(bool written, bring_up(base_pages_[i]));
      if (!written) overtaken = true;
      return {};
    }));
    for (const auto* pages : {&own_pages_, &roots_})
      for (const auto& page : *pages) {
        if (overtaken) break;
        TRY(bool written, bring_up(page));
        if (!written) overtaken = true;
      }
    done_.pages_written = written_;
    return !overtaken;
  }

  Result<void> remove_stale() {
    for (const auto& key : stale_) {
      TRY_DO(store_.remove(key));
      ++done_.pages_removed;
    }
    return {};
  }

  ObjectStore& store_;
  const Source& source_;
  const Source& base_;
  const MergeOptions& options_;
  std::string directory_;
  Pages own_pages_, base_pages_, roots_;
  std::set<std::string> made_; ///< projects whose pages are made
  std::map<std::string, Existing> existing_;
  std::vector<std::string> stale_;
  std::atomic<std::uint64_t> written_ = 0;
  Merged done_;
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
  auto key = merged_directory(registry::channel_directory(name)) + "/pages.json";
  TRY(auto bytes, store.get(key, k_state_bytes_max));
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
