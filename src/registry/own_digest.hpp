#pragma once
// The `digest` field of records that are not named by their digest (seals, channels, pointers of distributions): the
// SHA-256 of the record's canonical bytes without this field. See docs/formats/records.md. Pure.
#include "base/data_text.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include <string>

namespace quarry::registry {

class Value;

/// Returns the canonical bytes of `object` with its digest added.
std::string with_own_digest(Json object);
/// Checks the digest of a document that was parsed from `named`. Fails with corrupt (R011) if it is missing, or is not
/// the SHA-256 of the text without this field. The text is hashed as it is: other spaces or another order of the keys
/// give another digest. Whether the text is canonical is not checked: only with_own_digest() promises that.
Result<void> check_own_digest(Value document, NamedText named);

inline constexpr const char* k_own_digest = "digest"; ///< the field

} // namespace quarry::registry
