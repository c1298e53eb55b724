#include "pages/merged.hpp"

#include "base/json.hpp"
#include "index/pages.hpp"
#include "pages/merged_sources.hpp"
#include "pages/page_order.hpp"
#include "pages/page_writer.hpp"
#include "pages/recent_moves.hpp"
#include "registry/registry.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace quarry::pages {

using registry::FileRecord;
using store::ObjectReader;
using store::ObjectStore;
using Pages = std::vector<index::Page>;

namespace {

constexpr std::string_view k_schema = "quarry.merged/1";

using Digests = std::map<std::string, registry::ShardDigest>; // by project: the digest of its files

/// What pages.json says.
struct State {
  bool readable = false;
  Digests own, base; ///< of the files that each page shows; a project without an entry has a page that is not trusted
  std::uint64_t moves = 0;
  RecentMoves recent;
  bool slash_keys = false; ///< whether every HTML page has its copy (page_writer.hpp)
  /// Written before the pages where no state could be read: pages of projects that it does not name may be there.
  bool unlisted = false;
};

/// Unreadable state counts as no state. Pages are derived data, so they are regenerated.
State parse_state(const std::string& bytes) {
  auto json = json::parse({bytes, k_state_name});
  if (!json || !json->is_object() || !json::require_schema({*json, k_state_name}, k_schema)) return {};
  State state;
  auto moves = json::unsigned_at({*json, k_state_name}, "moves");
  auto recent = recent_moves_of(*json);
  if (!moves || !recent) return {};
  for (auto [half, digests] : {std::pair{"own", &state.own}, {"base", &state.base}}) {
    const auto object = json->value(half, Json::object());
    for (const auto& [name, digest] : object.items()) {
      auto shard = registry::ShardDigest::parse(digest.is_string() ? digest.get<std::string>() : "");
      if (!shard || !is_project(name)) return {};
      (*digests)[name] = *shard;
    }
  }
  state.readable = true;
  state.moves = *moves;
  state.recent = std::move(*recent);
  state.slash_keys = json->value("slash_keys", Json()) == Json(true);
  state.unlisted = json->value("unlisted", Json()) == Json(true);
  return state;
}

index::Page state_page(const std::string& directory, const State& state) {
  Json json{
      {"schema", k_schema}, {"directory", directory}, {"own", state.own}, {"base", state.base}, {"moves", state.moves}};
  add_to(json, state.recent);
  if (state.slash_keys) json["slash_keys"] = true;
  if (state.unlisted) json["unlisted"] = true;
  return {std::string(k_state_name), json::text(json), "application/json"};
}

Digests digests_of(const Projects& projects) {
  Digests digests;
  for (const auto& [name, project] : projects) digests[name] = project.shard;
  return digests;
}

Digests without(Digests digests, const std::set<std::string>& projects) {
  std::erase_if(digests, [&](const auto& entry) { return projects.contains(entry.first); });
  return digests;
}

/// One merged index: where it is, what it is made from, and how.
struct Merge {
  ObjectStore& store;
  const Source& source;
  const Source& base;
  const MergeOptions& options;
  std::string directory() const { return merged_directory(source); }
};

/// What both sources said when they were asked for their tokens.
struct Tokens {
  std::string own, base;
};

/// The projects of both sources; `base` lacks those that `own` has, too.
struct Halves {
  Projects own, base;

