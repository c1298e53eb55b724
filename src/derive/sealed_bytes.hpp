#pragma once
// Private to the room.
// A file of a sealed set, with the bytes that were sealed.
#include "derive/package.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"

namespace quarry::derive {

/// Fails with corrupt O105 if the file is missing or has other bytes. Reads it, unless the store has recorded the
/// digest that it checked when it took the bytes.
Result<Package> sealed_bytes(store::ObjectReader& store, const registry::FileRecord& file);

} // namespace quarry::derive
