#pragma once
// Records whose name is not the digest of their bytes (a seal, a channel's pointer, a distribution's) hold the digest
// of all their other fields: sha256 of their canonical bytes without it. See docs/formats/records.md.
#include "base/json.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>

namespace quarry::registry {

/// Canonical bytes of `object` with its own digest.
std::string with_own_digest(Json object);
/// The record in `text`, without its digest. B002 to B004, and corrupt R011: the digest is missing or wrong, or these
/// are not the canonical bytes.
Result<Json> proven_object(std::string_view text, std::string_view what, const char* schema);

} // namespace quarry::registry
