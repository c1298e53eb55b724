#pragma once
// The `digest` field of records that are not named by their digest (seals, channels, pointers of distributions): the
// SHA-256 of the record's canonical bytes without this field. See docs/formats/records.md. Pure.
#include "base/data_text.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>

namespace quarry::registry {

/// Returns the canonical bytes of `object` with its digest added.
std::string with_own_digest(Json object);
/// Parses a record and returns it without its digest. Fails with B002 to B004 if it is not JSON of this schema, and
/// with corrupt (R011) if the digest is missing, or is not that of the other bytes. Whether these are canonical is
/// not checked: only with_own_digest() promises that.
Result<Json> proven_object(NamedText named, const char* schema);

} // namespace quarry::registry
