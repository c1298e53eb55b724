#include "pages/page_writer.hpp"

#include "base/codes.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <fmt/core.h>
#include <set>

namespace quarry::pages {

using store::ObjectStore;

namespace {

struct Existing {
  std::string bytes, etag;
};

Result<std::optional<Existing>> look(ObjectStore& store, const std::string& key) {
  Existing existing;
  TRY(auto bytes, store.get(key, k_page_bytes_max, &existing.etag));
  if (!bytes) return std::optional<Existing>();
  existing.bytes = std::move(*bytes);
  return std::optional(std::move(existing));
}

/// The new etag; nullopt: a rival was faster.
Result<std::optional<std::string>> replace(ObjectStore& store, const std::string& key, const index::Page& page,
                                           const std::optional<Existing>& existing) {
  store::PutOptions options;
  options.precondition = existing ? store::Precondition::if_match(existing->etag) : store::Precondition::if_absent();
  options.content_type = page.content_type;
  options.cache_control = k_page_cache;
  auto put = store.put(key, content::Rope::literal(page.bytes), options);
  if (put) return std::optional(std::move(put->etag));
  auto kind = put.error().kind;
  // A lost reply starts a new round like a lost race: it looks at what is there.
  if (kind == ErrorKind::precondition_failed || put.error().is(codes::object_exists) ||
      kind == ErrorKind::outcome_unknown)
    return std::optional<std::string>();
  return fail(std::move(put).error());
}

/// A key under which a page is stored, as it was before the truth was confirmed.
struct Place {
  std::string key;
  std::optional<Existing> existing;
  bool right = false; ///< it has the page's bytes already
};

struct Item {
  index::Page page;
  std::vector<Place> places; ///< the page's own key, then its copy
};
using Round = std::vector<Item>;

std::vector<Place> places_of(const std::string& directory, const index::Page& page, bool slash_keys) {
  std::vector<Place> places{{directory + "/" + page.key, {}}};
  auto copy = slash_keys && page.content_type == index::k_html_type ? slash_key_of(places.front().key) : std::string();
  if (!copy.empty()) places.push_back({std::move(copy), {}});
  return places;
}

Result<Round> look_at_pages(ObjectStore& store, const Truth& truth, std::vector<index::Page> pages) {
  TRY(bool slash_keys, store.slash_keys());
  Round round;
  for (auto& page : pages) {
    auto places = places_of(truth.directory, page, slash_keys);
    round.push_back({std::move(page), std::move(places)});
  }
  TRY_DO(parallel_for(round.size(), truth.transfers, [&](std::size_t i) -> Result<void> {
    for (auto& place : round[i].places) {
      TRY(place.existing, look(store, place.key));
      place.right = place.existing && place.existing->bytes == round[i].page.bytes;
      if (place.existing) place.existing->bytes.clear(); // only the etag is needed from here on
    }
    return {};
  }));
  return round;
}

/// False: overtaken. The copy comes last: whoever finds the new one finds the new page, too.
Result<bool> write_round(ObjectStore& store, const Truth& truth, const Round& round, bool in_order, Projected& done) {
  std::atomic<bool> overtaken = false;
  std::atomic<std::uint64_t> written = 0;
  TRY_DO(parallel_for(round.size(), in_order ? 1 : truth.transfers, [&](std::size_t i) -> Result<void> {
    for (const auto& place : round[i].places) {
      if (place.right) continue;
      if (overtaken) return {};
      TRY(auto replaced, replace(store, place.key, round[i].page, place.existing));
      replaced ? void(++written) : void(overtaken = true);
    }
    return {};
  }));
  done.pages_written += written;
  return !overtaken;
}

Result<bool> is_still(const Truth& truth, const std::string& token) {
  TRY(auto now, truth.token());
  return now == token;
}

// The parts of a round; false: overtaken.

Result<bool> write_batch(ObjectStore& store, const Truth& truth, const std::string& token, const Batch& batch,
                         Projected& done) {
  TRY(auto pages, batch.pages());
  TRY(auto round, look_at_pages(store, truth, std::move(pages)));
  TRY(bool current, is_still(truth, token));
  if (!current) return false;
  return write_round(store, truth, round, batch.in_order, done);
}

/// A removal has no condition. A rival that needed the page meanwhile has moved the truth first: then it is made again.
Result<bool> remove_pages(ObjectStore& store, const Truth& truth, const std::string& token,
                          const std::vector<std::string>& stale, Projected& done) {
  if (stale.empty()) return true;
  TRY(bool slash_keys, store.slash_keys());
  bool removed = false;
  for (const auto& page : stale)                                           // no page links there any more
    for (const auto& key : {slash_keys ? slash_key_of(page) : "", page}) { // a page that is left has no copy
      if (key.empty()) continue;
      TRY(auto there, store.head(key));
      if (!there) continue;
      TRY_DO(store.remove(key));
      removed = true;
      ++done.pages_removed;
    }
  return removed ? is_still(truth, token) : true;
}

Result<bool> write_state(ObjectStore& store, const std::string& key, const index::Page& page,
                         std::optional<Existing>& state, Projected& done) {
  if (state && state->bytes == page.bytes) return true;
  TRY(auto etag, replace(store, key, page, state));
  if (!etag) return false;
  ++done.pages_written;
  state = Existing{page.bytes, std::move(*etag)};
  return true;
}

/// One round; nullopt: overtaken, start anew.
Result<std::optional<Projected>> try_once(ObjectStore& store, const Truth& truth) {
  std::optional<Existing> state;
  auto state_key = truth.directory + "/" + truth.state_key;
  if (!truth.state_key.empty()) {
    TRY(state, look(store, state_key));
  }
  TRY(auto token, truth.token());
  TRY(auto work, truth.work(state ? state->bytes : ""));
  Projected done;
  if (work.state_before) {
    TRY(bool written, write_state(store, state_key, *work.state_before, state, done));
    if (!written) return std::optional<Projected>();
  }
  for (const auto& batch : work.batches) {
    TRY(bool written, write_batch(store, truth, token, batch, done));
    if (!written) return std::optional<Projected>();
  }
  TRY(bool removed, remove_pages(store, truth, token, work.stale, done));
  if (!removed) return std::optional<Projected>();
  if (work.state) {
    TRY(bool written, write_state(store, state_key, work.state(), state, done));
    if (!written) return std::optional<Projected>();
  }
  return std::optional(done);
}

} // namespace

Result<Projected> write_pages(ObjectStore& store, const Truth& truth) {
  for (int round = 0; round < k_rebase_max; ++round) {
    TRY(auto done, try_once(store, truth), "while writing the pages of " + truth.directory);
    if (done) return *done;
  }
  return fail(ErrorKind::precondition_failed, "P010",
              fmt::format("other writers kept changing the pages of {}", truth.directory),
              "`quarry index repair` completes them when it is quiet");
}

std::string slash_key_of(const std::string& page_key) {
  constexpr std::string_view k_page = "/index.html";
  return page_key.ends_with(k_page) ? page_key.substr(0, page_key.size() - k_page.size() + 1) : std::string();
}

std::string page_key_of(const std::string& key) { return key.ends_with('/') ? key + "index.html" : key; }

Result<std::vector<std::string>> stale_pages(ObjectStore& store, const std::string& directory,
                                             const std::function<bool(const std::string&)>& is_current) {
  std::set<std::string> stale;
  for (const std::string tree : {"/simple/", "/simple-json/"}) {
    TRY(auto objects, store.list(directory + tree));
    for (const auto& object : objects) {
      auto page = page_key_of(object.key);
      if (page.ends_with("/index.html") && !is_current(page)) stale.insert(std::move(page));
    }
  }
  return std::vector(stale.begin(), stale.end());
}

} // namespace quarry::pages
