#include "buildlog/report.hpp"

#include "base/text.hpp"
#include "buildlog/compare.hpp"
#include "buildlog/difference.hpp"
#include "buildlog/times.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::buildlog {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Rules& rules() {
  static const Rules shipped = [] {
    auto text = sys::read_file(QUARRY_SOURCE_DIR "/data/log-rules.toml");
    auto parsed = parse_rules({text.value(), "data/log-rules.toml"});
    if (!parsed) ADD_FAILURE() << parsed.error().message;
    return std::move(parsed).value();
  }();
  return shipped;
}

Input input(std::string text, std::string name = "build.log") {
  return {name, "build", text.size(), [text](const auto& block) -> Result<void> {
            block(text);
            return {};
          }};
}

LogReport report(const std::string& text) {
  auto read = report_log(input(text), rules());
  EXPECT_TRUE(read);
  return std::move(read).value();
}

std::vector<std::string> codes(const LogReport& of, std::int64_t fail_within = -1) {
  std::vector<std::string> found;
  for (const auto& f : findings_of({of}, rules(), {days_of("2026-02-24"), fail_within}))
    found.push_back(std::string(to_string(f.severity)) + " " + f.code);
  return found;
}

std::string repeated(const std::string& line, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += line + "\n";
  return out;
}

TEST(Noise, CountsEveryLineOnceAndNamesStuckActions) {
  auto read = report(repeated("[1 / 9] Compiling slow.cc; 4s local", 12) +
                     "[2 / 9] Compiling a.cc; 1s local\n[3 / 9] Compiling b.cc\n    Compiling c.cc; 8s local\n" +
                     "-- Installing: /x\nsomething else\n");
  EXPECT_EQ(read.lines, 17u);
  EXPECT_EQ(read.noise_lines, 16u);
  ASSERT_EQ(read.noise.size(), 3u);
  EXPECT_EQ(read.noise[0].source, "Bazel progress of stuck actions");
  EXPECT_EQ(read.noise[0].remark, "12 of Compiling slow.cc");
  EXPECT_EQ(read.noise[1].lines, 3u);
  ASSERT_EQ(read.runs.size(), 1u);
  EXPECT_EQ(read.runs[0].subject, "Compiling slow.cc");
}

TEST(Noise, LinesBelowAWarningBelongToIt) {
  auto read = report("a.cpp:1:2: warning: old [-Wold]\n   12 | int x;\n      |     ^\na.cpp:3:2: note: declared "
                     "here\nint x;\n   12 | not after a warning\n");
  EXPECT_EQ(read.noise_lines, 4u);
  ASSERT_EQ(read.warnings.size(), 1u);
  EXPECT_EQ(read.warnings[0].flag, "-Wold");
  EXPECT_EQ(read.warnings[0].place, "a.cpp:1:2");
}

TEST(Noise, BazelsProgress) {
  BazelProgress progress;
  ASSERT_TRUE(parse_bazel(
      "[5,340 / 13,216] 16 actions, 15 running; Compiling x.cc; 512s local ... (16 actions running)", progress));
  EXPECT_EQ(progress.done, 5340u);
  EXPECT_EQ(progress.total, 13216u);
  EXPECT_EQ(progress.action, "Compiling x.cc");
  EXPECT_EQ(progress.seconds, 512);
  EXPECT_FALSE(parse_bazel("[ 42%] Building x", progress));
  EXPECT_FALSE(parse_bazel("    a line of a list", progress));
}

TEST(Deprecations, DatesAreFoundAndLinesAreCountedOnce) {
  std::string warning = "/x/setuptools/dist.py:7: SetuptoolsDeprecationWarning: Cannot find any files.\n!!\n\n        "
                        "****\n        Pattern 'LICENSE.txt' did not match any files.\n\n"
                        "        By 2026-Mar-20, you need to update your project and remove deprecated calls\n        "
                        "or your builds will no longer be supported.\n        ****\n\n!!\n";
  auto read = report(warning + "between\n" + warning);
  ASSERT_EQ(read.deprecations.size(), 1u);
  EXPECT_EQ(read.deprecations[0].subject,
            "SetuptoolsDeprecationWarning: Cannot find any files. Pattern 'LICENSE.txt' did not match any files.");
  EXPECT_EQ(read.deprecations[0].deadline, "2026-Mar-20");
  EXPECT_EQ(read.deprecations[0].count, 2u);
  EXPECT_THAT(codes(read), ElementsAre("warning X510"));
  EXPECT_THAT(codes(read, 23), ElementsAre("warning X510"));
  EXPECT_THAT(codes(read, 24), ElementsAre("error X510"));
}

