#pragma once
// What is in a log: noise by source, runs of it, the first failure, warnings once each, deprecations with their days,
// what passing tests print, tools that are verbose in one step alone, wheels that have two files in one directory. One
// pass; memory does not grow with the log.
#include "base/finding.hpp"
#include "buildlog/failure.hpp"
#include "buildlog/input.hpp"
#include "buildlog/noise.hpp"
#include "buildlog/rules.hpp"
#include "buildlog/warnings.hpp"
#include "buildlog/wheel_copies.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_templates_max = 20'000; ///< different remaining lines that are counted
constexpr std::size_t k_repeated_max = 20;      ///< of them, the most frequent are reported
constexpr std::size_t k_calls_max = 1024;       ///< calls of a tool

struct RepeatedLine { ///< a line that is not noise and comes again and again; numbers in it may differ
  std::string text;
  std::uint64_t count = 0, first = 0;
};

struct PassingWarning {
  std::string name, fix, text;
  std::uint64_t count = 0, first = 0;
};

struct ToolCall {
  std::string tool, subject; ///< "auditwheel", "jaxlib"
  std::uint64_t line = 0, noise = 0;
};

struct LogReport {
  std::string name, variant;
  std::uint64_t lines = 0, bytes = 0, noise_lines = 0;
  std::vector<NoiseRow> noise;
  std::vector<NoiseRun> runs;
  std::vector<Warning> warnings;
  std::vector<Deprecation> deprecations;
  std::vector<PassingWarning> passing; ///< in a test log that passed
  std::vector<ToolCall> calls;
  std::vector<WheelCopy> copies;
  std::vector<RepeatedLine> repeated;
  std::optional<Failure> failure;
  bool is_test = false, test_passed = false; ///< pytest's summary is in it, and counts no failure
  std::string test_summary;
  std::uint64_t insecure_requests = 0, insecure_first = 0, uncounted_warnings = 0;
  std::int64_t begin_us = k_no_time, end_us = k_no_time;
};

/// Reads one log to its end. Errors: those of reading.
Result<LogReport> report_log(const Input& input, const Rules& rules);

struct FindingOptions {
  std::int64_t today = 0;        ///< days since 1970
  std::int64_t fail_within = -1; ///< days; -1: a deadline never fails
};
/// What somebody should act on: X510 (deadline), X511 (insecure requests), X512 (one verbose call), X513 (wheel twice),
/// X514 (warning of passing tests), X515 (noise), X517 (first failure, an error). What several logs have, such as those
/// of a matrix, is one finding at the place of the first; its message counts over all of them and names the logs.
Findings findings_of(const std::vector<LogReport>& reports, const Rules& rules, const FindingOptions& options);

} // namespace quarry::buildlog
