#pragma once
// Findings with a place in a file, for GitHub: workflow commands that become annotations, and SARIF for code scanning.
// Pure.
#include "base/json.hpp"
#include "workflow/lint.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// GitHub shows 10 errors, 10 warnings and 10 notices for a step and drops the rest silently (its toolkit's
/// page on problem matchers).
constexpr std::size_t k_annotations_max = 10;

/// `::error file=…,line=…,col=…,title=Y125::message`, at most k_annotations_max of each kind; the last of a kind that
/// has more says how many are not shown.
std::string annotations(const std::vector<workflow::Located>& findings);

/// A SARIF 2.1.0 log with one run: each code is a rule with its title, each finding a result.
struct Rule {
  std::string code, title;
};
Json sarif(const std::vector<workflow::Located>& findings, const std::vector<Rule>& rules, const std::string& version);

} // namespace quarry::cli
