#pragma once
// Private to the room.
// Explains a missing result: what became of the test jobs that were announced for a cell. Pure.
#include "gate/count.hpp"
#include <string>

namespace quarry::gate {

struct Attempted {
  SuiteState state = SuiteState::untested;
  std::string why; ///< "no machine has taken the job for 8 h: https://…"; empty: no test was announced
  std::string job;
  /// Whether a machine has begun any of the attempts, even if a later record replaced that attempt. If so, the cell has
  /// a runner, whatever the policy says about its family.
  bool taken = false;
};
/// Returns what became of the newest attempt at the question's suite on its cell. `newest_result_us` is the time at
/// which the newest result that does not count ended, or 0: the job of that result is not reported as one without a
/// result.
Attempted attempted(const Policy& policy, const Case& input, const Question& question, std::int64_t newest_result_us);

/// Whether an attempt is dated more than k_clock_skew_us in the future. It is ignored, because it would stay the newest
/// attempt for ever.
bool is_early(const registry::AttemptRecord& attempt, std::int64_t now_us);
/// Adds a warning G031 for each attempt that is dated in the future.
void note_early_attempts(const Case& input, Findings& notes);

} // namespace quarry::gate
