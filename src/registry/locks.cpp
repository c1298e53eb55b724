#include "registry/locks.hpp"

#include "registry/fields.hpp"
#include "registry/keys.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {
constexpr const char* k_lock_schema = "quarry.kept-lock/1";
constexpr std::string_view k_locks = "locks/";

Result<void> check_lock(std::string_view what, const LockRecord& record) {
  const char* wrong = nullptr;
  if (record.sets.empty()) wrong = "it names no set";
  if (std::ranges::adjacent_find(record.sets, std::greater_equal<>()) != record.sets.end())
    wrong = "its sets are out of order or named twice";
  if (!wrong) return {};
  return fail(ErrorKind::corrupt, "R012", fmt::format("{}: {}", what, wrong));
}
} // namespace

template <class V, Either<LockRecord> R> void fields(V& v, R& r) {
  v.digests("sets", r.sets);
  v.time("until", r.until);
  v.text("source", r.source);
  v.text("pylock", r.pylock);
  v.text("who", r.who, Need::optional);
  v.text("why", r.why, Need::optional);
}

std::string to_json(const LockRecord& record) { return write_document(k_lock_schema, record); }

namespace {
Result<LockRecord> parse_lock(std::string_view text, std::string_view what) {
  TRY(auto record, read_document<LockRecord>(text, Place{what}, k_lock_schema));
  TRY_DO(check_lock(what, record));
  return record;
}
} // namespace

Result<LockDigest> put_lock(ObjectStore& store, const LockRecord& record) {
  auto bytes = to_json(record);
  TRY_DO(parse_lock(bytes, "a lock")); // one that nobody can read would stop every retention
  if (bytes.size() > k_record_bytes_max)
    return fail(ErrorKind::resource_exhausted, "R007",
                fmt::format("the lock would have {} bytes, more than the {} that are read at once", bytes.size(),
                            k_record_bytes_max),
                "lock fewer packages in one file");
  LockDigest digest(sha256(bytes));
  TRY_DO(store::put_once(
      store, fmt::format("{}{}{}", k_locks, digest.hex(), k_json),
      {content::Rope::literal(bytes), sha256(bytes), "application/json", "public, max-age=31536000, immutable"}));
  return digest;
}

Result<std::vector<Stored<LockRecord>>> list_locks(ObjectReader& store) {
  TRY(auto objects, store.list(std::string(k_locks)));
  std::vector<std::optional<Stored<LockRecord>>> read(objects.size());
  TRY_DO(parallel_for(objects.size(), k_requests, [&](std::size_t i) -> Result<void> {
    std::string_view name(objects[i].key);
    name.remove_prefix(k_locks.size());
    if (!name.ends_with(k_json)) return {};
    auto digest = LockDigest::parse(name.substr(0, name.size() - k_json.size()));
    if (!digest) return {};
    TRY(auto bytes, store.get(objects[i].key, k_record_bytes_max));
    if (!bytes) return {};
    if (sha256(*bytes) != *digest->sha256())
      return fail(ErrorKind::corrupt, "R011", fmt::format("the lock {} was altered", objects[i].key),
                  "restore it from a copy of the store; or remove it, if nobody needs what it keeps");
    TRY(auto record, parse_lock(*bytes, objects[i].key));
    read[i] = Stored<LockRecord>{*digest, std::move(record)};
    return {};
  }));
  std::vector<Stored<LockRecord>> locks;
  for (auto& lock : read)
    if (lock) locks.push_back(std::move(*lock));
  return locks;
}

} // namespace quarry::registry
