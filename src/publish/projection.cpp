#include "publish/projection.hpp"

#include "base/json.hpp"
#include "index/pages.hpp"
#include "publish/page_order.hpp"
#include "publish/publish.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectStore;

namespace {

constexpr std::string_view k_distribution_schema = "quarry.distribution/1";
constexpr std::uint64_t k_page_bytes_max = 512u << 20; // half a million files as HTML are 250 MB

struct Existing {
  std::string bytes, etag;
};

/// What pages are made from, and a token that changes with it.
struct Truth {
  std::string directory, title;
  std::function<Result<std::string>()> token;
  std::function<Result<std::vector<FileRecord>>()> files;
  /// An object that tells which truth the pages show, called after token(); none for directories.
  std::function<std::vector<index::Page>()> state = {};
  bool is_repository = false; ///< pages of projects directly in the directory, too
};

Result<std::optional<Existing>> look(ObjectStore& store, const std::string& key) {
  Existing existing;
  TRY(auto bytes, store.get(key, k_page_bytes_max, &existing.etag));
  if (!bytes) return std::optional<Existing>();
  existing.bytes = std::move(*bytes);
  return std::optional(std::move(existing));
}

/// True: written; false: a rival was faster.
Result<bool> replace(ObjectStore& store, const std::string& key, const index::Page& page,
                     const std::optional<Existing>& existing) {
  store::PutOptions options;
  options.precondition = existing ? store::Precondition::if_match(existing->etag) : store::Precondition::if_absent();
  options.content_type = page.content_type;
  options.cache_control = k_page_cache;
  auto put = store.put(key, content::Rope::literal(page.bytes), options);
  if (put) return true;
  auto kind = put.error().kind;
  // A lost reply starts a new round like a lost race: it looks at what is there.
  if (kind == ErrorKind::precondition_failed || put.error().code == "R002" || kind == ErrorKind::outcome_unknown)
    return false;
  return fail(std::move(put).error());
}

/// Pages of projects that are not shown any more. Everything below simple/ and simple-json/ of our directories is ours.
Result<std::vector<std::string>> stale_pages(ObjectStore& store, const std::string& directory,
                                             const std::vector<index::Page>& pages) {
  std::set<std::string> current;
  for (const auto& page : pages) current.insert(directory + "/" + page.key);
  std::vector<std::string> stale;
  for (const std::string tree : {"/simple/", "/simple-json/"}) {
    TRY(auto objects, store.list(directory + tree));
    for (const auto& object : objects)
      if (!current.contains(object.key) && object.key.ends_with("/index.html")) stale.push_back(object.key);
  }
  return stale;
}

/// Pages as they stand, read before the truth is confirmed; those that are right already need no writing.
struct Round {
  std::vector<index::Page> pages;
  std::vector<std::optional<Existing>> existing;
  std::vector<bool> right;
};

Result<Round> look_at_pages(ObjectStore& store, const Truth& truth, std::vector<index::Page> pages) {
  Round round{std::move(pages), {}, {}};
  for (const auto& page : round.pages) {
    TRY(auto existing, look(store, truth.directory + "/" + page.key));
    round.right.push_back(existing && existing->bytes == page.bytes);
    if (existing) existing->bytes.clear(); // only the etag is needed from here on
    round.existing.push_back(std::move(existing));
  }
  return round;
}

/// False: overtaken.
Result<bool> write_pages(ObjectStore& store, const Truth& truth, const Round& round, Projected& done) {
  for (std::size_t i = 0; i < round.pages.size(); ++i) {
    if (round.right[i]) continue;
    TRY(bool written, replace(store, truth.directory + "/" + round.pages[i].key, round.pages[i], round.existing[i]));
    if (!written) return false;
    ++done.pages_written;
  }
  return true;
}

/// Each project's page a second time, where the directory itself is asked for projects: before all others, in their
/// order.
std::vector<index::Page> with_repository_pages(const std::string& directory, const std::vector<FileRecord>& files,
                                               std::vector<index::Page> pages) {
  constexpr std::string_view k_tree = "simple/";
  std::vector<index::Page> all;
  for (const auto& page : pages) {
    if (!page.key.starts_with(k_tree) || page.key == "simple/index.html") continue;
    auto key = page.key.substr(k_tree.size());
    auto project = key.substr(0, key.find('/'));
    std::vector<index::Link> links;
    for (const auto& file : files)
      if (file.project == project) links.push_back({file, index::href_between(file.key, directory + "/" + project)});
    all.push_back({key, index::project_html(project, links), index::k_html_type});
  }
  std::move(pages.begin(), pages.end(), std::back_inserter(all));
  return all;
}

/// One round; nullopt: overtaken, start anew. The state comes last of all, when nothing is left to do.
Result<std::optional<Projected>> try_project(ObjectStore& store, const Truth& truth) {
  TRY(auto token, truth.token());
  TRY(auto files, truth.files());
  auto pages = index::all_pages(files, {.title = truth.title, .directory = truth.directory});
  TRY_DO(dependencies_first(store, files, pages));
  if (truth.is_repository) pages = with_repository_pages(truth.directory, files, std::move(pages));
  TRY(auto stale, stale_pages(store, truth.directory, pages));
  TRY(auto round, look_at_pages(store, truth, std::move(pages)));
  TRY(auto state, look_at_pages(store, truth, truth.state ? truth.state() : std::vector<index::Page>()));
  TRY(auto again, truth.token());
  if (again != token) return std::optional<Projected>();
  Projected done;
  TRY(bool pages_written, write_pages(store, truth, round, done));
  if (!pages_written) return std::optional<Projected>();
  for (const auto& key : stale) { // no page links there any more
    TRY_DO(store.remove(key));
    ++done.pages_removed;
  }
  if (!stale.empty()) {
    // A removal has no condition. A rival that needed the page meanwhile has moved the truth first: then it is made
    // again.
    TRY(auto after, truth.token());
    if (after != token) return std::optional<Projected>();
  }
  TRY(bool state_written, write_pages(store, truth, state, done));
  if (!state_written) return std::optional<Projected>();
  return std::optional(done);
}

Result<Projected> project(ObjectStore& store, const Truth& truth) {
  Projected total;
  for (int round = 0; round < k_rebase_max; ++round) {
    TRY(auto done, try_project(store, truth), "while writing the pages of " + truth.directory);
    if (!done) continue;
    total.pages_written += done->pages_written;
    total.pages_removed += done->pages_removed;
    return total;
  }
  return fail(ErrorKind::precondition_failed, "P010",
              fmt::format("others kept writing the pages of {}", truth.directory),
              "`quarry index repair` completes them when it is quiet");
}

std::string state_key(const std::string& channel) { return registry::channel_directory(channel) + "/pages.json"; }

index::Page state_page(const registry::ChannelRecord& channel) {
  Json state{{"schema", "quarry.pages/1"},
             {"channel", channel.name},
             {"generation", channel.generation},
             {"view", channel.view}};
  return {"pages.json", state.dump(), "application/json"};
}

/// The sets sealed in a directory, and a token that changes with them.
Result<std::string> load_sets(ObjectStore& store, const std::string& directory,
                              std::vector<registry::SealedSet>& sets) {
  TRY(auto below, registry::sealed_sets_below(store, directory));
  sets.clear();
  std::string token;
  for (auto& sealed : below) {
    if (sealed.set.directory != directory) continue; // a directory of its own, further down
    token += sealed.digest;
    sets.push_back(std::move(sealed));
  }
  return token;
}

std::string pointer_key(const std::string& directory) { return directory + "/distribution.json"; }

/// Which sets came from where, as the pointer says it now.
Result<std::map<std::string, std::string>> known_sources(ObjectStore& store, const std::string& directory) {
  auto key = pointer_key(directory);
  std::map<std::string, std::string> known;
  TRY(auto bytes, store.get(key, registry::k_record_bytes_max));
  if (!bytes) return known;
  TRY(auto pointer, json::parse(*bytes, key));
  TRY_DO(json::require_schema(pointer, k_distribution_schema, key));
  for (const auto& row : pointer.value("sets", Json::array()))
    known[json::string_or(row, "set", "")] = json::string_or(row, "source", "");
  return known;
}

index::Page pointer_page(const std::string& directory, const std::vector<registry::SealedSet>& sets,
                         const std::map<std::string, std::string>& sources) {
  auto rows = Json::array();
  for (const auto& sealed : sets) {
    auto source = sources.find(sealed.digest);
    rows.push_back({{"set", sealed.digest}, {"source", source == sources.end() ? "" : source->second}});
  }
  Json pointer{{"schema", k_distribution_schema}, {"directory", directory}, {"sets", rows}};
  return {"distribution.json", pointer.dump(), "application/json"};
}

} // namespace

