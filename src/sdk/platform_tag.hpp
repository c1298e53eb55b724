#pragma once
// Private to the room.
// The platform tag of the wheels, and the proof that their files keep what it promises. Nothing is written before.
#include "base/finding.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "sdk/plan.hpp"
#include <string>

namespace quarry::sdk {

/// "linux_x86_64" or "win_amd64" without a wish; invalid_argument S038 for a tag that cannot be proven here.
Result<std::string> platform_tag(const BuildRequest& request, const Resources& resources);

/// With a manylinux tag, one finding for each package: S039 (error: a file asks for newer symbol versions), S040
/// (error: it needs a library that no package holds and not every system has), else S041 (note: what decides).
Result<void> check_platform_tag(const std::string& tag, const std::vector<PackagePlan>& packages,
                                const Resources& resources, Findings& findings);

} // namespace quarry::sdk
