#pragma once
// JUnit reports of several variants side by side: counts, what is skipped everywhere and what in some variants only,
// tests that pass and fail in the same variant, the slowest. Pure but for reading; XML is read without entities and
// document types (base/xml.hpp).
#include "base/finding.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_reports_max = 1'000; ///< of one command
constexpr std::size_t k_slowest = 10;

struct VariantTests {
  std::string variant;
  std::uint64_t reports = 0;                                  ///< files
  std::uint64_t run = 0, passed = 0, failed = 0, skipped = 0; ///< run: passed or failed; failed: errors too
  double seconds = 0;                                         ///< sum over the tests
  std::uint64_t impossible_times = 0;                         ///< tests whose time is not one: 0 s in the sum
};

struct TestInVariants {
  std::string test, message;
  std::vector<std::string> variants;
};

struct FlakyTest {
  std::string test, variant;
  std::uint64_t passed = 0, failed = 0;
};

struct SlowTest {
  std::string test, variant;
  double seconds = 0;
};

struct TestsReport {
  std::vector<VariantTests> variants; ///< in the order given
  std::vector<TestInVariants> failed; ///< failed at least once and never passed in the variants listed
  std::vector<TestInVariants> skipped_everywhere, skipped_in_some;
  std::vector<FlakyTest> flaky;
  std::vector<SlowTest> slowest; ///< at most k_slowest
};

struct JunitFile {
  std::string path, variant;
};
/// `FILE`, `LABEL=FILE`, or a directory with `.xml` files, each a variant called like the file. Files of one name in
/// several directories are called like these (variants.hpp). Reports with one label are repetitions. `-` is standard
/// input, and pipes may be named. Errors: D001, X502.
Result<std::vector<JunitFile>> find_reports(const std::vector<std::string>& named);

/// A report that cannot be read is an error finding with its code (D001, X010, X011), and the others are read. Fails
/// with the first of them if no report can be read, and with D006 when the program is interrupted.
Result<TestsReport> report_tests(const std::vector<JunitFile>& files, Findings& findings);

} // namespace quarry::buildlog