TEST(Failures, SummariesOfTestRunners) {
  for (const auto* line :
       {"The following tests FAILED:", "test result: FAILED. 1 passed; 1 failed; 0 ignored", "--- FAIL: TestX (0.00s)",
        "FAILED (failures=1)", "FAILED (errors=2, skipped=1)", "Error: Process completed with exit code 1."}) {
    auto read = report("before\n" + std::string(line) + "\n");
    ASSERT_TRUE(read.failure) << line;
    EXPECT_EQ(read.failure->line, 2u);
    EXPECT_THAT(codes(read), ElementsAre("error X517"));
  }
  EXPECT_THAT(codes(report("test result: ok. 3 passed; 0 failed; 0 ignored\n--- PASS: TestFail (0.00s)\n--- SKIP: T\n"
                           "OK (skipped=1, expected failures=1)\n100% tests passed, 0 tests failed out of 3\n"
                           "The following tests did not run:\nProcess completed with exit code 0.\n"
                           "FAILED (retry on) x=1\nsaid --- FAIL: a\n")),
              IsEmpty());
}

TEST(Lines, AreShownWithoutHiddenControls) {
  EXPECT_EQ(shown("a\tb\nc\x7F"
                  "d\xC2\x9B"
                  "31m\xE2\x80\xAE\xE2\x81\xA6."),
            "a b c\xEF\xBF\xBD"
            "d\xEF\xBF\xBD"
            "31m\xEF\xBF\xBD\xEF\xBF\xBD.");
  for (const auto& text :
       {std::string(40, 'a'), std::string(40, '\xFF'), std::string(10, '\xFF'), std::string(11, 'a')})
    EXPECT_LE(shown(text, 10).size(), 10u) << text;
  EXPECT_EQ(shown("0123456789", 10), "0123456789");
  EXPECT_EQ(shown("0123456789a", 10), "0123456…");
  const std::string plain = "\xC2\xA0\xE2\x80\x94\xE2\x86\x92\xE2\x81\xB0 caf\xC3\xA9";
  EXPECT_EQ(shown(plain), plain);
}

TEST(Deprecations, AMonthBeginsOrEndsByItsPreposition) {
  auto day = [](const std::string& text) { return find_day(text)->day; };
  EXPECT_EQ(day("removed in March 2027"), days_of("2027-03-01"));
  EXPECT_EQ(day("works until March 2027"), days_of("2027-03-31"));
  EXPECT_EQ(day("works until the end of December 2026"), days_of("2026-12-31"));
  EXPECT_EQ(day("by March 20, 2027"), days_of("2027-03-20"));
}

TEST(Warnings, WithoutAFlagOfACompiler) {
  auto read = report("##[warning]No files were found\n##[warning]No files were found\n"
                     "CMake Warning at cmake/x.cmake:12 (message):\n  Boost is missing\n\n"
                     "CMake Warning (dev):\nnext\n"
                     "a.cpp(7): warning C4996: 'strcpy': unsafe\n/usr/bin/ld: warning: x.o: missing .note.GNU-stack\n"
                     "WARNING: Running pip as root\nWarning: x.js is old\n"
                     "p.py:1: UserWarning: odd\nb.c:1:2: warning: unused [-Wunused]\n");
  std::vector<std::string> said;
  for (const auto& w : read.warnings) said.push_back(fmt::format("{} {}|{}|{}", w.count, w.flag, w.message, w.place));
  EXPECT_THAT(
      said,
      ::testing::UnorderedElementsAre(
          "2 of a step|No files were found|",
          "1 of CMake|Boost is missing|CMake Warning at cmake/x.cmake:12 (message):",
          "1 of CMake|CMake Warning (dev):|CMake Warning (dev):", "1 of Microsoft's compiler|'strcpy': unsafe|a.cpp(7)",
          "1 of a compiler or linker|x.o: missing .note.GNU-stack|/usr/bin/ld", "1 of a program|Running pip as root|",
          "1 of a program|x.js is old|", "1 UserWarning|odd|p.py:1:", "1 -Wunused|unused|b.c:1:2"));
  EXPECT_TRUE(read.deprecations.empty());
}

