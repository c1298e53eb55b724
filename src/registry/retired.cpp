#include "registry/retired.hpp"

#include "base/codes.hpp"
#include "registry/fields.hpp"
#include "registry/keys.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>

namespace quarry::registry {

namespace {
constexpr const char* k_retired_schema = "quarry.retired/1";
constexpr std::string_view k_retired = "/retired/";
} // namespace

template <class V, Either<RetiredRecord> R> void fields(V& v, R& r) {
  v.digest("set", r.set);
  v.text("directory", r.directory);
  v.word("state", r.state);
  v.text("rule", r.rule);
  v.digest("plan", r.plan);
  v.time("since", r.since);
  v.time("until", r.until);
  v.text("seal", r.seal);
  v.text("who", r.who, Need::optional);
  v.text("why", r.why, Need::optional);
  v.number("files", r.files);
  v.number("bytes", r.bytes);
}

std::string retired_key(const std::string& directory, const SetDigest& set) {
  return fmt::format("{}{}{}{}", directory, k_retired, set.hex(), k_json);
}

std::string to_json(const RetiredRecord& record) { return write_document(k_retired_schema, record); }

Result<std::optional<Retired>> read_retired(ObjectReader& store, const std::string& directory, const SetDigest& set) {
  auto key = retired_key(directory, set);
  Retired retired;
  TRY(auto bytes, store.get(key, k_record_bytes_max, &retired.etag));
  if (!bytes) return std::optional<Retired>();
  TRY(retired.record, read_document<RetiredRecord>(*bytes, Place{key}, k_retired_schema));
  if (retired.record.set != set || retired.record.directory != directory)
    return fail(ErrorKind::corrupt, "R012", fmt::format("{} says that it is about another set", key),
                "remove it, or restore it from a copy of the store");
  return std::optional(std::move(retired));
}

Result<void> swap_retired(ObjectStore& store, const std::optional<Retired>& expected, const RetiredRecord& next) {
  auto key = retired_key(next.directory, next.set);
  auto bytes = to_json(next);
  store::PutOptions options;
  options.precondition = expected ? store::Precondition::if_match(expected->etag) : store::Precondition::if_absent();
  options.content_type = "application/json";
  options.cache_control = "no-cache";
  auto put = store.put(key, content::Rope::literal(bytes), options);
  if (put) return {};
  // The store may have taken the write without saying so, or another run did the very same.
  std::string etag;
  TRY(auto now, store.get(key, k_record_bytes_max, &etag));
  if (now && *now == bytes) return {};
  bool unmoved = now ? expected && etag == expected->etag : !expected;
  bool overtaken = put.error().kind == ErrorKind::outcome_unknown && !unmoved;
  if (put.error().is(codes::object_exists) || overtaken)
    return fail(ErrorKind::precondition_failed, "R003", fmt::format("another command changed {} meanwhile", key),
                "run the same command again");
  return fail(std::move(put).error());
}

std::optional<SetDigest> set_of_retired_key(std::string_view key) {
  auto at = key.rfind(k_retired);
  if (at == key.npos || !key.ends_with(k_json)) return std::nullopt;
  key.remove_prefix(at + k_retired.size());
  key.remove_suffix(k_json.size());
  return SetDigest::parse(key);
}

Result<std::vector<RetiredRecord>> leaving_from(ObjectReader& store, const std::string& directory) {
  TRY(auto keys, store.keys(directory + std::string(k_retired)));
  std::vector<SetDigest> sets; // what else lies there is not a record
  for (const auto& key : keys)
    if (auto set = set_of_retired_key(key)) sets.push_back(*set);
  std::vector<std::optional<RetiredRecord>> read(sets.size());
  TRY_DO(parallel_for(sets.size(), k_requests, [&](std::size_t i) -> Result<void> {
    TRY(auto retired, read_retired(store, directory, sets[i]));
    if (retired) read[i] = std::move(retired->record);
    return {};
  }));
  std::vector<RetiredRecord> leaving;
  for (auto& record : read)
    if (record && (record->state == Retirement::tombstoned || record->state == Retirement::purging))
      leaving.push_back(std::move(*record));
  return leaving;
}

} // namespace quarry::registry
