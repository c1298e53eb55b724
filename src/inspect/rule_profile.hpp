#pragma once
// Rule profiles, which say how severe the finding of a rule is, and suppressions, which accept single findings with a
// reason, an owner and a last day (docs/formats/rule-profile.md). They are not the compression profiles of `sdk build`.
// Pure.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace quarry::inspect {

struct RuleProfile {
  std::string name, about;
  bool wheels = false;                                      ///< `publish` looks into the wheels, as `wheel check` does
  std::vector<std::pair<std::string, Severity>> severities; ///< glob of codes; the first that fits counts
};

struct Suppression {
  std::string code, place, message; ///< place: a glob; message: a part of it; both may be empty
  std::string reason, owner, until; ///< until: the last day, "2027-01-31"
  int line = 0;
};

struct Suppressions {
  std::string file;
  std::vector<Suppression> rows;
};

/// Whether a glob fits a code that this version of the program knows.
using FitsCode = std::function<bool(const std::string& glob)>;
/// Fails with invalid_argument Q011, with file, line and key; so does a glob that fits no code, which would do nothing.
Result<RuleProfile> parse_rule_profile(const DataText& data, const FitsCode& fits);

/// Whether a code is one that this version of the program knows.
using IsCode = std::function<bool(const std::string& code)>;
/// Fails with invalid_argument Q011, with file, line and key; so does a code that does not exist, which would accept
/// nothing.
Result<Suppressions> parse_suppressions(const DataText& data, const IsCode& exists);

/// Warnings and errors get the severity that the profile says; a note stays one.
void apply_profile(const RuleProfile& profile, Findings& findings);

struct SuppressedFinding {
  Finding finding;
  Suppression by;
};

struct SiftedFindings {
  Findings findings; ///< those that count, then Q251 and Q252 of suppressions that do not
  std::vector<SuppressedFinding> suppressed;
};
/// The run that suppressions are applied to.
struct SuppressedRun {
  std::string today; ///< "2026-11-23"
  IsCode looks_for;  ///< whether the run has the rule; one file may serve commands with different rules
};
/// Takes out the findings that a suppression accepts. One whose last day is before `today` accepts nothing any more
/// (error Q251). One that no finding needs, of a rule that the run looks for, is a warning (Q252): it would hide the
/// next defect. If findings have its code and another place, the warning says which place to write.
SiftedFindings apply_suppressions(Findings findings, const Suppressions& suppressions, const SuppressedRun& run);

/// The findings that `before` does not have: same code, place and message, as many of equal ones as there were.
struct Baseline {
  Findings findings; ///< of an earlier run
};
Findings without_known(Findings findings, const Baseline& before);

} // namespace quarry::inspect
