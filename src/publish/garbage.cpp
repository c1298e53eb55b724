#include "publish/garbage.hpp"

#include "publish/marks.hpp"
#include "publish/publish.hpp"
#include "publish/reachable.hpp"
#include "registry/retired.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::publish {

using store::ObjectInfo;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::size_t k_batch = 64; // records that are held in memory while they are removed
constexpr std::size_t k_record_name = 64 + std::string_view(".json").size();

/// "sets/{digest}.json" -> the digest; nullopt for any other key.
std::optional<registry::SetDigest> digest_in(const std::string& key, std::string_view prefix) {
  bool record = key.size() == prefix.size() + k_record_name && key.starts_with(prefix) && key.ends_with(".json");
  return record ? registry::SetDigest::parse(std::string_view(key).substr(prefix.size(), 64)) : std::nullopt;
}
bool is_record(const std::string& key, std::string_view prefix) { return digest_in(key, prefix).has_value(); }

/// Whether a set is sealed: from its own record, which says where its seal is. A record that cannot be read does not
/// tell, so it is kept. So is that of a set whose seal retention removed: records outlive the files.
Result<bool> may_be_sealed(ObjectReader& store, const registry::SetDigest& digest) {
  auto set = registry::load_set(store, digest);
  if (!set && registry::is_gone(set.error())) return false; // removed meanwhile
  if (!set && registry::is_lost(set.error())) return true;
  if (!set) return fail(std::move(set).error());
  if (set->directory.empty()) return false; // a seal needs a place
  TRY(auto seal, store.head(registry::seal_key(set->directory, digest)));
  if (seal) return true;
  TRY(auto retired, store.head(registry::retired_key(set->directory, digest)));
  return retired.has_value();
}

/// The records that nothing names, with a known time.
Result<std::vector<ObjectInfo>> unreachable(ObjectReader& store, const Reachable& reached) {
  std::vector<ObjectInfo> found;
  for (const std::string prefix : {"views/", "ledger/", "sets/"}) {
    TRY(auto objects, store.list(prefix));
    for (auto& object : objects) {
      bool record = is_record(object.key, prefix) || is_record(object.key, "views/shards/");
      if (record && object.modified_us != 0 && !reached.names(object.key)) found.push_back(std::move(object));
    }
  }
  std::vector<char> sealed(found.size());
  TRY_DO(parallel_for(found.size(), k_requests, [&](std::size_t i) -> Result<void> {
    auto set = digest_in(found[i].key, "sets/");
    if (!set) return {};
    TRY(bool kept, may_be_sealed(store, *set));
    sealed[i] = kept ? 1 : 0;
    return {};
  }));
  std::vector<ObjectInfo> garbage;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!sealed[i]) garbage.push_back(std::move(found[i]));
  return garbage;
}

/// One batch: read, look again, remove, look once more, put back what a writer has named meanwhile. A writer looks
/// after its pointer has moved, so one of the two sees the other.
class Sweep {
public:
  Sweep(ObjectStore& store, Reachable& reached, Garbage& garbage)
      : store_(store), reached_(reached), garbage_(garbage) {}

  Result<void> run(const std::vector<std::pair<std::string, Mark>>& due) {
    std::vector<Named> records;
    for (const auto& [key, mark] : due) {
      TRY(bool same, is_unchanged(key, mark));
      if (!same) continue;
      TRY(auto bytes, store_.get(key, registry::k_record_bytes_max));
      if (bytes) records.push_back({key, [kept = std::move(*bytes)] { return kept; }});
    }
    TRY_DO(reached_.update(garbage_.notes));
    TRY(auto named, take_named(records));
    for (const auto& record : records) TRY_DO(store_.remove(record.key));
    TRY(bool moved, reached_.has_moved());
    if (moved) return restore_missing(store_, records); // any of them may be named now: the next run looks again
    TRY(named, take_named(records));
    for (const auto& record : records) garbage_.keys.push_back(record.key);
    return restore_missing(store_, named);
  }

private:
  Result<bool> is_unchanged(const std::string& key, const Mark& mark) {
    TRY(auto objects, store_.list(key));
    return std::any_of(objects.begin(), objects.end(),
                       [&](const ObjectInfo& o) { return o.key == key && o.modified_us == mark.modified_us; });
  }
  /// Takes those out of `records` that a channel or a seal names by now, and returns them.
  Result<std::vector<Named>> take_named(std::vector<Named>& records) {
    std::vector<Named> named, rest;
    for (auto& record : records) {
      bool is_named = reached_.names(record.key);
      if (!is_named && record.key.starts_with("sets/")) {
        TRY(is_named, is_sealed(record));
      }
      (is_named ? named : rest).push_back(std::move(record));
    }
    records = std::move(rest);
    return named;
  }
  Result<bool> is_sealed(const Named& record) {
    auto bytes = record.bytes();
    auto set = registry::parse_set({bytes, record.key});
    auto digest = digest_in(record.key, "sets/");
    if (!set || !digest) return true;
    TRY(auto seal, store_.head(registry::seal_key(set->directory, *digest)));
    return seal.has_value();
  }

  ObjectStore& store_;
  Reachable& reached_;
  Garbage& garbage_;
};

} // namespace

Result<Garbage> collect_garbage(ObjectStore& store, const CollectGarbageOptions& options) {
  Garbage garbage;
  Reachable reached(store);
  TRY(auto old, read_marks(store));
  TRY_DO(reached.update(garbage.notes));
  TRY(auto found, unreachable(store, reached));
  auto now = options.now_us;
  if (!options.dry_run) {
    TRY(now, time_of(store));
  }
  Marks marks;
  std::vector<std::pair<std::string, Mark>> due;
  for (const auto& object : found) {
    Mark mark{object.modified_us, now};
    auto known = old.find(object.key);
    // A mark without a time is ignored: it would count as older than any grace time.
    bool marked = known != old.end() && known->second.modified_us == object.modified_us && known->second.since_us > 0;
    if (marked) mark.since_us = std::min(known->second.since_us, now);
    if (marked && now > 0 && mark.since_us <= now - options.grace_us)
      due.emplace_back(object.key, mark);
    else
      marks[object.key] = mark;
  }
  for (const auto& [key, mark] : marks) garbage.marked.push_back(key);
  if (options.dry_run) {
    for (const auto& [key, mark] : due) garbage.keys.push_back(key);
    return garbage;
  }
  for (std::size_t begin = 0; begin < due.size(); begin += k_batch) {
    auto end = std::min(due.size(), begin + k_batch);
    TRY_DO(
        Sweep(store, reached, garbage)
            .run({due.begin() + static_cast<std::ptrdiff_t>(begin), due.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  if (marks != old && now > 0) TRY_DO(write_marks(store, marks)); // a store that tells no time begins no grace
  TRY(garbage.leftovers, store.remove_leftovers(now == 0 ? 0 : now - options.grace_us));
  return garbage;
}

} // namespace quarry::publish
