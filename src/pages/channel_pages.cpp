#include "pages/channel_pages.hpp"

#include "pages/install_words.hpp"
#include "pages/page_order.hpp"
#include "pages/page_writer.hpp"
#include "pages/remarks.hpp"
#include "registry/empty_extras.hpp"
#include "registry/waived.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <iterator>
#include <memory>

namespace quarry::pages {

using registry::ChannelRecord;
using registry::FileRecord;
using registry::ViewRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

using Names = std::vector<std::string>;

Result<ViewRecord> view_of(ObjectReader& store, const registry::ViewDigest& digest, const KnownViews& known) {
  auto found = known.views.find(digest);
  if (found != known.views.end()) return found->second;
  return registry::load_view(store, digest);
}

/// A project's shard of a view: at hand, or read into `read`; null if the view does not show the project.
Result<const registry::ShardRecord*> shard_of(ObjectReader& store, const ViewRecord& view, const std::string& project,
                                              const KnownViews& known, std::optional<registry::ShardRecord>& read) {
  if (auto digest = view.shards.find(project); digest != view.shards.end())
    if (auto found = known.shards.find(digest->second); found != known.shards.end()) return &found->second;
  TRY(read, registry::load_shard_of(store, view, project));
  return read ? &*read : nullptr;
}

void add_move(const ViewRecord& older, const ViewRecord& newer, Changes& changes) {
  auto moved = moved_between(older.shards, newer.shards);
  auto before = registry::empty_extras_of(older), now = registry::empty_extras_of(newer);
  if (before != now) // their projects' pages name them
    for (const auto* extras : {&before, &now})
      for (const auto& one : *extras) moved.insert(one.project);
  auto waived_before = registry::waived_of(older), waived_now = registry::waived_of(newer);
  std::vector<registry::Waived> differ;
  std::ranges::set_symmetric_difference(waived_before, waived_now, std::back_inserter(differ));
  for (const auto& one : differ) moved.insert(one.projects.begin(), one.projects.end());
  for (const auto& project : moved)
    if (!changes.moved.projects.insert(project).second) changes.moved.more_than_once.insert(project);
}

/// An old record that is missing or damaged becomes nullopt: pages can be made without it. Other errors stay errors.
template <class T> Result<std::optional<T>> if_known(Result<T> record) {
  if (record) return std::optional<T>(std::move(*record));
  if (registry::is_lost(record.error())) return std::optional<T>();
  return fail(std::move(record).error());
}

} // namespace

Result<std::optional<Changes>> changes_since(ObjectReader& store, const PagesState& state, const ChannelRecord& now,
                                             const ViewRecord& view, const KnownViews& known) {
  Changes changes{{}, view};
  auto generation = now.generation;
  auto view_digest = now.view;
  auto entry_digest = now.ledger;
  if (state.generation == 0 || state.generation > generation || generation - state.generation > k_recent_moves)
    return std::optional<Changes>();
  for (; generation > state.generation; --generation) {
    TRY(auto entry, if_known(registry::load_ledger(store, entry_digest)));
    if (!entry || entry->to_view != view_digest || entry->from_view.empty()) return std::optional<Changes>();
    TRY(auto older, if_known(view_of(store, entry->from_view, known)), "while reading what the pages show");
    if (!older) return std::optional<Changes>();
    add_move(*older, changes.shown, changes);
    changes.shown = std::move(*older);
    view_digest = entry->from_view;
    entry_digest = entry->previous;
  }
  if (view_digest != state.view) return std::optional<Changes>();
  return std::optional(std::move(changes));
}

