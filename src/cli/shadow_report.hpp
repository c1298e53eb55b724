#pragma once
// How two runs differ, for people and for programs. Pure.
#include "base/finding.hpp"
#include "base/json.hpp"
#include "shadow/difference.hpp"
#include <map>
#include <string>

namespace quarry::cli {

struct ShadowReport {
  std::string ours, theirs; ///< where the two runs are
  std::map<shadow::Topic, shadow::Section> sections;
  std::uint64_t unexplained() const;
};

/// The two sides, a table of counts, and each reason with the number of differences that it explains, or (`all`) with
/// these differences.
std::string shadow_text(const ShadowReport& report, bool all);
/// quarry.shadow/1
Json shadow_json(const ShadowReport& report);
/// Q510 to Q514: the differences that nothing explains.
Findings shadow_findings(const ShadowReport& report);

} // namespace quarry::cli
