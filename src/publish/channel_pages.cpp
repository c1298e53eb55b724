#include "publish/channel_pages.hpp"

#include "base/json.hpp"
#include "publish/page_order.hpp"
#include "publish/page_writer.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

namespace quarry::publish {

using registry::ChannelRecord;
using registry::FileRecord;
using registry::ShardRecord;
using registry::ViewRecord;
using store::ObjectStore;

namespace {

constexpr std::string_view k_pages_schema = "quarry.pages/1";
constexpr std::string_view k_state_name = "pages.json";

using Names = std::vector<std::string>;

Result<ViewRecord> view_of(ObjectStore& store, const std::string& digest, const KnownViews& known) {
  auto found = known.find(digest);
  if (found != known.end()) return found->second;
  return registry::load_view(store, digest);
}

/// One move: names that only one of the two has, or with another shard.
void add_differing(const ViewRecord& older, const ViewRecord& newer, std::set<std::string>& projects) {
  for (const auto& [project, shard] : newer.shards) {
    auto before = older.shards.find(project);
    if (before == older.shards.end() || before->second != shard) projects.insert(project);
  }
  for (const auto& [project, shard] : older.shards)
    if (!newer.shards.contains(project)) projects.insert(project);
}

} // namespace

std::string to_json(const PagesState& state) {
  Json json{{"schema", k_pages_schema}, {"channel", state.channel}, {"generation", state.generation},
            {"view", state.view},       {"files", state.files},     {"recent", state.recent}};
  return json.dump();
}

PagesState parse_pages_state(const std::string& bytes) {
  PagesState state;
  auto json = json::parse(bytes, k_state_name);
  if (!json || !json->is_object() || !json::require_schema(*json, k_pages_schema, k_state_name)) return state;
  auto generation = json::unsigned_at(*json, "generation", k_state_name);
  auto files = json::unsigned_at(*json, "files", k_state_name);
  if (!generation || !files) return state;
  state = {json::string_or(*json, "channel", ""), *generation, json::string_or(*json, "view", ""), *files, {}};
  const auto recent = json->value("recent", Json::object());
  for (const auto& [project, moved] : recent.items())
    if (moved.is_number_unsigned()) state.recent[project] = moved.get<std::uint64_t>();
  return state;
}

Result<std::optional<Changes>> changes_since(ObjectStore& store, const PagesState& state, const ChannelRecord& now,
                                             const ViewRecord& view, const KnownViews& known) {
  Changes changes{{}, view};
  auto generation = now.generation;
  auto view_digest = now.view, entry_digest = now.ledger;
  if (state.generation == 0 || state.generation > generation || generation - state.generation > k_recent_moves)
    return std::optional<Changes>();
  for (; generation > state.generation; --generation) {
    auto entry = registry::load_ledger(store, entry_digest);
    bool unreadable =
        !entry && (entry.error().kind == ErrorKind::not_found || entry.error().kind == ErrorKind::corrupt);
    if (!entry && !unreadable) return fail(std::move(entry).error());
    if (unreadable || entry->to_view != view_digest || entry->from_view.empty()) return std::optional<Changes>();
    TRY(auto older, view_of(store, entry->from_view, known), "while reading what the pages show");
    add_differing(older, changes.shown, changes.projects);
    changes.shown = std::move(older);
    view_digest = entry->from_view;
    entry_digest = entry->previous;
  }
  if (view_digest != state.view) return std::optional<Changes>();
  return std::optional(std::move(changes));
}

namespace {

// Above this, order matters less than time: it is kept for what one publish or promotion brings, and a channel of that
// many projects is written as a whole only by its first move and by a repair.
constexpr std::size_t k_in_order_max = 200;
constexpr std::size_t k_batch_projects = 64;       // a batch of pages is in memory at once
constexpr std::uint64_t k_listed_files_max = 1000; // on one page, which every move would write again
constexpr unsigned k_renderers = 4;

/// Everything that the work of one round needs; shared by its batches.
struct Channel {
  ObjectStore& store;
  std::string name, directory;
  ChannelRecord record;
  ViewRecord view;
  std::uint64_t files = 0; ///< as far as counted
};
using ChannelPtr = std::shared_ptr<Channel>;

Names all_projects(const ViewRecord& view) {
  Names names;
  for (const auto& [project, shard] : view.shards) names.push_back(project);
  return names;
}

index::PageOptions options_of(const Channel& channel) {
  return {.title = channel.name, .directory = channel.directory};
}

/// The pages of these projects; their files, too, where somebody wants to see all of them.
Result<std::vector<index::Page>> render(const Channel& channel, const Names& projects, std::vector<FileRecord>& files) {
  std::vector<std::vector<index::Page>> pages(projects.size());
  std::vector<std::vector<FileRecord>> files_of(projects.size());
  TRY_DO(parallel_for(projects.size(), k_renderers, [&](std::size_t i) -> Result<void> {
    TRY(auto shard, registry::load_shard_of(channel.store, channel.view, projects[i]));
    if (!shard) return {};
    pages[i] = index::pages_of_project(projects[i], shard->files, options_of(channel));
    files_of[i] = std::move(shard->files);
    return {};
  }));
  std::vector<index::Page> all;
  for (auto& of_one : pages) std::move(of_one.begin(), of_one.end(), std::back_inserter(all));
  for (auto& of_one : files_of) std::move(of_one.begin(), of_one.end(), std::back_inserter(files));
  return all;
}

/// The roots, and the page for people: every file where that can be read, else every project.
Result<std::vector<index::Page>> last_pages(const Channel& channel, const std::vector<FileRecord>* all_files) {
  auto projects = all_projects(channel.view);
  std::vector<index::Page> pages{{"simple/index.html", index::root_html(projects), index::k_html_type},
                                 {"simple-json/index.html", index::root_json(projects), index::k_json_type}};
  std::vector<FileRecord> files;
  if (channel.files <= k_listed_files_max && !all_files) {
    TRY_DO(render(channel, projects, files));
    all_files = &files;
  }
  auto page = channel.files > k_listed_files_max ? index::overview_page(channel.name, std::move(projects))
                                                 : index::find_links_page(channel.name, *all_files, channel.directory);
  pages.push_back({"index.html", std::move(page), index::k_html_type});
  return pages;
}

/// Few projects: their pages in the order in which they need each other, then the last ones.
Batch ordered_batch(ChannelPtr channel, Names projects, bool whole) {
  auto make = [channel, projects = std::move(projects), whole]() -> Result<std::vector<index::Page>> {
    std::vector<FileRecord> files;
    TRY(auto pages, render(*channel, projects, files));
    if (whole) channel->files = files.size();
    TRY_DO(dependencies_first(channel->store, files, pages));
    TRY(auto last, last_pages(*channel, whole ? &files : nullptr));
    std::move(last.begin(), last.end(), std::back_inserter(pages));
    return pages;
  };
  return {make, /*in_order=*/true};
}

Batch unordered_batch(ChannelPtr channel, Names projects, bool whole) {
  auto make = [channel, projects = std::move(projects), whole]() -> Result<std::vector<index::Page>> {
    std::vector<FileRecord> files;
    TRY(auto pages, render(*channel, projects, files));
    if (whole) channel->files += files.size();
    return pages;
  };
  return {make, /*in_order=*/false};
}

std::vector<Batch> batches_of(const ChannelPtr& channel, const Names& projects, bool whole) {
  if (projects.size() <= k_in_order_max) return {ordered_batch(channel, projects, whole)};
  std::vector<Batch> batches;
  for (std::size_t begin = 0; begin < projects.size(); begin += k_batch_projects) {
    auto end = std::min(begin + k_batch_projects, projects.size());
    batches.push_back(unordered_batch(channel,
                                      Names(projects.begin() + static_cast<std::ptrdiff_t>(begin),
                                            projects.begin() + static_cast<std::ptrdiff_t>(end)),
                                      whole));
  }
  batches.push_back({[channel] { return last_pages(*channel, nullptr); }, true});
  return batches;
}

Result<std::uint64_t> files_in(ObjectStore& store, const ViewRecord& view, const std::set<std::string>& projects) {
  std::uint64_t files = 0;
  for (const auto& project : projects) {
    TRY(auto shard, registry::load_shard_of(store, view, project));
    if (shard) files += shard->files.size();
  }
  return files;
}

std::string project_key(const std::string& directory, std::string_view tree, const std::string& project) {
  return directory + std::string(tree) + project + "/index.html";
}

/// Pages of projects that the view does not show: all there are, or those of `projects`.
Result<Names> stale_of(const Channel& channel, const std::set<std::string>& projects, bool whole) {
  constexpr std::string_view k_trees[] = {"/simple/", "/simple-json/"};
  if (!whole) {
    Names stale;
    for (const auto& project : projects)
      for (auto tree : k_trees)
        if (!channel.view.shards.contains(project)) stale.push_back(project_key(channel.directory, tree, project));
    return stale;
  }
  std::set<std::string> current;
  for (auto tree : k_trees) {
    current.insert(channel.directory + std::string(tree) + "index.html");
    for (const auto& [project, shard] : channel.view.shards)
      current.insert(project_key(channel.directory, tree, project));
  }
  return stale_pages(channel.store, channel.directory, [&](const std::string& key) { return current.contains(key); });
}

/// What moved lately and what moves now, of `k_recent_moves` generations.
std::map<std::string, std::uint64_t> recent_after(const PagesState& shown, const std::optional<Changes>& changes,
                                                  std::uint64_t generation) {
  auto recent = shown.recent;
  std::erase_if(recent, [&](const auto& entry) { return entry.second + k_recent_moves <= generation; });
  if (changes)
    for (const auto& project : changes->projects) recent[project] = generation;
  return recent;
}

Result<Work> work_of(const ChannelPtr& channel, const PagesState& shown, Extent extent, const KnownViews& known) {
  TRY(auto changes, changes_since(channel->store, shown, channel->record, channel->view, known));
  auto recent = recent_after(shown, changes, channel->record.generation);
  bool whole = extent == Extent::whole || !changes;
  if (!whole) {
    TRY(auto before, files_in(channel->store, changes->shown, changes->projects));
    TRY(auto after, files_in(channel->store, channel->view, changes->projects));
    channel->files = shown.files - std::min(before, shown.files) + after;
    whole = channel->files <= k_listed_files_max;
  }
  if (whole) channel->files = 0; // counted as they are read
  std::set<std::string> touched;
  for (const auto& [project, generation] : recent) touched.insert(project);
  auto projects = whole ? all_projects(channel->view) : Names(touched.begin(), touched.end());
  Work work;
  work.batches = batches_of(channel, projects, whole);
  TRY(work.stale, stale_of(*channel, touched, whole));
  work.state = [channel, recent]() -> index::Page {
    PagesState state{channel->name, channel->record.generation, channel->record.view, channel->files, recent};
    return {std::string(k_state_name), to_json(state), "application/json"};
  };
  return work;
}

} // namespace

Result<Projected> project_channel(ObjectStore& store, const std::string& name, Extent extent, const KnownViews& known) {
  registry::Channel channel;
  auto directory = registry::channel_directory(name);
  auto token = [&]() -> Result<std::string> {
    TRY(channel, registry::require_channel(store, name));
    return channel.etag;
  };
  auto work = [&](const std::string& state) -> Result<Work> {
    TRY(auto view, view_of(store, channel.record.view, known), "while reading channel " + name);
    return work_of(std::make_shared<Channel>(Channel{store, name, directory, channel.record, std::move(view)}),
                   parse_pages_state(state), extent, known);
  };
  TRY(auto done, write_pages(store, {directory, token, work, std::string(k_state_name)}));
  done.generation = channel.record.generation;
  return done;
}

Result<std::uint64_t> projected_generation(ObjectStore& store, const std::string& name) {
  TRY(auto bytes, store.get(registry::channel_directory(name) + "/" + std::string(k_state_name), k_page_bytes_max));
  return bytes ? parse_pages_state(*bytes).generation : 0;
}

} // namespace quarry::publish
