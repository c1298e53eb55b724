#pragma once
// Private to the room.
// Reads the bytes of records that only this room parses.
#include "registry/releases.hpp"
#include <string_view>

namespace quarry::registry {

/// B002 to B004; corrupt R012 for a release without sets, or with sets out of order.
Result<ReleaseRecord> parse_release(std::string_view text, std::string_view what);

/// Only whether it is a JSON object of this schema.
Result<VerdictRecord> parse_verdict_record(std::string_view text, std::string_view what);

} // namespace quarry::registry
