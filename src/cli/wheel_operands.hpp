#pragma once
// Wheels that a command is given: files, and directories that stand for the wheels in them.
#include "cli/command.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// A directory stands for its wheels or those of its `dist/`, found as `publish` finds them; its source distributions
/// are skipped, which is said. Each wheel once. not_found W022 for a directory without a wheel.
Result<std::vector<std::string>> wheels_of(Context& context, const std::vector<std::string>& operands);

} // namespace quarry::cli
