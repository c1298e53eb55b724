#pragma once
// Counts lines that say nothing, by source, and the runs of such lines that a reader sees as one. Memory is bounded by
// the number of rules and the constants below.
#include "buildlog/lines.hpp"
#include "buildlog/rules.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::buildlog {

constexpr std::uint64_t k_run_lines_min = 10;  ///< shorter runs are read as fast as a remark about them
constexpr std::size_t k_runs_max = 64;         ///< the longest are kept
constexpr std::size_t k_subjects_max = 4096;   ///< actions that are told apart
constexpr std::size_t k_shown_bytes_max = 400; ///< of a line that is kept

/// "[5,340 / 13,216] Compiling x.cc; 512s local … (4 actions running)"; a further line of it has no counts.
struct BazelProgress {
  std::uint64_t done = 0, total = 0;
  std::string_view action; ///< "Compiling x.cc"; empty if the line names none
  double seconds = -1;     ///< -1: not said
};
/// False if the line is not Bazel's progress.
bool parse_bazel(std::string_view line, BazelProgress& into);

/// Lines of one source that follow each other.
struct NoiseRun {
  std::string source, subject; ///< "Bazel progress", "Compiling x.cc"
  std::uint64_t first = 0, lines = 0;
  std::int64_t span_us = 0; ///< 0 if the log has no time stamps
};

struct NoiseRow {
  std::string source, hint, remark; ///< remark: "1,489 of Compiling x.cc"
  std::uint64_t lines = 0, bytes = 0;
};

/// At most `max` bytes, cut between characters; bytes that are not UTF-8 become U+FFFD. So do the controls of
/// terminals between U+007F and U+009F and those that change the direction of writing; others are blanks.
std::string shown(std::string_view text, std::size_t max = k_shown_bytes_max);

class NoiseCounter {
public:
  explicit NoiseCounter(const Rules& rules) : rules_(rules), counts_(rules.noise.size()) {}
  void take(const Line& line, int rule);  ///< a line of rules.noise[rule]
  void interrupt(const Line& line);       ///< a line that is not noise
  bool continues(const Line& line) const; ///< belongs to the noise line before it
  int last() const { return now_.rule; }  ///< the rule of the line before, -1 if it was not noise
  void finish();

  std::vector<NoiseRow> rows() const; ///< most lines first; sources without a line are left out
  std::vector<NoiseRun> runs() const; ///< longest first
  std::uint64_t lines() const;
  std::uint64_t lines_of(std::string_view source) const;

private:
  struct Count {
    std::uint64_t lines = 0, bytes = 0;
  };
  /// The run that the line before belongs to.
  struct Current {
    int rule = -1; ///< of rules.noise; -1: that line was not noise
    NoiseRun run;
    std::uint64_t bytes = 0;
    std::int64_t begin_us = k_no_time, end_us = k_no_time;
  };
  void close();
  const Rules& rules_;
  std::vector<Count> counts_;
  Count stuck_; ///< of Bazel's lines, those of actions that it names again and again
  std::map<std::string, std::uint64_t, std::less<>> stuck_subjects_;
  std::vector<NoiseRun> runs_;
  Current now_;
};

} // namespace quarry::buildlog