namespace {

constexpr unsigned k_renderers = 4;

/// What the policy of a channel says that it lacks, for whoever is about to install.
struct Openly {
  registry::PolicyDigest policy; ///< that was read; empty: none
  Names sentences;
};

/// The channel as one round of the writer read it; shared by the batches of that round.
struct Channel {
  ObjectStore& store;
  std::string name, directory;
  ChannelRecord record;
  ViewRecord view;
  const KnownViews& known;
  Openly openly;
  Revoked revoked;         ///< waivers of the view
  std::uint64_t files = 0; ///< as far as counted
  bool whole = false;      ///< every page is made
};
using ChannelPtr = std::shared_ptr<Channel>;

/// What pages depend on. A channel may block thousands of files.
ChannelRecord without_blocked(const ChannelRecord& channel) {
  ChannelRecord record;
  record.name = channel.name;
  record.generation = channel.generation;
  record.view = channel.view;
  record.ledger = channel.ledger;
  record.guard.policy = channel.guard.policy;
  return record;
}

Names all_projects(const ViewRecord& view) {
  Names names;
  for (const auto& [project, shard] : view.shards) names.push_back(project);
  return names;
}

index::PageOptions options_of(const Channel& channel) {
  return {.title = channel.name, .directory = channel.directory};
}

/// What people should know of a project before they install it; of every project, if none is named.
Names remarks_of(const Channel& channel, const std::string& project = {}) {
  Names remarks = channel.openly.sentences;
  std::ranges::move(remarks_about(channel.view, project, channel.revoked), std::back_inserter(remarks));
  return remarks;
}

/// A policy is read once after it was bound, and whenever all pages are made anew. One that cannot be read is not noted
/// as read: the next projection tries again, and until then the pages do not look as if it lacked nothing.
Result<Openly> openly_of(ObjectReader& store, const ChannelRecord& now, const PagesState& shown, Extent extent) {
  const auto& policy = now.guard.policy;
  if (policy.empty()) return Openly();
  if (policy == shown.policy && extent != Extent::whole) return Openly{policy, shown.openly};
  TRY(auto record, if_known(registry::load_policy(store, policy)));
  if (!record)
    return Openly{{},
                  {"The policy of this channel could not be read: it may let results count that nobody has signed."}};
  return Openly{policy, openly_said(record->json)};
}

/// Renders the pages of these projects, and appends their files to `files`.
Result<std::vector<index::Page>> render(const Channel& channel, const Names& projects, std::vector<FileRecord>& files) {
  std::vector<std::vector<index::Page>> pages(projects.size());
  std::vector<std::vector<FileRecord>> files_of(projects.size());
  TRY_DO(parallel_for(projects.size(), k_renderers, [&](std::size_t i) -> Result<void> {
    std::optional<registry::ShardRecord> read;
    TRY(const auto* shard, shard_of(channel.store, channel.view, projects[i], channel.known, read));
    if (!shard) return {};
    auto options = options_of(channel);
    options.remarks = remarks_of(channel, projects[i]);
    pages[i] = index::pages_of_project(projects[i], shard->files, options);
    files_of[i] = shard->files;
    return {};
  }));
  std::vector<index::Page> all;
  for (auto& of_one : pages) std::move(of_one.begin(), of_one.end(), std::back_inserter(all));
  for (auto& of_one : files_of) std::move(of_one.begin(), of_one.end(), std::back_inserter(files));
  return all;
}

/// Renders the two roots and the page for people, which lists every file of a small channel or every project of a large
/// one.
Result<std::vector<index::Page>> last_pages(const Channel& channel, const std::vector<FileRecord>* all_files) {
  auto projects = all_projects(channel.view);
  std::vector<index::Page> pages{{"simple/index.html", index::root_html(projects), index::k_html_type},
                                 {"simple-json/index.html", index::root_json(projects), index::k_json_type}};
  std::vector<FileRecord> files;
  if (channel.files <= k_listed_files_max && !all_files) {
    TRY_DO(render(channel, projects, files));
    all_files = &files;
  }
  auto page = channel.files > k_listed_files_max
                  ? index::overview_page(
                        {.title = "Channel " + channel.name, .directory = {}, .remarks = channel.openly.sentences},
                        std::move(projects))
                  : index::find_links_page({.title = "Channel " + channel.name,
                                            .directory = channel.directory,
                                            .install = install_words(*all_files),
                                            .remarks = remarks_of(channel)},
                                           *all_files);
  pages.push_back({"index.html", std::move(page), index::k_html_type});
  return pages;
}

Rendering rendering_of(const ChannelPtr& channel) {
  auto projects = [channel](const Names& names, std::vector<FileRecord>& files) -> Result<std::vector<index::Page>> {
    TRY(auto pages, render(*channel, names, files));
    if (channel->whole) channel->files += files.size();
    return pages;
  };
  auto last = [channel](const std::vector<FileRecord>* files) {
    return last_pages(*channel, channel->whole ? files : nullptr);
  };
  return {projects, last};
}

Result<std::uint64_t> files_in(const Channel& channel, const ViewRecord& view, const std::set<std::string>& projects) {
  Names names(projects.begin(), projects.end());
  std::atomic<std::uint64_t> files = 0;
  TRY_DO(parallel_for(names.size(), k_renderers, [&](std::size_t i) -> Result<void> {
    std::optional<registry::ShardRecord> read;
    TRY(const auto* shard, shard_of(channel.store, view, names[i], channel.known, read));
    if (shard) files += shard->files.size();
    return {};
  }));
  return files.load();
}

std::string project_key(const std::string& directory, std::string_view tree, const std::string& project) {
  return directory + std::string(tree) + project + "/index.html";
}

constexpr std::string_view k_trees[] = {"/simple/", "/simple-json/"};

/// Pages of these projects that the view does not show.
Names stale_of(const Channel& channel, const std::set<std::string>& projects) {
  Names stale;
  for (const auto& project : projects)
    for (auto tree : k_trees)
      if (!channel.view.shards.contains(project)) stale.push_back(project_key(channel.directory, tree, project));
  return stale;
}

/// Every stored page of a project that the view does not show, found by listing.
Result<Names> all_stale(const Channel& channel) {
  std::set<std::string> current;
  for (auto tree : k_trees) {
    current.insert(channel.directory + std::string(tree) + "index.html");
    for (const auto& [project, shard] : channel.view.shards)
      current.insert(project_key(channel.directory, tree, project));
  }
  return stale_pages(channel.store, channel.directory, [&](const std::string& key) { return current.contains(key); });
}

/// The number of files in the new view. Returns nullopt if it is not known without reading all shards.
Result<std::optional<std::uint64_t>> files_after(const Channel& channel, const PagesState& shown,
                                                 const Changes& changes) {
  TRY(auto before, if_known(files_in(channel, changes.shown, changes.moved.projects)));
  if (!before) return std::optional<std::uint64_t>();
  TRY(auto after, files_in(channel, channel.view, changes.moved.projects));
  return std::optional(shown.files - std::min(*before, shown.files) + after);
}

/// Computes the work of each round: which pages must be compared, given what the state says they show.
class Follower {
public:
  Follower(Extent extent, const KnownViews& known) : extent_(extent), known_(known) {}

