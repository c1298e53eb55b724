#pragma once
// `promote --to 'stable-{family}'`: a release moves to several channels by one plan.
#include "cli/command.hpp"
#include "release/plan.hpp"

namespace quarry::cli {

/// `quarry promote` for a pattern of channels. Returns the exit code.
Result<int> promote_release(Context& context, const Arguments& arguments);

} // namespace quarry::cli
