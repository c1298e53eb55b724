#include "trial/printed.hpp"

#include "base/text.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>

namespace quarry::trial {
namespace {

using testing::HasSubstr;

/// As they stand in the text of a test: `====` and `----` are unittest's rules of 70 characters, `¶` is behind a blank.
std::string with_rules(std::string_view written) {
  auto text = text::replace_all(written, "¶", "");
  return text::replace_all(text::replace_all(text, "====", std::string(70, '=')), "----", std::string(70, '-'));
}

std::string rows_of(std::string_view text, int exit_code) {
  auto report = parse_unittest_output(with_rules(text), exit_code);
  if (!report) return report.error().code + ": " + report.error().message;
  std::string rows;
  for (const auto& row : report->rows)
    rows += fmt::format("{} {}{}\n", row.outcome.text(), row.name, row.message.empty() ? "" : ": " + row.message);
  return rows;
}

TEST(Printed, TestsThatPassAmongWhatTheyPrintThemselves) {
  EXPECT_EQ(rows_of(R"(NOTE: Skipping profiler tests (not installed)
testCLI (rocm_sdk.tests.base_test.BaseTest.testCLI) ... ++ Exec [python]
ok
testLayout (rocm_sdk.tests.core_test.CoreTest.testLayout)
The two modules must be siblings ... on disk. ... ok
testNoise (rocm_sdk.tests.core_test.CoreTest.testNoise) ... no newlineok
testGpu (rocm_sdk.tests.core_test.CoreTest.testGpu) ... skipped 'no GPU'
testOld (rocm_sdk.tests.core_test.CoreTest.testOld) ... expected failure

----
Ran 5 tests in 0.011s

OK (skipped=1, expected failures=1)
goodbye
)",
                    0),
            R"(passed rocm_sdk.tests.base_test.BaseTest.testCLI
passed rocm_sdk.tests.core_test.CoreTest.testLayout
passed rocm_sdk.tests.core_test.CoreTest.testNoise
skipped rocm_sdk.tests.core_test.CoreTest.testGpu: no GPU
passed rocm_sdk.tests.core_test.CoreTest.testOld
)");
}

constexpr const char* k_failures = R"(
====
ERROR: test_d (t.A{0})
Doc of d.
----
Traceback (most recent call last):
  File "/t.py", line 12, in test_d
    raise RuntimeError("x")
RuntimeError: x

====
ERROR: setUpClass (t.B)
----
Traceback (most recent call last):
  File "/t.py", line 33, in setUpClass
RuntimeError: no class

====
ERROR: test_1 (t.E{1})
----
Traceback (most recent call last):
  File "/t.py", line 43, in tearDown
RuntimeError: td

====
FAIL: test_h (t.A{2}) [Check it] (i=1)
----
Traceback (most recent call last):
  File "/t.py", line 21, in test_h
AssertionError: 1 == 1
two lines

====
FAIL: test_1 (t.E{1})
----
Traceback (most recent call last):
  File "/t.py", line 44, in test_1
AssertionError: a
{3}
----
Ran 7 tests in 0.011s

FAILED (failures=2, errors=3, skipped=3, unexpected successes=1)
)";

/// `named`: whether the parentheses hold the test's name, too, as since Python 3.11.
std::string failures(std::string_view shown, bool named, std::string_view more) {
  std::string text(k_failures);
  for (const auto& [place, name] : {std::pair{"{0}", ".test_d"}, {"{1}", ".test_1"}, {"{2}", ".test_h"}})
    text = text::replace_all(text, place, named ? name : "");
  return std::string(shown) + text::replace_all(text, "{3}", more);
}

TEST(Printed, FailuresAsPython38WritesThem) {
  // Subtests have no lines of their own, nor have classes.
  auto text = failures(R"(test_d (t.A)
Doc of d. ... ERROR
test_g (t.A) ... unexpected success
test_h (t.A) ... test_i (t.A)
Doc of i ... skipped 'sub'
skipped 'sub'
test_k (t.A) ... ok
ERROR
test_1 (t.D) ... skipped "it's"
test_1 (t.E) ... FAIL
ERROR
)",
                       false, "");
  EXPECT_EQ(rows_of(text, 1), R"(error t.A.test_d: RuntimeError: x
failed t.A.test_g: it passed, and is expected to fail
skipped t.A.test_i: sub
skipped skipped: sub
passed t.A.test_k
skipped t.D.test_1: it's
error t.E.test_1: RuntimeError: td
error t.B.setUpClass: RuntimeError: no class
failed t.A.test_h [Check it] (i=1): AssertionError: 1 == 1
two lines
)");
}

