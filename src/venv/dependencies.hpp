#pragma once
// Private to the room.
// Packages of the store's base index (docs/formats/run-layout.md) that what is installed may depend on.
#include "base/result.hpp"
#include "venv/environment.hpp"
#include "venv/source.hpp"
#include <string>
#include <vector>

namespace quarry::venv {

/// The files of the base index whose projects are named, directly or through others, by the source's wheels or by
/// `packages`; of sdists in the source also setuptools and wheel. Only files that the environment's Python on Linux can
/// take, and none of a project that the source has itself. Empty for sources without a store and stores without a base
/// index. Costs one list and, per named file, one small read. R0xx.
Result<std::vector<Offered>> find_dependencies(const Source& source, const Environment& environment,
                                               const std::vector<std::string>& packages, store::ObjectReader* store);

/// Whether a wheel's tags fit CPython `minor` ("3.11") on Linux of any architecture.
bool fits_environment(const std::string& filename, const std::string& minor);

} // namespace quarry::venv