TEST(Deprecations, OneSubjectMayHaveSeveralDeadlines) {
  for (std::string thing : {"foo is", "foo v1 is"}) {
    auto later = "DeprecationWarning: " + thing + " deprecated and will be removed in 2027-12-01\n";
    auto sooner = text::replace_all(text::replace_all(later, "v1", "v2"), "2027-12", "2026-03");
    auto read = report(later + sooner + later);
    ASSERT_EQ(read.deprecations.size(), 2u);
    EXPECT_EQ(read.deprecations[0].deadline, "2026-03-01");
    EXPECT_EQ(read.deprecations[1].count, 2u);
    EXPECT_THAT(codes(read, 5), ElementsAre("error X510", "warning X510"));
  }
}

TEST(Deprecations, ADeadlineThatIsSaidOnceCountsForAllOfTheSubject) {
  std::string plain = "x.py:7: DeprecationWarning: old call\n", dated = plain + "  It is gone after 2026-03-01.\n";
  for (const auto& text : {plain + "between\n" + dated, dated + "between\n" + plain}) {
    auto read = report(text);
    ASSERT_EQ(read.deprecations.size(), 1u);
    EXPECT_EQ(read.deprecations[0].deadline, "2026-03-01");
    EXPECT_EQ(read.deprecations[0].count, 2u);
  }
  auto one = report(dated), two = report(text::replace_all(dated, "2026", "2027"));
  EXPECT_EQ(findings_of({two, one}, rules(), {days_of("2026-02-24"), 60}).size(), 2u);
}

TEST(Deprecations, FormsOfDeadlines) {
  struct Case {
    const char *line, *deadline;
    bool dated;
  };
  const Case cases[] = {
      {"##[warning]Node.js 20 actions are deprecated and will be removed on June 2, 2026.", "June 2, 2026", true},
      {"x.py:3: FutureWarning: gone after 2026-05-01", "2026-05-01", true},
      {"x.py:3: DeprecationWarning: support ends on 3 May 2026", "3 May 2026", true},
      {"tarfile.py:1: DeprecationWarning: Python 3.14 will, by default, filter extracted tar archives", "Python 3.14",
       false},
      {"pip: x is deprecated and will be removed in 26.1.", "version 26.1", false},
      {"x.py:3: DeprecationWarning: do not", "", false},
      {"##[warning]Node.js 20 actions are deprecated, starting June 2nd, 2026. See "
       "https://docs.github.com/changelog/2025-09-19-deprecation/",
       "June 2nd, 2026", true},
      {"##[warning]set-output is deprecated. See https://docs.github.com/changelog/2022-10-11-set-output/", "", false},
      {"##[warning]x is deprecated on March 3, 2025 and will be removed on January 15, 2027.", "January 15, 2027",
       true},
      {"##[warning]x was deprecated on 2025-03-03", "", false},
      {"##[warning]x (announced 2026-12-01) is deprecated", "", false},
      {"##[warning]the model gpt-2026-12-10 is deprecated", "", false},
      {"##[warning]x is deprecated: it will be deprecated on 2026-12-10", "2026-12-10", true},
      {"##[warning]x is deprecated and will be removed by 2026/12/10", "2026/12/10", true},
      {"x.py:3: DeprecationWarning: it will be removed in March 2027.", "March 2027", true},
      {"x.py:3: DeprecationWarning: it works until December 2026.", "December 2026", true},
      {"x.py:3: DeprecationWarning: deprecated since March 2025", "", false},
      {"x.py:3: DeprecationWarning: see the notes of March 2025", "", false},
  };
  for (const auto& c : cases) {
    auto read = report(std::string(c.line) + "\n");
    ASSERT_EQ(read.deprecations.size(), 1u) << c.line;
    EXPECT_EQ(read.deprecations[0].deadline, c.deadline) << c.line;
    EXPECT_EQ(read.deprecations[0].day >= 0, c.dated) << c.line;
  }
  EXPECT_TRUE(report("cc -Wno-deprecated -c x.c\nthe 20 March 2026 report\n").deprecations.empty());
}

