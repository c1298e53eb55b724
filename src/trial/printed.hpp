#pragma once
// Private to the room.
// What Python's unittest prints, read as a report: for packages whose `rocm-sdk test` writes no report. Untrusted
// input.
#include "base/result.hpp"
#include "trial/report.hpp"
#include <string_view>

namespace quarry::trial {

/// Reads the output of one TextTestRunner with verbosity 2 or more, between whatever the tests print themselves.
/// Returns a row for each test and failed subtest, called `module.Class.test`; unittest prints no times, so they are 0.
/// Python 3.8 to 3.13 write it alike, but for subtests. The last lines decide: `Ran N tests in S s` and `OK` or `FAILED
/// (…)`. corrupt X030: those lines are missing or occur twice, no test ran, or the counts, the tests shown, the
/// failures shown and the exit code do not agree. Pure; linear in the text.
Result<Report> parse_unittest_output(std::string_view text, int exit_code);

} // namespace quarry::trial
