#include "publish/marks.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "publish/publish.hpp"
#include "store/denied.hpp"
#include "thread/pool.hpp"
#include <nlohmann/json.hpp>

namespace quarry::publish {

using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::string_view k_marks_schema = "quarry.gc-marks/1";

Result<void> write_record(ObjectStore& store, const Named& record, store::Precondition precondition) {
  store::PutOptions options;
  options.precondition = std::move(precondition);
  options.content_type = "application/json";
  options.cache_control = k_immutable;
  auto put = store.put(record.key, content::Rope::literal(record.bytes()), options);
  if (put || put.error().is(codes::object_exists)) return {};
  return fail(std::move(put).error());
}

} // namespace

Result<Marks> read_marks(ObjectReader& store) {
  Marks marks;
  TRY(auto bytes, store.get(k_marks_key, registry::k_record_bytes_max));
  if (!bytes) return marks;
  auto document = json::parse({*bytes, k_marks_key});
  if (!document || !document->is_object() || !json::require_schema({*document, k_marks_key}, k_marks_schema))
    return marks;
  try {
    for (const auto& [key, mark] : document->at("marks").items())
      marks[key] = {mark.at("modified_us").get<std::int64_t>(), mark.at("since_us").get<std::int64_t>()};
  } catch (const Json::exception&) {
    marks.clear();
  }
  return marks;
}

Result<void> write_marks(ObjectStore& store, const Marks& marks) {
  if (marks.empty()) return store.remove(k_marks_key);
  auto list = Json::object();
  for (const auto& [key, mark] : marks) list[key] = {{"modified_us", mark.modified_us}, {"since_us", mark.since_us}};
  TRY(auto bytes, json::canonical({{"schema", k_marks_schema}, {"marks", std::move(list)}}));
  store::PutOptions options;
  options.content_type = "application/json";
  options.cache_control = "no-cache";
  TRY_DO(store.put(k_marks_key, content::Rope::literal(std::move(bytes)), options));
  return {};
}

std::vector<Named> records_of(const registry::View& view) {
  std::vector<Named> records;
  for (const auto& shard : view.shards)
    records.push_back(
        {registry::shard_key(view.record.shards.at(shard.project)), [&shard] { return registry::to_json(shard); }});
  records.push_back({registry::view_key(view.digest), [&view] { return registry::to_json(view.record); }});
  return records;
}

Result<void> refresh_marked(ObjectStore& store, const std::vector<Named>& records) {
  auto marks = read_marks(store);
  if (!marks && store::is_denied(marks.error())) return {}; // restore_missing() is enough without them
  if (!marks) return fail(std::move(marks).error());
  for (const auto& record : records)
    if (marks->contains(record.key)) TRY_DO(write_record(store, record, {}));
  return {};
}

Result<void> restore_missing(ObjectStore& store, const std::vector<Named>& records) {
  return parallel_for(records.size(), k_requests, [&](std::size_t i) -> Result<void> {
    TRY(auto present, store.head(records[i].key));
    return present ? Result<void>{} : write_record(store, records[i], store::Precondition::if_absent());
  });
}

} // namespace quarry::publish
