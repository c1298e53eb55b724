#pragma once
// Findings for other programs: GitHub's workflow commands, which become annotations, SARIF for code scanning, and JUnit
// for dashboards of tests. Pure.
#include "base/finding.hpp"
#include "base/json.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// GitHub shows 10 errors, 10 warnings and 10 notices for a step and drops the rest silently (its toolkit's
/// page on problem matchers).
constexpr std::size_t k_annotations_max = 10;

/// A finding with its place in a file. Line 0: the place is the file as a whole, such as a wheel's member.
struct PlacedFinding {
  std::string code;
  Severity severity = Severity::error;
  std::string file;
  unsigned line = 0, column = 0;
  std::string message, fix;
};
/// A place such as `accepted.toml:12` is a file and a line.
std::vector<PlacedFinding> placed(const Findings& findings);

/// `::error file=…,line=…,col=…,title=Y125::message and fix`, at most k_annotations_max of each kind; the last of a
/// kind that has more says how many are left, and where they are (`rest`: "in the step summary").
std::string annotations(const std::vector<PlacedFinding>& findings, std::string_view rest);

/// A SARIF 2.1.0 log with one run: each code is a rule with what `quarry explain` says of it (code scanning wants a
/// short and a full description and a help text), each finding a result.
struct Rule {
  std::string code, title, about, fix;
};
struct SarifTool {
  std::string name, version; ///< "quarry workflow lint"
};
Json sarif(const std::vector<PlacedFinding>& findings, const std::vector<Rule>& rules, const SarifTool& tool);

/// A JUnit report: a test for each rule with a finding, which fails if one of them is an error; a test "all other
/// rules", which passes. `suite` is its name. Characters that XML does not have are left out.
std::string junit(const std::vector<PlacedFinding>& findings, const std::vector<Rule>& rules, const std::string& suite);

} // namespace quarry::cli
