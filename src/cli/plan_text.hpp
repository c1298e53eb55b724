#pragma once
// What a publication or adoption would write, for people.
#include "cli/command.hpp"
#include "publish/plan.hpp"
#include <string>

namespace quarry::cli {

/// One line of headline, then a line for each file: whether it exists, is new or replaces an unsealed one; name; size.
std::string plan_text(const publish::Plan& plan, Look look);

} // namespace quarry::cli
