#include "pages/page_writer.hpp"

#include "base/codes.hpp"
#include "pages/foreign_pages.hpp"
#include "registry/rounds.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <fmt/core.h>
#include <set>

namespace quarry::pages {

using store::ObjectReader;
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

struct Replaced {
  enum class Outcome : std::uint8_t { written, lost, unknown } outcome; ///< lost: another writer was faster
  std::string etag;
  bool written() const { return outcome == Outcome::written; }
};

Result<Replaced> replace(ObjectStore& store, const std::string& key, const index::Page& page,
                         const std::optional<Existing>& existing) {
  store::PutOptions options;
  options.precondition = existing ? store::Precondition::if_match(existing->etag) : store::Precondition::if_absent();
  options.content_type = page.content_type;
  options.cache_control = k_page_cache;
  auto put = store.put(key, content::Rope::literal(page.bytes), options);
  if (put) return Replaced{Replaced::Outcome::written, std::move(put->etag)};
  auto kind = put.error().kind;
  if (kind == ErrorKind::precondition_failed || put.error().is(codes::object_exists))
    return Replaced{Replaced::Outcome::lost, {}};
  // After a lost reply the write may have happened. A new round reads the page again, as after a lost race.
  if (kind == ErrorKind::outcome_unknown) return Replaced{Replaced::Outcome::unknown, {}};
  return fail(std::move(put).error());
}

/// A key under which a page is stored, as it was before the source was confirmed.
struct Target {
  std::string key;
  std::optional<Existing> existing;
  bool up_to_date = false; ///< the object has the page's bytes already, or is left to another tool
};

struct Item {
  index::Page page;
  std::vector<Target> targets; ///< the page's own key, then its copy
};
using Round = std::vector<Item>;

std::vector<Target> targets_of(const std::string& directory, const index::Page& page, bool slash_keys) {
  std::vector<Target> targets{{directory + "/" + page.key, {}}};
  auto copy = slash_keys && page.content_type == index::k_html_type ? slash_key_of(targets.front().key) : std::string();
  if (!copy.empty()) targets.push_back({std::move(copy), {}});
  return targets;
}

/// What a round has done so far, and what all rounds have learnt about pages of another tool.
struct Tally {
  Projected done;
  ForeignPages& foreign;
};

Result<void> look_at_target(ObjectStore& store, const index::Page& page, Target& target, ForeignPages* foreign) {
  TRY(target.existing, look(store, target.key));
  if (!target.existing) return {};
  target.up_to_date = target.existing->bytes == page.bytes;
  if (foreign && !target.up_to_date && is_anothers_page(target.existing->bytes)) {
    TRY(target.up_to_date, foreign->is_left(target.key, target.existing->etag));
  }
  std::string().swap(target.existing->bytes); // only the etag is needed; clear() would keep the memory
  return {};
}

Result<Round> look_at_pages(ObjectStore& store, const PageSource& source, std::vector<index::Page> pages,
                            ForeignPages& foreign) {
  TRY(bool slash_keys, store.slash_keys());
  Round round;
  for (auto& page : pages) {
    auto targets = targets_of(source.directory, page, slash_keys);
    round.push_back({std::move(page), std::move(targets)});
  }
  auto* leaving = source.others == Others::left ? &foreign : nullptr;
  auto look_at_all = [&](std::size_t i) -> Result<void> {
    for (auto& target : round[i].targets) TRY_DO(look_at_target(store, round[i].page, target, leaving));
    return {};
  };
  TRY_DO(parallel_for(round.size(), source.transfers, look_at_all));
  return round;
}

/// Returns false if another writer was faster, or may have been. The copy is written after the page, so that a reader
/// who finds the new copy finds the new page, too.
Result<bool> put_all(ObjectStore& store, const PageSource& source, const Round& round, bool in_order, Tally& tally) {
  std::atomic<bool> lost_race = false;
  std::atomic<std::uint64_t> written = 0;
  TRY_DO(parallel_for(round.size(), in_order ? 1 : source.transfers, [&](std::size_t i) -> Result<void> {
    for (const auto& target : round[i].targets) {
      if (target.up_to_date) continue;
      if (lost_race) return {};
      TRY(auto replaced, replace(store, target.key, round[i].page, target.existing));
      replaced.written() ? void(++written) : void(lost_race = true);
      if (replaced.outcome == Replaced::Outcome::lost) tally.foreign.lost(target.key);
    }
    return {};
  }));
  tally.done.pages_written += written;
  return !lost_race;
}

Result<bool> is_still(const PageSource& source, const std::string& token) {
  TRY(auto now, source.read());
  return now.token == token;
}

// The parts of a round. Each returns false if another writer was faster.

Result<bool> write_batch(ObjectStore& store, const PageSource& source, const std::string& token, const Batch& batch,
                         Tally& tally) {
  TRY(auto pages, batch.pages());
  TRY(auto round, look_at_pages(store, source, std::move(pages), tally.foreign));
  TRY(bool current, is_still(source, token));
  if (!current) return false;
  return put_all(store, source, round, batch.in_order, tally);
}

/// Whether the page exists and is not left to another tool.
Result<bool> is_removable(ObjectStore& store, const PageSource& source, const std::string& key, ForeignPages& foreign) {
  if (source.others == Others::replaced) {
    TRY(auto there, store.head(key));
    return there.has_value();
  }
  TRY(auto there, look(store, key));
  if (!there) return false;
  if (!is_anothers_page(there->bytes)) return true;
  TRY(bool left, foreign.is_left(key, there->etag));
  return !left;
}

/// A removal has no precondition. If another writer needed the page in the meantime, it had changed the source first:
/// the token then differs, and the next round writes the page again.
Result<bool> remove_pages(ObjectStore& store, const PageSource& source, const std::string& token, const Work& work,
                          Tally& tally) {
  const auto& stale = work.stale;
  if (stale.empty() && work.stale_copies.empty()) return true;
  TRY(bool slash_keys, store.slash_keys());
  std::atomic<std::uint64_t> removed = 0;
  TRY_DO(
      parallel_for(stale.size(), source.transfers, [&](std::size_t i) -> Result<void> { // no page links to it any more
        for (const auto& key : {slash_keys ? slash_key_of(stale[i]) : "", stale[i]}) { // a copy never outlives its page
          if (key.empty()) continue;
          TRY(bool ours, is_removable(store, source, key, tally.foreign));
          if (!ours) continue;
          TRY_DO(store.remove(key));
          ++removed;
        }
        return {};
      }));
  for (const auto& key : work.stale_copies) {
    if (!slash_keys) break;
    TRY(auto there, look(store, key));
    if (!there || !is_our_page(there->bytes)) continue;
    TRY_DO(store.remove(key));
    ++removed;
  }
  tally.done.pages_removed += removed;
  return removed > 0 ? is_still(source, token) : true;
}

Result<bool> write_state(ObjectStore& store, const std::string& key, const index::Page& page,
                         std::optional<Existing>& state, Projected& done) {
  if (state && state->bytes == page.bytes) return true;
  TRY(auto replaced, replace(store, key, page, state));
  if (!replaced.written()) return false;
  ++done.pages_written;
  state = Existing{page.bytes, std::move(replaced.etag)};
  return true;
}

/// One round. Returns nullopt if another writer was faster: start over.
Result<std::optional<Projected>> try_once(ObjectStore& store, const PageSource& source, ForeignPages& foreign) {
  foreign.begin_round();
  std::optional<Existing> state;
  auto state_key = source.directory + "/" + source.state_key;
  if (!source.state_key.empty()) {
    TRY(state, look(store, state_key));
  }
  TRY(const auto snapshot, source.read());
  const auto& token = snapshot.token;
  TRY(auto work, snapshot.work(state ? state->bytes : ""));
  Tally tally{{}, foreign};
  bool may_remove = source.others == Others::left && !work.stale.empty();
  if (may_remove) TRY_DO(foreign.look_first()); // before our own pages are written
  if (work.state_before) {
    TRY(bool written, write_state(store, state_key, *work.state_before, state, tally.done));
    // Without an ETag another writer has replaced it already.
    if (!written || state->etag.empty()) return std::optional<Projected>();
  }
  for (const auto& batch : work.batches) {
    TRY(bool written, write_batch(store, source, token, batch, tally));
    if (!written) return std::optional<Projected>();
  }
  TRY(bool removed, remove_pages(store, source, token, work, tally));
  if (!removed) return std::optional<Projected>();
  auto pages = tally.done.pages_written;
  if (work.state) {
    TRY(bool written, write_state(store, state_key, work.state(), state, tally.done));
    if (!written) return std::optional<Projected>();
  }
  // A source that left and returned (ABA): its writer found our old pages right and wrote nothing, and we have replaced
  // them since. A state object that is replaced if-match notices that, else the source is read once more.
  bool unguarded = pages > 0 && tally.done.pages_written == pages;
  if (unguarded) {
    TRY(bool current, is_still(source, token));
    if (!current) return std::optional<Projected>();
  }
  return std::optional(std::move(tally.done));
}

} // namespace

Result<Projected> write_pages(ObjectStore& store, const PageSource& source) {
  ForeignPages foreign(store, source.directory);
  for (int round = 0; round < registry::k_rebase_max; ++round) {
    TRY(auto done, try_once(store, source, foreign), "while writing the pages of " + source.directory);
    if (!done) continue;
    done->foreign = foreign.left();
    return *done;
  }
  return fail(ErrorKind::precondition_failed, "P010",
              fmt::format("other writers kept changing the pages of {}", source.directory),
              "`quarry index repair` completes them when it is quiet");
}

std::string slash_key_of(const std::string& page_key) {
  constexpr std::string_view k_page = "/index.html";
  return page_key.ends_with(k_page) ? page_key.substr(0, page_key.size() - k_page.size() + 1) : std::string();
}

std::string page_key_of(const std::string& key) { return key.ends_with('/') ? key + "index.html" : key; }

Result<std::vector<std::string>> stale_pages(ObjectReader& store, const std::string& directory,
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
