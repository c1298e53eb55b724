#pragma once
// TheRock's promotion rule of February 2026, as `compat promote_wheels_based_on_policy` answers it. It believes the
// word of a job; the policy `incumbent-feb` says the same about evidence. Pure.
#include <string>

namespace quarry::gate {

/// What the rule was told, as the variables of the job have it.
struct IncumbentQuestion {
  std::string build_result, test_result; ///< "success", "failure", "cancelled", "skipped", in any case
  std::string runner;                    ///< TEST_RUNS_ON; empty: no machine
  std::string bypass;                    ///< BYPASS_TESTS_FOR_RELEASES: any text counts, also "false"
  std::string ref;                       ///< GITHUB_REF_NAME
};
struct IncumbentAnswer {
  bool upload = false;
  std::string why;       ///< one sentence without a full stop
  bool untested = false; ///< it opens, and no test has passed
};
/// First match wins: a release branch opens even what failed to build; a failed build holds; with a machine, tests that
/// did not succeed hold; without a machine and a bypass it holds; else it opens.
IncumbentAnswer incumbent_rule(const IncumbentQuestion& asked);

} // namespace quarry::gate
