#pragma once
// Private to the room.
// Why there is no result that counts: what the announced jobs of a cell came to. Pure.
#include "gate/count.hpp"
#include <string>

namespace quarry::gate {

struct Attempted {
  SuiteState state = SuiteState::untested;
  std::string why; ///< "no machine has taken the job for 8 h: https://…"; empty: nobody has announced a test
  std::string job;
  /// Whether a machine has begun any of the attempts, also one that a later record follows: then the cell has a runner,
  /// whatever the policy says of its family.
  bool taken = false;
};
/// Says what became of the newest attempt at the question's suite on its cell. `newest_result_us` is when the newest
/// result that does not count ended (0: there is none): a job that left that one is not asked for another.
Attempted attempted(const Policy& policy, const Case& input, const Question& question, std::int64_t newest_result_us);

/// Clocks differ: a record may be k_clock_skew_us ahead. One that is further ahead would be the newest for ever.
bool is_early(const registry::AttemptRecord& attempt, std::int64_t now_us);
/// G031 for each of them.
void note_early_attempts(const Case& input, Findings& notes);

} // namespace quarry::gate
