#pragma once
// The first failure of a log: not the first line that says "error", but the first cause in the part of the log that a
// proven failure ends. Memory: k_candidates_max lines with their context.
#include "buildlog/lines.hpp"
#include "buildlog/rules.hpp"
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_context_lines = 5;    ///< before and behind; noise is left out
constexpr std::size_t k_candidates_max = 256; ///< causes that are remembered while no failure is proven
constexpr std::uint64_t k_cause_distance_max =
    2'000;                                           ///< lines between a cause and the proof, if no step begins between
constexpr std::uint64_t k_traceback_lines_max = 200; ///< Python prints at most that many of a deep recursion

struct ContextLine {
  std::uint64_t number = 0;
  std::string text;
};

struct Failure {
  std::string name, kind; ///< of the rule: "compiler error", "code"
  std::uint64_t line = 0;
  std::string text;
  std::vector<ContextLine> before, behind;
  std::uint64_t proof_line = 0; ///< the line that proves that the job failed
  std::string proof;
  std::string step; ///< as `gh run view --log` names it; empty: not known
};

class FailureFinder {
public:
  explicit FailureFinder(const Rules& rules) : rules_(rules) {}
  void take(const Line& line, int rule); ///< a line that is not noise; rule: of rules.failures, -1: none
  void begin_step(std::uint64_t line) { step_ = line; }
  void name_step(std::string_view name) { step_name_ = name; } ///< of the lines that follow
  /// nullopt if no line proves a failure.
  std::optional<Failure> first() const;

private:
  struct Candidate {
    int rule = 0;
    ContextLine line;
    std::vector<ContextLine> before, behind;
    std::string step;
  };
  int end_traceback(const Line& line, int rule);
  const Rules& rules_;
  bool traceback_ = false; ///< the last cause is a traceback that goes on
  std::deque<ContextLine> recent_;
  std::deque<Candidate> causes_;
  std::optional<Candidate> proof_;
  std::uint64_t step_ = 0, proof_step_ = 0;
  std::string step_name_;
};

} // namespace quarry::buildlog
