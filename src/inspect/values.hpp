#pragma once
// Private to the room.
// The texts of a dist-info directory as values with names, for comparison.
#include "inspect/contents.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::inspect {

/// "metadata:Requires-Dist" -> its values, sorted; "wheel:Tag", "script:NAME", "entry:GROUP:NAME". Absent: no value.
using Values = std::map<std::string, std::vector<std::string>>;
Values values_of(const Package& package);
/// "left | right" for one value each; else what stands on one side only.
std::string compare_values(const std::vector<std::string>& left, const std::vector<std::string>& right);
std::string summary_of(const std::vector<std::string>& values); ///< for one line

} // namespace quarry::inspect
