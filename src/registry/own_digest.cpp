#include "registry/own_digest.hpp"

#include "digest/sha256.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {
constexpr const char* k_field = "digest";

std::string bytes_of(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

Unexpected altered(std::string_view what, std::string_view why) {
  return fail(ErrorKind::corrupt, "R011", fmt::format("{} was altered: {}", what, why),
              fmt::format("restore {} from a copy of the store, or an older version of the object", what));
}
/// Whether `text` is an object whose `digest` is the sha256 of the same bytes without that field: so it is for what
/// with_own_digest() has written. Costs one hash, where writing a record of thousands of files again costs more than
/// reading it.
bool is_as_written(std::string_view text, const std::string& digest) {
  auto field = fmt::format("\"{}\":\"{}\"", k_field, digest);
  auto at = text.find(field);
  if (at == text.npos) return false;
  auto end = at + field.size();
  if (end < text.size() && text[end] == ',')
    ++end;
  else if (at > 0 && text[at - 1] == ',')
    --at;
  return sha256(std::string(text.substr(0, at)) + std::string(text.substr(end))).hex() == digest;
}
} // namespace

std::string with_own_digest(Json object) {
  object.erase(k_field);
  object[k_field] = sha256(bytes_of(object)).hex();
  return bytes_of(object);
}

Result<Json> proven_object(NamedText named, const char* schema) {
  const auto [text, what] = named;
  TRY(auto object, json::parse({text, what}));
  TRY_DO(json::require_schema({object, what}, schema));
  if (!object.contains(k_field)) return altered(what, "it has no `digest`");
  bool proven = is_as_written(text, json::string_or(object, k_field, "")) || with_own_digest(object) == text;
  if (!proven) return altered(what, "its `digest` is not that of its other fields");
  object.erase(k_field);
  return object;
}

} // namespace quarry::registry
