#include "registry/own_digest.hpp"

#include "base/json.hpp"
#include "digest/sha256.hpp"
#include "registry/flat_json.hpp"
#include "registry/record_text.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <span>

namespace quarry::registry {

namespace {
Unexpected altered(std::string_view what, std::string_view why) {
  return fail(ErrorKind::corrupt, "R011", fmt::format("{} was altered: {}", what, why),
              fmt::format("restore {} from a copy of the store, or an older version of the object", what));
}
/// Whether `text` is an object whose `digest` is the sha256 of the same bytes without that field: so it is for what
/// with_own_digest() has written. Costs one hash, where writing a record of thousands of files again costs more than
/// reading it.
bool is_as_written(std::string_view text, std::string_view digest) {
  auto field = fmt::format("\"{}\":\"{}\"", k_own_digest, digest);
  auto at = text.find(field);
  if (at == text.npos) return false;
  auto end = at + field.size();
  if (end < text.size() && text[end] == ',')
    ++end;
  else if (at > 0 && text[at - 1] == ',')
    --at;
  Sha256Hasher others;
  for (auto part : {text.substr(0, at), text.substr(end)}) others.update(std::as_bytes(std::span(part)));
  return others.finish().hex() == digest;
}
} // namespace

std::string with_own_digest(Json object) {
  object.erase(k_own_digest);
  object[k_own_digest] = sha256(json::lossy_text(object)).hex();
  return json::lossy_text(object);
}

Result<void> check_own_digest(Value document, NamedText named) {
  const auto [text, what] = named;
  auto digest = document.find(k_own_digest);
  if (!digest) return altered(what, "it has no `digest`");
  if (is_as_written(text, digest->text()) || with_own_digest(document.json()) == text) return {};
  return altered(what, "its `digest` is not that of its other fields");
}

} // namespace quarry::registry