  Result<Work> work_of(const ChannelPtr& channel, const PagesState& shown) {
    TRY(auto changes, changes_since(channel->store, shown, channel->record, channel->view, known_));
    auto recent = changes ? shown.recent.after(channel->record.generation, changes->moved) : RecentMoves();
    TRY(bool slash_keys, channel->store.slash_keys());
    bool copies_are_missing = slash_keys && !shown.slash_keys; // an older program wrote the pages
    TRY(channel->whole, is_whole(*channel, shown, changes));
    channel->whole = channel->whole || copies_are_missing;
    if (shown.openly != channel->openly.sentences || shown.revoked != channel->revoked)
      channel->whole = true;                // each page names it
    if (channel->whole) channel->files = 0; // counted as they are read
    auto touched = touched_by(*channel, changes, recent);
    Work work;
    work.batches = batches_of(channel->store, Names(touched.begin(), touched.end()), rendering_of(channel));
    work.stale = stale_of(*channel, touched);
    if (channel->whole) {
      TRY(work.stale, all_stale(*channel));
    }
    work.state = [channel, recent, slash_keys]() -> index::Page {
      PagesState state{
          channel->name, channel->record.generation, channel->record.view,      channel->files,  slash_keys,
          recent,        channel->openly.policy,     channel->openly.sentences, channel->revoked};
      return {std::string(k_state_name), to_json(state), "application/json"};
    };
    return work;
  }

private:
  Result<bool> is_whole(Channel& channel, const PagesState& shown, const std::optional<Changes>& changes) const {
    if (extent_ == Extent::whole || !changes) return true;
    TRY(auto files, files_after(channel, shown, *changes));
    channel.files = files.value_or(0);
    return channel.files <= k_listed_files_max;
  }

