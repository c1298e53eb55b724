#include "registry/record_text.hpp"

#include "base/codes.hpp"
#include "registry/fields.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {
constexpr const char* k_release_schema = "quarry.release/1";
} // namespace

template <class V, Either<ExpectedParts> R> void fields(V& v, R& r) {
  v.words("platforms", r.platforms);
  v.texts("families", r.families);
  v.texts("pythons", r.pythons);
  v.texts("projects", r.projects);
}

template <class V, Either<ReleaseRecord> R> void fields(V& v, R& r) {
  v.text("name", r.name, Need::optional);
  v.digests("sets", r.sets);
  v.nested("expect", r.expect);
  v.text("notes", r.notes, Need::optional);
}

std::string to_json(const ReleaseRecord& record) {
  Json object;
  Writer::write(object, record);
  object["schema"] = k_release_schema;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ReleaseRecord> parse_release(std::string_view text, std::string_view what) {
  TRY(auto object, json::parse(text, what));
  TRY_DO(json::require_schema(object, k_release_schema, what));
  ReleaseRecord record;
  TRY_DO(Reader::read(object, Place{what}, record));
  auto unsorted = std::adjacent_find(record.sets.begin(), record.sets.end(),
                                     [](const SetDigest& a, const SetDigest& b) { return !(a < b); });
  if (record.expect.platforms.empty() && !record.expect.empty())
    return fail(ErrorKind::corrupt, "R012", fmt::format("{}: it expects something on no platform", what));
  if (!record.sets.empty() && unsorted == record.sets.end()) return record;
  return fail(ErrorKind::corrupt, "R012",
              fmt::format("{}: {}", what,
                          record.sets.empty() ? "it names no set" : "its sets are out of order or named twice"));
}

Result<Resolved> resolve_release(ObjectStore& store, const std::string& digits) {
  TRY(auto digest, complete_release_digest(store, digits));
  TRY(auto record, load_release(store, digest));
  Resolved resolved;
  resolved.source = "release:" + digest.hex();
  resolved.release = digest;
  TRY(resolved.sets, load_all_sealed(store, record.sets), "which release:" + digest.short_hex() + " names");
  auto files = union_of(resolved.sets);
  if (files) resolved.files = std::move(*files);
  return resolved;
}

} // namespace quarry::registry