Result<Projected> project_directory(ObjectStore& store, const std::string& directory) {
  std::vector<registry::SealedSet> sets;
  auto token = [&] { return load_sets(store, directory, sets); };
  TRY(auto first, token());
  if (first.empty()) return Projected{};
  return project(store, {directory, directory, token, [&] { return registry::union_of(sets); }});
}

Result<Projected> project_distribution(ObjectStore& store, const std::string& directory,
                                       const std::map<std::string, std::string>& sources) {
  std::vector<registry::SealedSet> sets;
  std::map<std::string, std::string> known;
  auto token = [&]() -> Result<std::string> {
    TRY(known, known_sources(store, directory));
    for (const auto& [set, source] : sources) known[set] = source;
    TRY(auto shown, load_sets(store, directory, sets));
    for (const auto& [set, source] : known) shown += set + source; // the pointer holds them, too
    return shown;
  };
  auto pointer = [&] { return std::vector<index::Page>{pointer_page(directory, sets, known)}; };
  return project(
      store, {directory, directory, token, [&] { return registry::union_of(sets); }, pointer, /*is_repository=*/true});
}

Result<Projected> project_channel(ObjectStore& store, const std::string& name) {
  registry::Channel channel;
  auto token = [&]() -> Result<std::string> {
    TRY(channel, registry::require_channel(store, name));
    return channel.etag;
  };
  auto files = [&]() -> Result<std::vector<FileRecord>> {
    TRY(auto view, registry::load_whole_view(store, channel.record.view));
    return registry::files_of(view);
  };
  auto state = [&] { return std::vector<index::Page>{state_page(channel.record)}; };
  TRY(auto done, project(store, {registry::channel_directory(name), name, token, files, state}));
  done.generation = channel.record.generation;
  return done;
}

Result<std::uint64_t> projected_generation(ObjectStore& store, const std::string& name) {
  TRY(auto bytes, store.get(state_key(name), k_page_bytes_max));
  if (!bytes) return std::uint64_t{0};
  TRY(auto state, json::parse(*bytes, state_key(name)));
  TRY_DO(json::require_schema(state, "quarry.pages/1", state_key(name)));
  return json::unsigned_at(state, "generation", state_key(name));
}

} // namespace quarry::publish