  bool show(const std::string& project) const { return own.contains(project) || base.contains(project); }
  template <class Names> void add_names(Names& names) const {
    for (const auto* half : {&own, &base})
      for (const auto& [name, project] : *half) names.insert(names.end(), name);
  }
};

/// Projects whose files differ from those that the state names.
std::set<std::string> moved_since(const State& shown, const Halves& halves) {
  auto moved = moved_between(shown.own, digests_of(halves.own));
  moved.merge(moved_between(shown.base, digests_of(halves.base)));
  return moved;
}

State state_after(const State& shown, const Halves& halves, const std::set<std::string>& moved) {
  State next{true, digests_of(halves.own), digests_of(halves.base), shown.moves + 1, {}, shown.slash_keys, false};
  if (shown.readable) next.recent = shown.recent.after(next.moves, {.projects = moved, .more_than_once = {}});
  return next;
}

/// The state that is written before any page. The entries of projects that are about to change are removed, so that
/// after a crash the next writer compares their pages; they already count as moved, so that it enters them in
/// `twice`. Projects whose pages are about to be removed keep their entries, so that the next writer finishes the
/// removal.
State write_ahead_state(const State& shown, const State& next, const Halves& halves, std::set<std::string> moved) {
  std::erase_if(moved, [&](const auto& name) { return !halves.show(name); });
  return {true,        without(shown.own, moved), without(shown.base, moved),       shown.moves,
          next.recent, shown.slash_keys,          !shown.readable || shown.unlisted};
}

std::vector<std::string> names_in(const Projects& projects, const std::set<std::string>& touched) {
  std::vector<std::string> names;
  for (const auto& name : touched)
    if (projects.contains(name)) names.push_back(name);
  return names;
}

Result<Pages> pages_of(const Merge& merge, const Halves& halves, const std::vector<std::string>& names,
                       std::vector<FileRecord>& files) {
  Pages all;
  for (const auto& name : names) {
    auto own = halves.own.find(name);
    TRY(auto of_one, files_of(merge.store, own == halves.own.end() ? halves.base.at(name) : own->second));
    auto pages = index::pages_of_project(name, of_one, {.directory = merge.directory()});
    std::move(pages.begin(), pages.end(), std::back_inserter(all));
    std::move(of_one.begin(), of_one.end(), std::back_inserter(files));
  }
  return all;
}

Pages root_pages(const Halves& halves) {
  std::vector<std::string> names;
  halves.add_names(names);
  return {{"simple/index.html", index::root_html(names), index::k_html_type},
          {"simple-json/index.html", index::root_json(names), index::k_json_type}};
}

/// Keys of pages whose projects neither source has any more: of the touched ones, or of `all` that the store lists.
Result<std::vector<std::string>> stale(const Merge& merge, const Halves& halves, const std::set<std::string>& touched,
                                       bool all) {
  constexpr std::string_view k_page = "/index.html";
  const auto directory = merge.directory();
  if (all)
    return stale_pages(merge.store, directory, [&](const std::string& key) {
      auto page = std::string_view(key).substr(directory.size() + 1);
      page.remove_prefix(page.find('/') + 1); // "simple/"
      return page == k_page.substr(1) || halves.show(std::string(page.substr(0, page.find('/'))));
    });
  std::vector<std::string> keys;
  for (const auto& name : touched)
    for (const char* tree : {"/simple/", "/simple-json/"})
      if (!halves.show(name)) keys.push_back(directory + tree + name + std::string(k_page));
  return keys;
}

/// Brings one merged index up to date. The page writer asks it for snapshots until nobody interferes.
class Merger {
public:
  explicit Merger(const Merge& merge) : merge_(merge) {}

  Result<Merged> run() {
    TRY(bool exists, has_merged_index());
    if (!exists) return Merged{};
    PageSource pages{merge_.directory(), [this] { return snapshot(); }, std::string(k_state_name),
                     merge_.options.transfers, Others::replaced};
    TRY(auto done, write_pages(merge_.store, pages));
    return Merged{true, done.pages_written, done.pages_removed, std::move(notes_)};
  }

private:
  Result<Snapshot> snapshot() {
    Tokens now;
    TRY(now.own, merge_.source.token());
    TRY(now.base, merge_.base.token());
    return Snapshot{now.own + "\n" + now.base,
                    [this, now](const std::string& state) { return work_of(now, parse_state(state)); }};
  }

  /// Both sources have files; or one of them has lost its sets, and the merged index that shows them must follow.
  Result<bool> has_merged_index() {
    TRY(auto base, merge_.base.token());
    if (!base.empty()) { // else it costs no look at the directory's own sets
      TRY(auto own, merge_.source.token());
      if (!own.empty()) return true;
    }
    TRY(auto state, merge_.store.head(merge_.directory() + "/" + std::string(k_state_name)));
    return state.has_value();
  }

