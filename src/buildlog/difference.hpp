#pragma once
// What a bad log says and a good one of the same job does not: lines are compared without numbers, hexadecimal digests
// and names of temporary directories; noise is left out. Memory: k_known_max lines of the good log as 8 bytes each.
#include "buildlog/failure.hpp"
#include "buildlog/input.hpp"
#include "buildlog/rules.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_known_max = 4'000'000; ///< different lines of the good log: 32 MB
constexpr std::size_t k_fresh_max = 1'000;     ///< different new lines that are kept

struct FreshLine {
  std::string text;
  std::uint64_t first = 0, count = 0; ///< line number in the bad log
  bool failure = false;               ///< a line of [[failure]] in the rules
  std::string under = {};             ///< of an indented line: the line that it belongs to, if both logs have that
};

struct LogDifference {
  std::uint64_t good_lines = 0, bad_lines = 0, fresh_lines = 0;
  std::vector<FreshLine> fresh;   ///< in the order of the bad log
  std::uint64_t left_out = 0;     ///< new lines beyond k_fresh_max
  bool all_known = true;          ///< false: the good log has more than k_known_max different lines
  std::optional<Failure> failure; ///< of the bad log
};

/// The line without what differs between two runs of the same job. Pure.
std::string comparable(std::string_view line);

/// Reads both logs once. Errors: those of reading.
Result<LogDifference> compare_logs(const Input& good, const Input& bad, const Rules& rules);

} // namespace quarry::buildlog
