#pragma once
// Private to the room.
// Lists that a view keeps among its JSON fields, besides its sets and shards.
#include "base/json.hpp"
#include "registry/records.hpp"

namespace quarry::registry {

/// The fields of `ViewRecord::unknown`; an empty object if that text is not a JSON object. Pure.
Json view_fields(const ViewRecord& view);
/// Replaces them; without fields the text becomes empty. Text that is not UTF-8 changes nothing. Pure.
void set_view_fields(ViewRecord& view, const Json& fields);

} // namespace quarry::registry