  Result<Work> work_of(const Tokens& tokens, const State& shown) {
    auto read = std::make_shared<Halves>();
    auto& halves = *read;
    TRY(halves.own, merge_.source.projects(tokens.own));
    TRY(halves.base, merge_.base.projects(tokens.base));
    TRY(notes_, give_one_owner(merge_.store, merge_.source, halves.own, halves.base));
    if (merge_.source.notes) std::ranges::move(merge_.source.notes(), std::back_inserter(notes_));
    auto moved = moved_since(shown, halves);
    auto next = moved.empty() && shown.readable ? shown : state_after(shown, halves, moved);
    touched_.insert(moved.begin(), moved.end());
    for (const auto& [name, move] : next.recent.twice) touched_.insert(name);
    next.unlisted = false; // it is written last
    TRY(next.slash_keys, merge_.store.slash_keys());
    bool copies_are_missing = next.slash_keys && !shown.slash_keys; // an older program wrote the pages
    if (merge_.options.thorough || copies_are_missing) halves.add_names(touched_);
    Work work;
    bool all = merge_.options.thorough || !shown.readable || shown.unlisted; // nothing says which pages are there
    if (touched_.empty() && !all) return work;
    const auto& place = merge_.source.place;
    if (!moved.empty()) work.state_before = state_page(place, write_ahead_state(shown, next, halves, moved));
    work.batches = batches(read);
    TRY(work.stale, stale(merge_, halves, touched_, all));
    work.state = [&place, next] { return state_page(place, next); };
    return work;
  }

  /// Pages of dependencies come before the pages of the projects that need them, roots last.
  std::vector<Batch> batches(const std::shared_ptr<const Halves>& halves) {
    auto render = [this, halves](const std::vector<std::string>& names, std::vector<FileRecord>& files) {
      return pages_of(merge_, *halves, names, files);
    };
    auto nothing = [](const std::vector<FileRecord>*) { return Result<Pages>(Pages()); };
    auto roots = [halves](const std::vector<FileRecord>*) { return Result<Pages>(root_pages(*halves)); };
    auto batches = batches_of(merge_.store, names_in(halves->base, touched_), {render, nothing});
    auto of_own = batches_of(merge_.store, names_in(halves->own, touched_), {render, roots});
    std::move(of_own.begin(), of_own.end(), std::back_inserter(batches));
    return batches;
  }

  const Merge& merge_;
  Findings notes_; ///< of the last snapshot that gave its work
  /// Includes the projects of earlier rounds: a page that this writer wrote late may have replaced a newer one (ABA).
  std::set<std::string> touched_;
};

} // namespace

Result<Merged> merge_sources(ObjectStore& store, const Source& source, const Source& base,
                             const MergeOptions& options) {
  Merge one{store, source, base, options};
  return Merger(one).run();
}

Result<Merged> merge_source(ObjectStore& store, const Source& source, const MergeOptions& options) {
  if (source.place == k_base_index) return Merged{};
  return merge_sources(store, source, directory_source(store, std::string(k_base_index)), options);
}

std::string merged_directory(const std::string& directory) { return directory + "/merged"; }
std::string group_index_directory(const RunGroup& group) { return merged_directory(group.run) + "/" + group.group; }

Result<Merged> merge_directory(ObjectStore& store, const std::string& directory, const MergeOptions& options) {
  return merge_source(store, directory_source(store, directory), options);
}

Result<Merged> merge_run_of(ObjectStore& store, const std::string& directory, const MergeOptions& options) {
  auto run = run::run_of(directory);
  if (run.empty()) return Merged{};
  return merge_source(store, run_source(store, run), options);
}

Result<Merged> merge_channel(ObjectStore& store, const std::string& name, const MergeOptions& options) {
  return merge_source(store, channel_source(store, name), options);
}

Result<Shown> merged_channel_shown(ObjectReader& store, const std::string& name, const registry::ViewRecord& view) {
  auto key = merged_directory(registry::channel_directory(name)) + "/" + std::string(k_state_name);
  TRY(auto bytes, store.get(key, k_page_bytes_max));
  if (!bytes) return Shown{};
  auto state = parse_state(*bytes);
  // write_ahead_state() names the projects of a move that has not ended by its number.
  bool ended = std::ranges::none_of(state.recent.moved, [&](const auto& one) { return one.second > state.moves; });
  return Shown{true, state.readable && ended && state.own == view.shards};
}

} // namespace quarry::pages
