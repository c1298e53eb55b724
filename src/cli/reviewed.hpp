#pragma once
// `--dry-run` shows a plan and its digest, `--execute DIGEST` runs that plan and no other.
#include "cli/command.hpp"
#include "registry/digests.hpp"
#include <string>

namespace quarry::cli {

/// invalid_argument O006 when both are given; O005 unless `--execute` has the digest of a plan. On a pipe all of its
/// digits are needed: a script has them from the document or from `next:`, and only a person copies fewer.
Result<void> check_execute(const Context& context, const Arguments& arguments);
/// The digits of a plan for a line that is pasted: k_plan_digits_min of them for a person at a terminal, else all.
std::string digits_to_paste(const Output& out, const registry::PlanDigest& plan);
/// Whether `--execute` names the plan as it is now; fine without the flag. invalid_argument O005 for what is
/// not a digest, precondition_failed O011 for another plan.
Result<void> check_reviewed(const Arguments& arguments, const registry::PlanDigest& plan);

} // namespace quarry::cli
