#pragma once
// TheRock's promotion rule of February 2026, for `compat promote_wheels_based_on_policy`. It trusts the results that a
// job reports; the policy `incumbent-feb` applies the same rule to evidence. Pure.
#include <string>

namespace quarry::gate {

/// The input of the rule: values of the job's variables.
struct IncumbentQuestion {
  std::string build_result, test_result; ///< "success", "failure", "cancelled", "skipped", in any case
  std::string runner;                    ///< TEST_RUNS_ON; empty: no machine
  std::string bypass;                    ///< BYPASS_TESTS_FOR_RELEASES: any text counts, also "false"
  std::string ref;                       ///< GITHUB_REF_NAME
};
struct IncumbentAnswer {
  bool upload = false;
  std::string why;       ///< one sentence without a full stop
  bool untested = false; ///< the upload is allowed although no test has passed
};
/// The first rule that applies decides:
///   1. on a release branch the upload is allowed, even if the build failed
///   2. a failed build holds it
///   3. with a test machine, tests that did not succeed hold it
///   4. without a machine and without a bypass it is held
///   5. else it is allowed
IncumbentAnswer incumbent_rule(const IncumbentQuestion& asked);

} // namespace quarry::gate
