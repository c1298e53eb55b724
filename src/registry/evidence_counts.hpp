#pragma once
// Whether evidence agrees with itself. Pure.
#include "registry/records.hpp"

namespace quarry::registry {

/// Whether the numbers of a record are those of its rows; true if it has no rows.
bool counts_its_rows(const EvidenceRecord& evidence);

} // namespace quarry::registry
