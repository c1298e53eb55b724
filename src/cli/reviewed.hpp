#pragma once
// `--dry-run` shows a plan and its digest, `--execute DIGEST` runs that plan and no other.
#include "cli/command.hpp"
#include "registry/digests.hpp"

namespace quarry::cli {

/// invalid_argument O006 when both are given.
Result<void> check_execute(const Arguments& arguments);
/// Whether `--execute` names the plan as it is now; fine without the flag. invalid_argument O005 for what is
/// not a digest, precondition_failed O011 for another plan.
Result<void> check_reviewed(const Arguments& arguments, const registry::PlanDigest& plan);

} // namespace quarry::cli
