#pragma once
// Reads packages and their requirements from a store.
#include "base/result.hpp"
#include "closure/package.hpp"
#include "store/object_store.hpp"

namespace quarry::closure {

/// Returns the package of a file of a sealed set. A wheel's requirements come from the METADATA that was sealed (one
/// read), a source distribution's from its record (no request). Fails with corrupt P022 if METADATA is missing or
/// altered, and as package_of_record() does.
Result<Package> load_package(store::ObjectReader& store, const registry::FileRecord& file);

} // namespace quarry::closure
