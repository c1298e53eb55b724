#pragma once
// The `digest` field of records that are not named by their digest (seals, channels, pointers of distributions): the
// SHA-256 of the record's canonical bytes without this field. See docs/formats/records.md. Pure.
#include "base/json.hpp"
#include <string>

namespace quarry::registry {

/// Returns the canonical bytes of `object` with its digest added.
std::string with_own_digest(Json object);

inline constexpr const char* k_own_digest = "digest"; ///< the field

} // namespace quarry::registry