  std::set<std::string> touched_by(const Channel& channel, const std::optional<Changes>& changes,
                                   const RecentMoves& recent) {
    if (channel.whole)
      for (const auto& [project, shard] : channel.view.shards) touched_before_.insert(project);
    if (changes) touched_before_.insert(changes->moved.projects.begin(), changes->moved.projects.end());
    for (const auto& [project, generation] : recent.twice) touched_before_.insert(project);
    return touched_before_;
  }

  Extent extent_;
  const KnownViews& known_;
  /// Includes the projects of earlier rounds: a page that this writer wrote late may have replaced a newer one (ABA).
  std::set<std::string> touched_before_;
};

/// A revocation changes the pages, but not the channel.
std::string token_of(const registry::Channel& channel, const Revoked& revoked) {
  auto token = channel.etag;
  for (const auto& waiver : revoked) token += " " + waiver.hex();
  return token;
}

} // namespace

void KnownViews::add(registry::View view) {
  for (auto& shard : view.shards)
    if (auto digest = view.record.shards.find(shard.project); digest != view.record.shards.end())
      shards.emplace(digest->second, std::move(shard));
  views.emplace(view.digest, std::move(view.record));
}

Result<Projected> project_channel(ObjectStore& store, const std::string& name, Extent extent, const KnownViews& known,
                                  registry::Channel channel) {
  Follower follower(extent, known);
  auto directory = registry::channel_directory(name);
  std::uint64_t generation = 0; // of the last snapshot that gave its work
  std::optional<registry::ViewDigest> viewed;
  ViewRecord view; // `viewed`
  auto read = [&]() -> Result<Snapshot> {
    TRY_DO(registry::update_channel(store, name, channel));
    auto now = without_blocked(channel.record);
    if (viewed != now.view) {
      TRY(view, view_of(store, now.view, known), "while reading channel " + name);
      viewed = now.view;
    }
    TRY(auto revoked, revoked_of(store, view));
    auto token = token_of(channel, revoked);
    auto work = [&, now, revoked = std::move(revoked)](const std::string& state) -> Result<Work> {
      generation = now.generation;
      auto shown = parse_pages_state(state);
      TRY(auto openly, openly_of(store, now, shown, extent));
      return follower.work_of(
          std::make_shared<Channel>(Channel{store, name, directory, now, view, known, std::move(openly), revoked}),
          shown);
    };
    return Snapshot{std::move(token), std::move(work)};
  };
  PageSource source{directory, read, std::string(k_state_name)};
  source.others = Others::replaced;
  TRY(auto done, write_pages(store, source));
  done.generation = generation;
  return done;
}

Result<std::uint64_t> projected_generation(ObjectReader& store, const std::string& name) {
  TRY(auto bytes, store.get(registry::channel_directory(name) + "/" + std::string(k_state_name), k_page_bytes_max));
  return bytes ? parse_pages_state(*bytes).generation : 0;
}

} // namespace quarry::pages
