#pragma once
// Where the time of a build went, as far as its log tells: phases, with what no phase claims in a row of its own; the
// longest actions; Bazel's critical paths. Times come from the stamps of GitHub or teatime, else from what docker,
// Bazel and pytest print. One pass; memory does not grow with the log.
#include "buildlog/input.hpp"
#include "buildlog/rules.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_actions_max = 20'000;   ///< different actions of one log
constexpr std::size_t k_intervals_max = 10'000; ///< phases of one log, one after the other
constexpr std::size_t k_steps_max = 1000;       ///< of one log
constexpr std::size_t k_open_max = 256;         ///< phases that are open at once

struct PhaseTime {
  std::string name;
  double seconds = 0;
  std::uint64_t times = 0; ///< how often the phase began
};

struct StepTime { ///< from "##[group]Run NAME" of GitHub to the next one
  std::string name;
  double seconds = 0;
  std::uint64_t line = 0; ///< of its begin
};

struct PhaseInterval { ///< in seconds since the log began
  std::string name;
  double begin = 0, end = 0;
};

/// What Bazel's progress names again and again. A log holds samples: an action that no line names is not in it.
struct ActionTime {
  std::string phase, name;
  double seconds = 0; ///< the largest that a line says, or from the first to the last line that names it
  double alone = 0;   ///< while consecutive lines named this action: the build waited for it
  std::uint64_t lines = 0;
  bool device = false; ///< compiles code for each GPU target
};

struct BazelBuild {
  std::string phase, target;
  double elapsed = -1, critical = -1; ///< -1: not printed
  std::uint64_t actions = 0;
};

struct TimeReport {
  std::string name, variant;
  bool stamped = false; ///< the lines have time stamps; else total is the sum of what tools print
  double total = 0, unattributed = 0;
  std::uint64_t lines = 0;
  std::vector<PhaseTime> phases;        ///< longest first, without the unattributed time
  std::vector<StepTime> steps;          ///< longest first; empty without stamps
  std::vector<PhaseInterval> intervals; ///< by begin; empty without stamps
  std::vector<ActionTime> actions;      ///< longest first
  std::vector<BazelBuild> builds;
};

/// Errors: those of reading; X503 if the log has neither stamps nor a duration that a tool printed.
Result<TimeReport> report_times(const Input& input, const Rules& rules);

} // namespace quarry::buildlog
