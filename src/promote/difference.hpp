#pragma once
// What a request or a plan that was reviewed had otherwise. Only digests of it are known, so the likely ones are tried.
// Pure.
#include "promote/plan.hpp"
#include "registry/reviewed.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// Lines for the details of O002: the flags in which this request differs from the one that has the digest
/// `reviewed`, with both values. If no change of the flags makes that digest, what is asked for now.
std::vector<std::string> request_difference(const Request& request, const std::string& reviewed);

/// As a line of request_difference(), for a plan that goes to another store now.
std::string added_store(const std::string& distribution);
/// Whether the plan that was reviewed is this one without `--to-store`.
bool reviewed_without_store(const Plan& plan, const registry::ReviewedPlan& reviewed);

} // namespace quarry::promote