TEST(Failure, TheCauseAndNotWhatFollowsFromIt) {
  auto read = report("##[group]Run configure\nprobe.c:1:1: error: no such header\n##[endgroup]\n##[group]Run make\ncc "
                     "a.c\na.c:3:1: error: expected ';'\nmake: *** [a.o] Error 1\n"
                     "##[error]Process completed with exit code 2.\n");
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->line, 6u);
  EXPECT_EQ(read.failure->name, "compiler error");
  EXPECT_EQ(read.failure->proof_line, 7u);
  ASSERT_EQ(read.failure->before.back().text, "cc a.c");
  EXPECT_EQ(read.failure->behind.front().text, "make: *** [a.o] Error 1");
  EXPECT_THAT(codes(read), ElementsAre("error X517"));
}

// `|| true`: the step went on, and another one failed.
TEST(Failure, IsInTheStepThatGitHubSaysHasFailed) {
  auto read = report("##[group]Run probe || true\nCMake Error at a.txt:1\nmake: *** [x] Error 1\n##[group]Run make\n"
                     "a.c:3:1: error: expected ';'\n##[error]Process completed with exit code 2.\n"
                     "##[group]Run upload\n##[error]Process completed with exit code 1.\n");
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->line, 5u);
  EXPECT_EQ(read.failure->proof_line, 6u);
}

TEST(Failure, CausesMayFollowTheProof) {
  auto read = report(
      "FAILED: [code=1] a.o\ncc -c a.c\na.c:3:1: error: expected ';'\nninja: build stopped: subcommand failed.\n");
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->line, 3u);
  EXPECT_EQ(read.failure->proof_line, 1u);
}

TEST(Failure, NothingIsReportedOfAJobThatWentWell) {
  auto read = report(
      "probe.c:1:1: error: no such header\nTraceback (most recent call last):\n-- Performing Test X - Failed\ndone\n");
  EXPECT_FALSE(read.failure);
  EXPECT_TRUE(codes(read).empty());
}

TEST(Failure, ATracebackEndsWithWhatFailed) {
  auto read = report("Traceback (most recent call last):\n  File \"a.py\", line 1\nother: output\n    "
                     "x()\nmodule.ValueError: no such x\n"
                     "##[error]Process completed with exit code 1.\n");
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->text, "module.ValueError: no such x");
  EXPECT_EQ(read.failure->name, "Python exception");
  EXPECT_EQ(read.failure->before.back().text, "    x()");
}

TEST(Failure, ATimeLimitIsTheFailureWhateverCameBefore) {
  auto read = report("ImportError: no x\n##[error]The action 'Test' has timed out after 360 minutes.\n");
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->kind, "timeout");
  EXPECT_EQ(read.failure->line, 2u);
}

TEST(Failure, KindsTellWhatToDo) {
  auto kind = [](const std::string& line) {
    auto read = report(line + "\n##[error]Process completed with exit code 1.\n");
    return read.failure ? read.failure->kind : "none";
  };
  EXPECT_EQ(kind("cp: write error: No space left on device"), "disk");
  EXPECT_EQ(kind("c++: fatal error: Killed signal terminated program cc1plus"), "memory");
  EXPECT_EQ(kind("curl: (6) Could not resolve host: x.example"), "network");
  EXPECT_EQ(kind("upload failed: An error occurred (AccessDenied)"), "access");
  EXPECT_EQ(kind("nothing"), "code");
  EXPECT_EQ(report("##[error]The operation was canceled.\n").failure->kind, "cancelled");
}

TEST(Passing, OnlyTestsThatPassHaveSuchWarnings) {
  std::string warning = "rocm_plugin_extension not found\n";
  auto good = report(warning + warning + "===== 12 passed, 1 skipped in 3.20s =====\n");
  ASSERT_EQ(good.passing.size(), 1u);
  EXPECT_EQ(good.passing[0].count, 2u);
  EXPECT_EQ(good.test_summary, "12 passed, 1 skipped in 3.20s");
  EXPECT_TRUE(report(warning + "===== 1 failed, 12 passed in 3.20s =====\n").passing.empty());
  EXPECT_TRUE(report(warning).passing.empty());
}

