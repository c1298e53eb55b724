#include "buildlog/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace quarry::buildlog {
namespace {

using ::testing::ElementsAre;

struct Seen {
  std::string text;
  std::uint64_t number, bytes;
  std::int64_t time;
  int step;
};

std::vector<Seen> read(const std::vector<std::string>& blocks) {
  std::vector<Seen> seen;
  LineSplitter splitter(
      [&](const Line& l) { seen.push_back({std::string(l.text), l.number, l.bytes, l.time_us, l.step}); });
  for (const auto& block : blocks) splitter.feed(block);
  splitter.finish();
  return seen;
}

std::vector<std::string> texts(const std::vector<std::string>& blocks) {
  std::vector<std::string> out;
  for (auto& line : read(blocks)) out.push_back(line.text);
  return out;
}

TEST(Lines, BlocksMayEndAnywhere) {
  std::string text = "one\ntwo\r\n\nthree";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_THAT(texts({text.substr(0, cut), text.substr(cut)}), ElementsAre("one", "two", "", "three")) << cut;
  auto lines = read({text});
  EXPECT_EQ(lines[3].number, 4u);
  EXPECT_EQ(lines[1].bytes, 5u);
  EXPECT_TRUE(read({}).empty());
}

TEST(Lines, StampsOfGitHub) {
  auto lines = read({"\xEF\xBB\xBF"
                     "2026-02-24T10:11:12.5000000Z ##[group]Run x\n2026-02-24T10:11:13.0000000Z "
                     "\n2026-02-30T10:11:13.0000000Z bad day\n2026-02-24 a date\n"});
  EXPECT_EQ(lines[0].text, "##[group]Run x");
  EXPECT_EQ(lines[1].text, "");
  EXPECT_EQ(lines[1].time - lines[0].time, 500'000);
  EXPECT_EQ(lines[0].time / 86'400'000'000, days_of("2026-02-24"));
  EXPECT_EQ(lines[2].time, k_no_time);
  EXPECT_EQ(lines[3].text, "2026-02-24 a date");
}

TEST(Lines, StampsOfTeatimeAndDocker) {
  auto lines = read({"12.5\tmake all\n7\tno stamp\n#12 34.56 [ 1%] Building x\n#12 DONE 540.2s\n#12 34.56\n"});
  EXPECT_EQ(lines[0].text, "make all");
  EXPECT_EQ(lines[0].time, 12'500'000);
  EXPECT_EQ(lines[1].text, "7\tno stamp");
  EXPECT_EQ(lines[2].text, "[ 1%] Building x");
  EXPECT_EQ(lines[2].step, 12);
  EXPECT_EQ(lines[3].text, "#12 DONE 540.2s");
  EXPECT_EQ(lines[3].step, 0);
  EXPECT_EQ(lines[4].text, "");
}

TEST(Lines, EscapesAndBarsThatDrawOverThemselves) {
  EXPECT_THAT(texts({"\x1b[36;1mblue\x1b[0m and\x1b(B plain\n 10%\r 20%\r 99%\nx\x1b\ny\x1b[\n"}),
              ElementsAre("blue andB plain", " 99%", "x", "y"));
}

TEST(Lines, LongLinesAreCutAndBinaryBytesStay) {
  std::string longest(1 << 20, 'a');
  auto lines = read({longest.substr(0, 1000), longest.substr(1000) + "\nnext\n", std::string("\0\xff\n", 3)});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text.size(), k_line_bytes_max);
  EXPECT_EQ(lines[0].bytes, (1u << 20) + 1);
  EXPECT_EQ(lines[1].text, "next");
  EXPECT_EQ(lines[2].text, std::string("\0\xff", 2));
}

TEST(Lines, JobsAndStepsOfGhAreTakenOff) {
  std::string text = "build / a\tCompile\t\xEF\xBB\xBF"
                     "2026-02-24T10:11:12.1234567Z one\n"
                     "build / a\tUNKNOWN STEP\t2026-02-24T10:11:13.0000000Z \n3.5\ttwo\na\tb\t2026 c\n";
  std::vector<std::string> jobs, steps, said;
  std::vector<std::int64_t> times;
  LineSplitter splitter([&](const Line& line) {
    jobs.emplace_back(line.job), steps.emplace_back(line.job_step), said.emplace_back(line.text);
    times.push_back(line.time_us);
  });
  splitter.feed(text);
  splitter.finish();
  EXPECT_THAT(jobs, ElementsAre("build / a", "build / a", "", ""));
  EXPECT_THAT(steps, ElementsAre("Compile", "UNKNOWN STEP", "", ""));
  EXPECT_THAT(said, ElementsAre("one", "", "two", "a\tb\t2026 c"));
  EXPECT_EQ(times[1] - times[0], 876'544);
  EXPECT_EQ(job_of_line("j\ts\t2026-02-24T10:11:12.1234567Z x"), "j");
  for (auto line : {"", "\t\t2026-02-24T10:11:12.1234567Z", "j\ts\t2026-02-24", "j\t2026-02-24T10:11:12.1234567Z x"})
    EXPECT_EQ(job_of_line(line), "") << line;
}

TEST(Lines, Days) {
  EXPECT_EQ(days_of("1970-01-02"), 1);
  EXPECT_EQ(days_of("2026-03-20") - days_of("2026-02-24"), 24);
  for (const char* text : {"", "2026-02-29", "2026-2-4", "2026/02/24", "x026-02-24", "2026-02-245"})
    EXPECT_EQ(days_of(text), -1) << text;
}

} // namespace
} // namespace quarry::buildlog
