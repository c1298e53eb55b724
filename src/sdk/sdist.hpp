#pragma once
// Private to the room.
// An sdist as deterministic bytes (PEP 625): the same file from every platform and machine.
#include "sdk/build.hpp"
#include "sdk/plan.hpp"

namespace quarry::sdk {

/// Writes `{dist_dir}/{file name}` atomically.
Result<BuiltPackage> write_sdist(const SdistPlan& plan, const std::string& dist_dir);

} // namespace quarry::sdk
