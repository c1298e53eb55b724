#include "publish/projection.hpp"

#include "base/json.hpp"
#include "index/pages.hpp"
#include "publish/page_order.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectStore;

namespace {

constexpr std::uint64_t k_page_bytes_max = 512u << 20; // half a million files as HTML are 250 MB
constexpr std::string_view k_page_cache = "public, max-age=60";

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

/// One round; nullopt: overtaken, start anew. The state comes last of all, when nothing is left to do.
Result<std::optional<Projected>> try_project(ObjectStore& store, const Truth& truth) {
  TRY(auto token, truth.token());
  TRY(auto files, truth.files());
  auto pages = index::all_pages(files, {.title = truth.title, .directory = truth.directory});
  TRY_DO(dependencies_first(store, files, pages));
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

} // namespace

Result<Projected> project_directory(ObjectStore& store, const std::string& directory) {
  std::vector<registry::SealedSet> sets;
  auto load = [&]() -> Result<std::string> {
    TRY(auto below, registry::sealed_sets_below(store, directory));
    sets.clear();
    std::string token;
    for (auto& sealed : below) {
      if (sealed.set.directory != directory) continue; // a directory of its own, further down
      token += sealed.digest;
      sets.push_back(std::move(sealed));
    }
    return token;
  };
  TRY(auto first, load());
  if (first.empty()) return Projected{};
  return project(store, {directory, directory, load, [&] { return registry::union_of(sets); }});
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
