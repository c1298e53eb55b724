#pragma once
// Private to the room.
// What the keys of records have in common, and how many are read at the same time.
#include <string_view>

namespace quarry::registry {

inline constexpr std::string_view k_json = ".json"; ///< ends the key of every record
/// Requests in flight for a list of records: enough to hide a store's latency, few enough for a small server.
inline constexpr unsigned k_requests = 8;

} // namespace quarry::registry
