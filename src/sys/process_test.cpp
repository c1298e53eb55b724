#include "sys/process.hpp"

#include "base/text.hpp"
#include "sys/clock.hpp"
#include "sys/machine.hpp"
#include "sys/sys_fixture.hpp"
#include <csignal>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::sys {
namespace {
using ::testing::HasSubstr;

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}
ProcessResult run(const ProcessSpec& spec) {
  auto result = run_process(spec);
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  return result ? *result : ProcessResult{};
}
// Gone, or a zombie that nobody has collected yet. A signal is delivered in its own time, so look for a while.
bool ended(const std::string& pid) {
  RealClock clock;
  for (auto begin = clock.steady_ns(); clock.steady_ns() - begin < 20'000'000'000;) {
    auto stat = read_file("/proc/" + pid + "/stat");
    if (!stat || stat->find(") Z") != stat->npos) return true;
  }
  return false;
}

struct ProcessTest : InDirectory {};

TEST_F(ProcessTest, ExitCodesAndStreams) {
  auto result = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_GT(result.max_rss_bytes, 0u);
}

TEST_F(ProcessTest, MergedStreamsKeepTheirOrder) {
  auto spec = shell("echo 1; echo 2 >&2; echo 3");
  spec.merge_stderr = true;
  auto result = run(spec);
  EXPECT_EQ(result.out, "1\n2\n3\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(ProcessTest, TheEnvironmentIsExactlyTheGivenOne) {
  ProcessSpec spec;
  spec.argv = {"/usr/bin/env"};
  spec.environment = {{"ONLY", "this"}};
  EXPECT_EQ(run(spec).out, "ONLY=this\n");
}

TEST_F(ProcessTest, DirectoryAndStandardInput) {
  auto spec = shell("pwd -P; cat; echo end");
  spec.directory = root;
  EXPECT_EQ(run(spec).out, real_path(root).value() + "\nend\n");
}

TEST_F(ProcessTest, ASignalIsReported) {
  auto result = run(shell("kill -9 $$"));
  EXPECT_EQ(result.signal, 9);
  EXPECT_EQ(result.exit_code, 137);
}

TEST_F(ProcessTest, CaptureIsBoundedAndTheRestCounted) {
  auto spec = shell("head -c 300000 /dev/zero");
  spec.capture_bytes_max = 1000;
  std::size_t seen = 0;
  spec.on_output = [&](std::string_view chunk) { seen += chunk.size(); };
  auto result = run(spec);
  EXPECT_EQ(result.out.size(), 1000u);
  EXPECT_EQ(result.dropped_bytes, 299'000u);
  EXPECT_EQ(seen, 300'000u);
}

TEST_F(ProcessTest, MissingProgramsAreNamed) {
  ProcessSpec spec;
  spec.argv = {"no-such-program-here"};
  EXPECT_EQ(run_process(spec).error().kind, ErrorKind::missing_program);
  EXPECT_EQ(run_process(spec).error().code, "D007");
  EXPECT_THAT(run_process(spec).error().message, HasSubstr("no-such-program-here"));
  put("not-a-program", "\x01\x02");
  EXPECT_EQ(File::open_read(at("not-a-program"))->set_mode(0755).has_value(), true);
  spec.argv = {at("not-a-program")};
  EXPECT_EQ(run_process(spec).error().kind, ErrorKind::missing_program);
  spec.argv.clear();
  EXPECT_FALSE(run_process(spec));
}

TEST_F(ProcessTest, ADeadlineEndsTheWholeGroup) {
  auto spec = shell("sleep 1000 & echo $!; sleep 1000");
  spec.deadline_ms = 300;
  auto result = run(spec);
  EXPECT_TRUE(result.timed_out);
  EXPECT_NE(result.exit_code, 0);
  auto grandchild = std::string(text::trim(result.out));
  ASSERT_FALSE(grandchild.empty());
  EXPECT_TRUE(ended(grandchild)) << grandchild;
  EXPECT_LT(result.seconds, 60);
}

TEST_F(ProcessTest, WhoIgnoresSigtermIsKilled) {
  auto spec = shell("trap '' TERM; echo $$; while :; do sleep 1000; done");
  spec.deadline_ms = 100;
  auto result = run(spec);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, 9);
  EXPECT_TRUE(ended(std::string(text::trim(result.out))));
}

// It would hold our pipe for ever; when its parent has ended, it goes too.
TEST_F(ProcessTest, AGrandchildThatStaysIsEnded) {
  auto result = run(shell("sleep 1000 & echo $!"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(ended(std::string(text::trim(result.out))));
}

std::string of_file(const std::string& path) { return std::string(text::trim(read_file(path).value_or(""))); }

// A daemon is in a session of its own, and its parent is gone.
TEST_F(ProcessTest, ADaemonIsEndedWithTheChild) {
  auto script = fmt::format("setsid sh -c 'echo $$ > {0}; exec sleep 1000' > /dev/null 2>&1 & "
                            "while [ ! -s {0} ]; do :; done; exit 1",
                            at("pid"));
  auto spec = shell(script);
  spec.ends_descendants = true;
  EXPECT_EQ(run(spec).exit_code, 1);
  EXPECT_FALSE(exists("/proc/" + of_file(at("pid"))));
  spec.deadline_ms = 2000;
  spec.argv[2] = fmt::format("rm {}; ({}) ; sleep 1000", at("pid"), script);
  EXPECT_TRUE(run(spec).timed_out);
  EXPECT_FALSE(exists("/proc/" + of_file(at("pid"))));
}

// It forks and ends for ever: no look at the list of processes need find the one that lives.
TEST_F(ProcessTest, AProcessThatRunsAwayIsEnded) {
  put("run", fmt::format("echo > {}; setsid sh {} > /dev/null 2>&1 &\n", at("alive"), at("run")));
  auto spec = shell(fmt::format("sh {}; while [ ! -s {} ]; do :; done", at("run"), at("alive")));
  spec.ends_descendants = true;
  EXPECT_EQ(run(spec).exit_code, 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it is a child of ours as long as it lives";
}

TEST_F(ProcessTest, ChildrenOfBeforeAreLeftAlone) {
  auto before = ::fork();
  if (before == 0) {
    ::pause();
    ::_exit(0);
  }
  auto spec = shell(fmt::format("setsid sh -c 'echo $$ > {0}; exec sleep 1000' > /dev/null 2>&1 & "
                                "while [ ! -s {0} ]; do :; done",
                                at("pid")));
  spec.ends_descendants = true;
  EXPECT_EQ(run(spec).exit_code, 0);
  EXPECT_FALSE(exists("/proc/" + of_file(at("pid"))));
  EXPECT_EQ(::kill(before, 0), 0);
  ::kill(before, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(before, &status, 0), before);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(ProcessTest, FindProgram) {
  put("tool", "#!/bin/sh\n");
  put("elsewhere/tool", "#!/bin/sh\n");
  EXPECT_EQ(find_program("tool", root), ""); // not executable
  ASSERT_TRUE(File::open_read(at("elsewhere/tool"))->set_mode(0755));
  EXPECT_EQ(find_program("tool", root + ":" + at("elsewhere")), at("elsewhere/tool"));
  EXPECT_EQ(find_program(at("elsewhere/tool"), ""), at("elsewhere/tool"));
  EXPECT_EQ(find_program("elsewhere", root), ""); // a directory
  EXPECT_EQ(find_program("tool", ""), "");
}

TEST(Machine, FactsAreSensible) {
  EXPECT_GE(cpu_count(), 1u);
  EXPECT_GT(memory_bytes(), 64u << 20);
  EXPECT_GT(peak_rss_bytes(), 1u << 20);
  EXPECT_FALSE(kernel_release().empty());
  EXPECT_FALSE(host_name().empty());
  EXPECT_GE(terminal_columns(), 1u);
  EXPECT_GT(free_bytes("/"), 0u);
  EXPECT_EQ(free_bytes("/no/such/place"), 0u);
}

} // namespace
} // namespace quarry::sys