TEST(Tools, OneVerboseCall) {
  std::string quiet = "INFO:auditwheel.main_repair:Repairing b-1-py3-none-linux_x86_64.whl\n";
  std::string loud = "INFO:auditwheel.main_repair:Repairing "
                     "a-1-py3-none-linux_x86_64.whl\nDEBUG:auditwheel.x:1\nDEBUG:auditwheel.x:2\n";
  EXPECT_THAT(codes(report(loud + quiet)), ElementsAre("warning X512"));
  EXPECT_TRUE(codes(report(loud)).empty());
  auto found = findings_of({report(loud + quiet + loud + quiet)}, rules(), {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "auditwheel is verbose for a and not for b: 4 lines"); // each name once
  EXPECT_TRUE(codes(report(quiet + quiet)).empty());
}

TEST(Findings, OfSeveralLogsAreOne) {
  auto named = [](std::string variant, const std::string& text) {
    auto read = report(text);
    read.name = read.variant = std::move(variant);
    return read;
  };
  auto messages_of = [](const std::vector<LogReport>& reports) {
    std::vector<std::string> messages;
    for (const auto& each : findings_of(reports, rules(), {})) messages.push_back(each.place + " " + each.message);
    return messages;
  };
  const std::string failed = "INFO:auditwheel.main_repair:Repairing b-1-py3-none-linux_x86_64.whl\n"
                             "INFO:auditwheel.main_repair:Repairing a-1-py3-none-linux_x86_64.whl\n"
                             "DEBUG:auditwheel.x:1\nx.c:3:1: error: expected ';'\n"
                             "##[error]Process completed with exit code 2.\n";
  auto first = named("py3.11", failed), second = named("py3.12", "one more line\n" + failed);
  EXPECT_THAT(
      messages_of({first, second, named("tests", "nothing\n")}),
      ElementsAre("py3.11:4 compiler error: x.c:3:1: error: expected ';', in 2 of 3 logs: py3.11, py3.12",
                  "py3.11:2 auditwheel is verbose for a and not for b: 2 lines, in 2 of 3 logs: py3.11, py3.12"));
  EXPECT_THAT(messages_of({first, second})[0], HasSubstr("expected ';', in all 2 logs"));
  EXPECT_EQ(messages_of({first})[0], "py3.11:4 compiler error: x.c:3:1: error: expected ';'");
  auto copies = [&](const std::string& python) {
    return named(python, "Processing dist/a-1-" + python + "-linux_x86_64.whl\nProcessing ./dist/a-1-" + python +
                             "-manylinux_2_28_x86_64.whl\n");
  };
  EXPECT_THAT(messages_of({copies("cp311-cp311"), copies("cp312-cp312")}),
              ElementsAre(AllOf(HasSubstr("a has two files in one directory: a-1-cp311-cp311-linux_x86_64.whl"),
                                HasSubstr(", in all 2 logs"))));
}

TEST(Wheels, CopiesInOneDirectory) {
  const std::string raw = "a-1-cp312-cp312-linux_x86_64.whl", fixed = "a-1-cp312-cp312-manylinux_2_28_x86_64.whl";
  EXPECT_THAT(codes(report("Processing dist/" + raw + "\nProcessing ./dist/" + fixed + "\n")),
              ElementsAre("warning X513"));
  EXPECT_THAT(codes(report("-rw-r--r-- 1 root root 12 Feb 24 10:00 " + raw +
                           "\n-rw-r--r-- 1 root root 12 Feb 24 10:00 " + fixed + "\n")),
              ElementsAre("warning X513"));
  EXPECT_TRUE(codes(report("Repairing dist/" + raw + "\nFixed-up wheel written to dist/" + fixed + "\n")).empty());
  EXPECT_TRUE(codes(report("ls dist/" + raw + "\nls wheelhouse/" + fixed + "\n")).empty());
  EXPECT_TRUE(codes(report("ls dist/" + raw + "\nls dist/" + raw + "\n")).empty());
}

TEST(Repeated, LinesThatDifferInNumbers) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "waiting for worker " + std::to_string(i) + "\n";
  auto read = report(text);
  ASSERT_EQ(read.repeated.size(), 1u);
  EXPECT_EQ(read.repeated[0].count, 25u);
  EXPECT_EQ(read.repeated[0].text, "waiting for worker 0");
}

