#pragma once
// Is a slow variant slow because of its runner or because of what it builds? Durations of the phases and actions that
// all variants have in common are split into a factor of the runner, which all of them share, and what is left, which
// belongs to the content (median polish of the logarithms; Tukey 1977). Logs with fewer than three of them in common
// are compared by the steps of the GitHub job. Pure.
#include "buildlog/times.hpp"
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_common_min = 3;    ///< durations in common; fewer prove nothing
constexpr double k_common_seconds_min = 5; ///< shorter ones are noise of the samples

struct RunnerFactor {
  std::string variant;
  double total = 0;                     ///< seconds of the log
  double factor = 1, low = 1, high = 1; ///< against the fastest variant, with its interval of 95 %
  double content = 0;                   ///< seconds that the factor does not explain
};

struct ContentEffect {
  std::string variant, what;
  double seconds = 0, expected = 0;
};

struct TimeComparison {
  std::size_t common = 0; ///< phases and actions in all variants, or steps
  bool by_steps = false;  ///< common counts steps
  std::vector<RunnerFactor> runners;
  std::vector<ContentEffect> effects; ///< largest first
  double runner_share = 0;            ///< of the variance between variants, 0 to 1
  bool same_actions = false;          ///< Bazel counts as many actions in every variant, and counts some
};

/// Errors: X504 with fewer than two logs, or with fewer than k_common_min in common.
Result<TimeComparison> compare_times(const std::vector<TimeReport>& reports);

/// What a change would save, in seconds for each report; never negative.
struct Saving {
  std::string change; ///< "--cached llvm"
  std::string basis;  ///< what the figures are from
  std::vector<double> seconds;
  double total = 0;
};

struct TargetCount {
  unsigned now = 1, then = 1;
};
/// "9=2". Error: X505.
Result<TargetCount> parse_targets(const std::string& text);

/// Compile for fewer GPU targets: the actions for which the build waited shrink in proportion.
Saving fewer_targets(const std::vector<TimeReport>& reports, TargetCount targets);
/// A phase is taken from a cache, or done once for all variants. `name`: a part of the phase's name, in any case.
/// Error: X505 if no phase has such a name.
Result<Saving> cached_phase(const std::vector<TimeReport>& reports, const std::string& name);
Result<Saving> shared_phase(const std::vector<TimeReport>& reports, const std::string& name);

} // namespace quarry::buildlog
