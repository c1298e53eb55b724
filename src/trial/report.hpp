#pragma once
// What a test command says about itself: rows and counts, from JUnit XML or from `rocm-sdk test --json`. Untrusted
// input.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::trial {

constexpr std::uint64_t k_report_bytes_max = 64u << 20;
constexpr std::size_t k_rows_max = 200'000;       ///< four times the largest GPU test job
constexpr std::size_t k_name_bytes_max = 1024;    ///< of a row; longer ones are cut
constexpr std::size_t k_message_bytes_max = 4096; ///< the rest is in the log

struct Report {
  std::vector<registry::TestRow> rows; ///< in the order of the report
  std::uint64_t passed = 0, failed = 0, skipped = 0, errors = 0;
  std::uint64_t impossible_times = 0; ///< rows whose time is not a number from 0 to a year of seconds: 0 s in the row
  std::string version;                ///< of what was tested, if the report says so
  /// Counts by outcome; any other outcome than passed, failed and skipped becomes error.
  void add(registry::TestRow row);
};

/// JUnit XML as pytest, gtest, ctest and Maven write it. A suite that admits failures which no test case shows gets a
/// row of its own, so that nothing is lost. corrupt X010 (not readable, too many rows), X011 (not a JUnit report).
Result<Report> parse_junit(NamedText named);

/// {"schema":"rocm-sdk.test/1","version":…,"counts":{…},"rows":[{"name","outcome","message","seconds"}]}. corrupt X012;
/// counts that do not agree with the rows are corrupt too.
Result<Report> parse_rocm_sdk_report(NamedText named);

} // namespace quarry::trial