TEST(Bounds, ForeignBytesAndManyDifferentLines) {
  std::string text = std::string("\0\xff\xfe: error: \x1b[31m", 14) + "\n##[error]\xff\n";
  for (int i = 0; i < 30'000; ++i) {
    std::string name;
    for (int n = i + 1; n > 0; n /= 26) name += static_cast<char>('a' + n % 26);
    text += name + " line\n" + name + ".c:1:1: warning: " + name + " [-W" + name + "]\n";
  }
  auto read = report(text);
  EXPECT_EQ(read.lines, 60'002u);
  EXPECT_EQ(read.warnings.size(), k_warnings_max);
  EXPECT_EQ(read.uncounted_warnings, 20'000u);
  EXPECT_EQ(read.failure->proof, "##[error]\xEF\xBF\xBD");
}

TEST(Rules, RefuseWhatTheyDoNotKnow) {
  struct Case {
    const char *text, *code, *says;
  };
  const std::string head = "schema = \"quarry.log-rules/1\"\n";
  const Case cases[] = {
      {"x", "X500", "1"},
      {"schema = \"quarry.log-rules/2\"", "X501", "schema"},
      {"[[noise]]\nname = \"a\"\nlines = [\"*\"]", "X501", "not a pattern"},
      {"[[noise]]\nname = \"a\"\nline = [\"b\"]", "X501", "lines"},
      {"[[noise]]\nname = \"a\"\nlines = [\"b\"]\n[[noise]]\nname = \"a\"\nlines = [\"c\"]", "X501", "twice"},
      {"[[failure]]\nname = \"a\"\nkind = \"bad\"\nlines = [\"b\"]", "X501", "kind"},
      {"[[tool]]\nname = \"a\"\nnoise = \"none\"\nbegin = [\"b\"]", "X501", "no [[noise]]"},
      {"[[phase]]\nname = \"a\"", "X501", "nothing begins"}};
  for (const auto& c : cases) {
    auto parsed = parse_rules({std::string(c.text).starts_with("[") ? head + c.text : c.text, "rules.toml"});
    ASSERT_FALSE(parsed) << c.text;
    EXPECT_EQ(parsed.error().code, c.code) << c.text;
    EXPECT_THAT(parsed.error().message, HasSubstr(c.says));
    EXPECT_THAT(parsed.error().message, HasSubstr("rules.toml:"));
  }
}

TEST(Difference, NumbersDigestsAndTemporaryNamesDoNotCount) {
  EXPECT_EQ(comparable("took 12.5 s at 0a1b2c3d4e5f in /tmp/tmpXyZ_1/a"),
            comparable("took 3.25 s at ffee00112233 in /tmp/other/a"));
  EXPECT_NE(comparable("took long"), comparable("took longer"));
  EXPECT_EQ(comparable("deadbeef"), "deadbeef"); // a word, as far as one can know
  auto found =
      compare_logs(input("step 1\nok\n"), input("step 2\nnew 1\nnew 2\n[1 / 2] Compiling x\n##[error]no\n"), rules());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fresh_lines, 3u);
  ASSERT_EQ(found->fresh.size(), 2u);
  EXPECT_EQ(found->fresh[0].text, "new 1");
  EXPECT_EQ(found->fresh[0].count, 2u);
  EXPECT_TRUE(found->fresh[1].failure);
  ASSERT_TRUE(found->failure);
  EXPECT_EQ(found->failure->line, 5u);
}

std::string stamp(int seconds) {
  return "2026-02-24T10:" + std::string(seconds / 60 < 10 ? "0" : "") + std::to_string(seconds / 60) + ":" +
         (seconds % 60 < 10 ? "0" : "") + std::to_string(seconds % 60) + ".0000000Z ";
}

std::string build(int slow) {
  return stamp(0) + "##[group]Run docker build .\n" + stamp(0) + "#5 [1/2] RUN ./llvm.sh\n" + stamp(60 * slow) +
         "#5 DONE 60.0s\n" + stamp(70 * slow) + "Starting local Bazel server (7)\n" + stamp(70 * slow) +
         "INFO: Analyzed target //x:pjrt_wheel (1 packages loaded).\n" + stamp(80 * slow) +
         "[1 / 9] Compiling a.cu.cc; 1s local\n" + stamp(170 * slow) + "[2 / 9] Compiling a.cu.cc; 91s local\n" +
         stamp(190 * slow) + "INFO: Elapsed time: 120.5s, Critical Path: 100.25s\n" + stamp(190 * slow) +
         "INFO: Build completed successfully, 1,234 total actions\n" + stamp(200 * slow) + "##[group]Run upload.sh\n" +
         stamp(230 * slow) + "done\n";
}

TEST(Times, PhasesAndTheRest) {
  auto read = report_times(input(build(1)), rules());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->total, 230);
  ASSERT_EQ(read->phases.size(), 3u);
  EXPECT_EQ(read->phases[0].name, "Bazel pjrt");
  EXPECT_EQ(read->phases[0].seconds, 120);
  EXPECT_EQ(read->phases[1].name, "LLVM");
  EXPECT_EQ(read->phases[2].name, "upload");
  EXPECT_EQ(read->unattributed, 20);
  ASSERT_EQ(read->actions.size(), 1u);
  EXPECT_EQ(read->actions[0].phase, "Bazel pjrt");
  EXPECT_EQ(read->actions[0].alone, 90);
  EXPECT_TRUE(read->actions[0].device);
  ASSERT_EQ(read->builds.size(), 1u);
  EXPECT_EQ(read->builds[0].critical, 100.25);
  EXPECT_EQ(read->builds[0].actions, 1234u);
}

