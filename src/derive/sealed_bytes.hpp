#pragma once
// Private to the room.
// A file of a sealed set, with the bytes that were sealed.
#include "derive/package.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"

namespace quarry::derive {

/// Fails with corrupt O105 if the file is missing or has other bytes. Reads and hashes it: a digest that the store has
/// recorded can be forged by whoever overwrote the object, and evidence about the candidate would count for a release
/// that was made of other bytes.
Result<Package> sealed_bytes(store::ObjectReader& store, const registry::FileRecord& file);

} // namespace quarry::derive
