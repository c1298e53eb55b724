#pragma once
// What lines of build logs mean, as reviewed data (data/log-rules.toml, docs/formats/log-rules.md). A value once
// parsed; thread-safe.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "buildlog/pattern.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_rules_bytes_max = 1u << 20; ///< the shipped file has 12 kB

/// Lines that say nothing a reader needs.
struct NoiseRule {
  enum class Kind : std::uint8_t { plain, bazel, insecure, compiler } kind = Kind::plain;
  std::string name, hint;         ///< "auditwheel debug", how to have less of it
  std::vector<Pattern> continues; ///< lines that belong to the matching line before them
};

/// Lines that say why a job failed.
struct FailureRule {
  std::string name, kind; ///< "compiler error"; code, test, network, disk, memory, runner, timeout, cancelled, access
  bool proof = false;     ///< the job has failed if this line is there
  bool effect = false;    ///< follows from another failure: never the first one if there is a cause
  bool traceback = false; ///< the next line that names an exception says what failed
};

/// Lines that tests print although they pass.
struct PassingRule {
  std::string name, fix;
};

/// Warnings that say no flag of a compiler and no category of Python: of a linker, of CMake, of a step.
struct WarningRule {
  std::string name;
  bool below = false; ///< the line says where; the first line below it that begins with blanks says what
};

/// A tool that may be verbose: the lines that begin an invocation, and the noise that a verbose one prints.
struct ToolRule {
  std::string name, noise, fix;
  std::vector<Pattern> begin;
};

/// A part of a build: the lines with which it begins and ends; the commands of docker's build steps and the targets of
/// Bazel's invocations that it is.
struct PhaseRule {
  std::string name;
  std::vector<Pattern> begin, end, docker, bazel;
};

struct Rules {
  std::vector<NoiseRule> noise;
  std::vector<FailureRule> failures;
  std::vector<PassingRule> passing;
  std::vector<WarningRule> warnings;
  std::vector<ToolRule> tools;
  std::vector<PhaseRule> phases;
  std::vector<Pattern> device_actions; ///< compile code for each GPU target
  PatternSet lines;                    ///< of noise, failures, passing and warnings, by the numbers below
  int failure_base = 0, passing_base = 0, warning_base = 0;
  PatternSet phase_lines; ///< 2n: begins phase n, 2n + 1: ends it
};

/// Words that the reader itself looks for, by their bit in PatternSet::Match::words.
enum Word : std::uint8_t {
  k_python_warning,
  k_deprecated,
  k_removed,
  k_unsupported,
  k_end_of_life,
  k_passed,
  k_wheel,
  k_words
};

/// Strict: an unknown key, a pattern that says nothing and a name that appears twice are refused with file, line and
/// key. Errors: X500 (not TOML, too large), X501.
Result<Rules> parse_rules(NamedText named);

} // namespace quarry::buildlog
