#pragma once
// The GPU targets that a command judges device code against.
#include "cli/command.hpp"
#include "inspect/device_verdict.hpp"

namespace quarry::cli {

Flag family_flag(); ///< `--amdgpu-family A,B`

/// The targets of the families that the flags name (families_file_flag(), too); none without `--amdgpu-family`.
/// invalid_argument F003 for a family that nobody knows; errors of load_families().
Result<inspect::Asked> asked_of(const Context& context, const Arguments& arguments);

} // namespace quarry::cli
