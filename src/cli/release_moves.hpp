#pragma once
// `promote --to 'stable-{family}'` and `rollback 'stable-{family}'`: a release moves in several channels by one plan.
#include "cli/command.hpp"
#include "promote/promote.hpp"
#include "release/plan.hpp"

namespace quarry::cli {

/// What a plan records instead of the name of a file.
inline constexpr const char* k_some_file = "FILE";

/// `quarry promote` for a pattern of channels. Returns the exit code.
Result<int> promote_release(Context& context, const Arguments& arguments);
/// `quarry rollback` for a pattern of channels. Returns the exit code.
Result<int> rollback_of_release(Context& context, const Arguments& arguments, const promote::Options& options);

} // namespace quarry::cli