TEST(Printed, FailuresAsPython313WritesThem) {
  auto text = failures(R"(test_d (t.A.test_d)
Doc of d. ... ERROR
test_g (t.A.test_g) ... unexpected success
test_h (t.A.test_h) ... ¶
  test_h (t.A.test_h) [Check it] (i=1) ... FAIL
test_i (t.A.test_i)
Doc of i ... ¶
  test_i (t.A.test_i) (i=0)
Doc of i ... skipped 'sub'
  test_i (t.A.test_i) (i=1)
Doc of i ... skipped 'sub'
test_k (t.A.test_k) ... ok
setUpClass (t.B) ... ERROR
test_1 (t.D.test_1) ... skipped "it's"
test_1 (t.E.test_1) ... FAIL
test_1 (t.E.test_1) ... ERROR
)",
                       true, "\n====\nUNEXPECTED SUCCESS: test_g (t.A.test_g)");
  EXPECT_EQ(rows_of(text, 1), R"(error t.A.test_d: RuntimeError: x
failed t.A.test_g: it passed, and is expected to fail
failed t.A.test_h [Check it] (i=1): AssertionError: 1 == 1
two lines
skipped t.A.test_i (i=0): sub
skipped t.A.test_i (i=1): sub
passed t.A.test_k
error t.B.setUpClass: RuntimeError: no class
skipped t.D.test_1: it's
error t.E.test_1: RuntimeError: td
)");
}