TEST(Times, StepsOfAJobTellWhereTheTimeWent) {
  auto at = [](int second) { return fmt::format("2026-02-24T10:11:{:02}.0000000Z ", second); };
  auto made = report_times(input(at(0) + "Current runner\n" + at(1) + "##[group]Run fetch\n" + at(11) +
                                 "##[group]Run make\n" + at(41) + "Post job cleanup.\n" + at(42) + "done\n"),
                           rules());
  ASSERT_TRUE(made);
  const auto& read = *made;
  std::vector<std::string> said;
  for (const auto& step : read.steps) said.push_back(fmt::format("{} {} {}", step.line, step.seconds, step.name));
  EXPECT_THAT(said, ElementsAre("3 30 make", "2 10 fetch", "4 1 Post job cleanup."));
  EXPECT_EQ(read.total, 42);
}

TEST(Times, WithoutStampsToolsSayHowLongTheyTook) {
  auto read = report_times(
      input("#5 [1/2] RUN ./llvm.sh\n#5 DONE 540.5s\nINFO: Elapsed time: 120.5s, Critical Path: 100s\n"), rules());
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->stamped);
  EXPECT_EQ(read->total, 661);
  EXPECT_EQ(read->unattributed, 0);
  auto nothing = report_times(input("no time\n"), rules());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, "X503");
}

TEST(Times, SavingsAreNeverMoreThanWhatWasWaitedFor) {
  std::vector<TimeReport> reports;
  for (int slow : {1, 2}) reports.push_back(report_times(input(build(slow)), rules()).value());
  auto targets = fewer_targets(reports, {9, 3});
  EXPECT_NEAR(targets.seconds[0], 91 * 6 / 9.0, 0.01); // of 91 s that the line says
  EXPECT_EQ(cached_phase(reports, "llvm")->total, 180);
  EXPECT_EQ(shared_phase(reports, "PJRT")->total, 120);
  EXPECT_EQ(cached_phase(reports, "nothing").error().code, "X505");
  for (const char* text : {"", "9", "9=", "2=9", "0=0", "9=-1", "99999=1"}) EXPECT_FALSE(parse_targets(text)) << text;
  EXPECT_EQ(parse_targets("9=2")->then, 2u);
}

TEST(Compare, ARunnerIsSlowerInEverything) {
  std::vector<TimeReport> reports;
  for (int slow : {1, 2}) reports.push_back(report_times(input(build(slow)), rules()).value());
  auto found = compare_times(reports);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(found->runners[0].factor, 1, 0.001);
  EXPECT_NEAR(found->runners[1].factor, 2, 0.03);
  EXPECT_GT(found->runner_share, 0.99);
  EXPECT_TRUE(found->same_actions);
  EXPECT_TRUE(found->effects.empty());
  EXPECT_EQ(compare_times({reports[0]}).error().code, "X504");
}

TEST(Compare, ContentIsSlowerInOneThing) {
  std::vector<TimeReport> reports(3);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    reports[i].variant = std::string(1, static_cast<char>('a' + i));
    for (int k = 1; k <= 9; ++k)
      reports[i].phases.push_back({"phase " + std::to_string(k), 10.0 * k * (i == 2 && k == 4 ? 3 : 1), 1});
  }
  auto found = compare_times(reports);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->effects.size(), 1u);
  EXPECT_EQ(found->effects[0].variant, "c");
  EXPECT_NEAR(found->effects[0].expected, 40, 0.01);
  EXPECT_NEAR(found->runners[2].factor, 1, 0.001);
  EXPECT_NEAR(found->runners[2].content, 80, 0.01);
}

} // namespace
} // namespace quarry::buildlog
