#pragma once
// Switches that can be said both ways, `--x` and `--no-x`, as Python's scripts have them. Pure. Errors: C042.
#include "cli/command.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// The two flags of one switch; `name` is "--x".
std::vector<Flag> both_ways(const std::string& name, const std::string& help);
/// What was said, or `fallback`. invalid_argument C042 when both were.
Result<bool> switched(const Arguments& arguments, const std::string& name, bool fallback = false);

} // namespace quarry::cli