struct Contradiction {
  const char* name;
  const char* text;
  int exit_code;
  const char* why;
};
class Contradictions : public testing::TestWithParam<Contradiction> {};
TEST_P(Contradictions, AreErrors) {
  auto said = rows_of(GetParam().text, GetParam().exit_code);
  EXPECT_TRUE(said.starts_with("X030: ")) << said;
  EXPECT_THAT(said, HasSubstr(GetParam().why));
}
INSTANTIATE_TEST_SUITE_P(
    Table, Contradictions,
    testing::Values(
        Contradiction{"Nothing", "", 0, "it does not say `Ran N tests in`"},
        Contradiction{"Usage", "usage: rocm-sdk {command} ...\n", 2, "it does not say `Ran N tests in`"},
        Contradiction{"NoTest", "----\nRan 0 tests in 0.000s\n\nOK\n", 0, "no test ran"},
        Contradiction{"NoTestSince312", "----\nRan 0 tests in 0.000s\n\nNO TESTS RUN\n", 0, "no test ran"},
        Contradiction{"Twice", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nOK\nRan 1 test in 0.0s\n\nOK\n", 0, "twice"},
        Contradiction{"NoEnd", "a (t.A) ... ok\nRan 1 test in 0.0s\n", 0, "neither `OK` nor `FAILED`"},
        Contradiction{"OtherEnd", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nOKAY\n", 0, "neither `OK` nor `FAILED`"},
        Contradiction{
            "FailedAndZero",
            "a (t.A) ... FAIL\n\n====\nFAIL: a (t.A)\n----\nE: e\n\n----\nRan 1 test in 0.0s\n\nFAILED (failures=1)\n",
            0, "the exit code is 0"},
        Contradiction{"FailedWithoutCounts", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nFAILED\n", 1,
                      "it ends with `FAILED`"},
        Contradiction{"OkWithFailures", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nOK (failures=1)\n", 0,
                      "it ends with `OK"},
        Contradiction{"FewerThanSaid", "a (t.A) ... ok\nRan 2 tests in 0.0s\n\nOK\n", 0, "2 tests ran, and shows 1"},
        Contradiction{"MoreThanSaid", "a (t.A) ... ok\nb (t.A) ... ok\nRan 1 test in 0.0s\n\nOK\n", 0,
                      "1 test ran, and shows 2"},
        Contradiction{"HiddenSkip", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nOK (skipped=1)\n", 0,
                      "it counts 1 skipped, and shows 0"},
        Contradiction{"HiddenFailure", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nFAILED (failures=1)\n", 1,
                      "it counts 1 failures, and shows 0"},
        Contradiction{"FailureInOk",
                      "a (t.A) ... FAIL\n\n====\nFAIL: a (t.A)\n----\nE: e\n\n----\nRan 1 test in 0.0s\n\nOK\n", 0,
                      "t.A.a did not pass"},
        Contradiction{"FailureNotListed", "a (t.A) ... FAIL\nRan 1 test in 0.0s\n\nOK\n", 0, "t.A.a did not pass"},
        Contradiction{"NoStatus", "a (t.A) ... killed\nRan 1 test in 0.0s\n\nOK\n", 0, "how t.A.a ended"},
        Contradiction{"OtherCount", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nOK (wishes=1)\n", 0, "counts `wishes=1`"},
        Contradiction{"NoNumber", "a (t.A) ... ok\nRan 1 test in 0.0s\n\nOK (skipped=x)\n", 0, "counts `skipped=x`"},
        Contradiction{"NegativeTests", "a (t.A) ... ok\nRan -1 tests in 0.0s\n\nOK\n", 0, "does not say `Ran N tests"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Printed, TheLastFailureHasAMessageToo) {
  EXPECT_EQ(
      rows_of(
          "a (t.A) ... FAIL\n\n====\nFAIL: a (t.A)\nDoc.\n----\nTraceback:\n  File \"t.py\"\nError: why\nand\n\n----\n"
          "Ran 1 test in 0.0s\n\nFAILED (failures=1)\n",
          1),
      "failed t.A.a: Error: why\nand\n");
}

std::string reason_of(const std::string& traceback) {
  auto report = parse_unittest_output(with_rules("a (t.A.a) ... FAIL\n\n====\nFAIL: a (t.A.a)\nDoc.\n----\n" +
                                                 traceback + "\n----\nRan 1 test in 0.0s\n\nFAILED (failures=1)\n"),
                                      1);
  return report && report->rows.size() == 1 ? report->rows[0].message : "no row";
}

constexpr const char* k_own = R"(Traceback (most recent call last):
  File "/t.py", line 44, in a
    self.assertEqual(done.returncode, 0, done.stderr)
    ~~~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
)";
constexpr const char* k_programs = R"(Traceback (most recent call last):
  File "/program.py", line 3, in <module>
    main()
OSError: no device
)";
constexpr const char* k_joint = "\nDuring handling of the above exception, another exception occurred:\n\n";

// A test may quote what a program printed, tracebacks included. The program's exception is not the test's.
TEST(Printed, TheReasonIsTheAssertionThatQuotesAProgramsTraceback) {
  auto assertion = std::string("AssertionError: 1 != 0 : it said\n") + k_programs;
  EXPECT_EQ(reason_of(k_own + assertion), text::trim(assertion));
  auto chained = assertion + k_joint + k_programs; // the program's own chain
  EXPECT_EQ(reason_of(k_own + chained), text::trim(chained));
  std::string difference = "AssertionError: 'a\\n  b' != 'a\\n  c'\n  a\n-   b\n+   c\n";
  EXPECT_EQ(reason_of(k_own + difference), text::trim(difference));
}

TEST(Printed, TheReasonIsTheLastOfTheTestsOwnExceptions) {
  auto cause = std::string("Traceback (most recent call last):\n  File \"/t.py\", line 40, in a\n") +
               "KeyError: it said\n" + k_programs + k_joint;
  EXPECT_EQ(reason_of(cause + k_own + "AssertionError: last\n"), "AssertionError: last");
  // A decorator may hide the method; a chain that quotes nothing is the test's all the same.
  auto plain = std::string(k_programs) + k_joint;
  EXPECT_EQ(
      reason_of(plain + "Traceback (most recent call last):\n  File \"/t.py\", line 1, in wrapped\nValueError: x\n"),
      "ValueError: x");
}

TEST(Printed, AModuleThatCannotBeImportedSaysWhy) {
  EXPECT_EQ(reason_of(std::string("ImportError: Failed to import test module: t\n") + k_programs),
            "OSError: no device");
}

TEST(Printed, ALongReportIsReadInOnePass) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += fmt::format("  t (m.C.t) (i={}) ... FAIL\n", i);
  auto report = parse_unittest_output(text + "Ran 1 test in 1.0s\n\nFAILED (failures=1)\n", 1);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "X030");
}

} // namespace
} // namespace quarry::trial
