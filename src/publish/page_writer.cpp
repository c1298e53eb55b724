#include "publish/page_writer.hpp"

#include "publish/publish.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <fmt/core.h>

namespace quarry::publish {

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
  if (kind == ErrorKind::precondition_failed || put.error().code == "R002" || kind == ErrorKind::outcome_unknown)
    return std::optional<std::string>();
  return fail(std::move(put).error());
}

/// Pages as they stand, read before the truth is confirmed; those that are right already need no writing.
struct Round {
  std::vector<index::Page> pages;
  std::vector<std::optional<Existing>> existing;
  std::vector<char> right; // not bool: written side by side
};

Result<Round> look_at_pages(ObjectStore& store, const Truth& truth, std::vector<index::Page> pages) {
  Round round{std::move(pages), {}, {}};
  round.existing.resize(round.pages.size());
  round.right.resize(round.pages.size());
  TRY_DO(parallel_for(round.pages.size(), truth.transfers, [&](std::size_t i) -> Result<void> {
    TRY(auto existing, look(store, truth.directory + "/" + round.pages[i].key));
    round.right[i] = existing && existing->bytes == round.pages[i].bytes;
    if (existing) existing->bytes.clear(); // only the etag is needed from here on
    round.existing[i] = std::move(existing);
    return {};
  }));
  return round;
}

/// False: overtaken.
Result<bool> write_round(ObjectStore& store, const Truth& truth, const Round& round, bool in_order, Projected& done) {
  std::atomic<bool> overtaken = false;
  std::atomic<std::uint64_t> written = 0;
  TRY_DO(parallel_for(round.pages.size(), in_order ? 1 : truth.transfers, [&](std::size_t i) -> Result<void> {
    if (round.right[i] || overtaken) return {};
    auto key = truth.directory + "/" + round.pages[i].key;
    TRY(auto replaced, replace(store, key, round.pages[i], round.existing[i]));
    replaced ? void(++written) : void(overtaken = true);
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
  bool removed = false;
  for (const auto& key : stale) { // no page links there any more
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

Result<std::vector<std::string>> stale_pages(ObjectStore& store, const std::string& directory,
                                             const std::function<bool(const std::string&)>& is_current) {
  std::vector<std::string> stale;
  for (const std::string tree : {"/simple/", "/simple-json/"}) {
    TRY(auto objects, store.list(directory + tree));
    for (const auto& object : objects)
      if (object.key.ends_with("/index.html") && !is_current(object.key)) stale.push_back(object.key);
  }
  return stale;
}

} // namespace quarry::publish
