#pragma once
// Packages of a store, with what they require.
#include "base/result.hpp"
#include "closure/package.hpp"
#include "store/object_store.hpp"

namespace quarry::closure {

/// A file of a sealed set: for a wheel with METADATA as it was sealed (one read), for a source distribution with the
/// requirements of its record (no request). corrupt P022 if METADATA is missing or altered; also fails as
/// package_of_record() does.
Result<Package> load_package(store::ObjectStore& store, const registry::FileRecord& file);

} // namespace quarry::closure
