#include "cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

constexpr std::uint64_t k_second = 1'000'000'000;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressFacts, ShareRateAndTimeLeft) {
  Work work{"x", 1'000'000'000, 250'000'000, 0, 0};
  EXPECT_EQ(progress_facts(work, 2 * k_second), " 25%  250.0 MB  125.0 MB/s  0:06");
  work.done = 1'000'000'000;
  EXPECT_EQ(progress_facts(work, 2 * k_second), "100%  1.00 GB  500.0 MB/s  0:00");
}

TEST(ProgressFacts, SaysNothingThatItCannotKnow) {
  EXPECT_EQ(progress_facts(Work{"x", 100, 0, 0, 0}, 5 * k_second), "  0%  0 B");
  EXPECT_EQ(progress_facts(Work{"x", 100, 50, 0, 0}, k_second / 10), " 50%  50 B");
  EXPECT_EQ(progress_facts(Work{"x", 0, 5'000'000, 0, 0}, 5 * k_second), "5.00 MB  1.00 MB/s");
  EXPECT_EQ(progress_facts(Work{"x", 100, 200, 0, 0}, k_second / 10), "100%  100 B")
      << "more than announced is not more than all";
}

TEST(ClockTime, IsShort) {
  EXPECT_EQ(clock_time(2), "0:02");
  EXPECT_EQ(clock_time(125), "2:05");
  EXPECT_EQ(clock_time(3723), "1:02:03");
}

TEST(ProgressBar, FitsTheTerminal) {
  Work work{"core  rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl", 1000, 610, 0, 0};
  EXPECT_THAT(progress_bar(work, 10 * k_second, 120),
              HasSubstr("whl  [#################------------]   61%  610 B  61 B/s"));
  for (unsigned columns : {20u, 40u, 60u, 80u, 100u, 200u})
    EXPECT_LT(progress_bar(work, 10 * k_second, columns).size(), columns) << columns;
  EXPECT_THAT(progress_bar(work, 10 * k_second, 80), Not(HasSubstr("[#"))) << "the bar goes before the name does";
  EXPECT_THAT(progress_bar(work, 10 * k_second, 80), HasSubstr("core  rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl "));
}

TEST(ProgressBar, AShortLabelKeepsItsBarOnANarrowTerminal) {
  Work work{"verifying", 367'500'000, 100'000'000, 0, 0};
  auto bar = progress_bar(work, 10 * k_second, 60);
  EXPECT_TRUE(bar.starts_with("verifying  [")) << bar;
  EXPECT_THAT(bar, HasSubstr("]   27%  100.0 MB  10.0 MB/s"));
  EXPECT_THAT(progress_bar(work, 10 * k_second, 40), HasSubstr("verifying"));
}

TEST(ProgressBar, OnAWideTerminalItStaysBesideItsLabel) {
  Work work{"verifying", 1000, 500, 0, 0};
  auto bar = progress_bar(work, 10 * k_second, 200);
  EXPECT_TRUE(bar.starts_with("verifying  [####################--------------------]   50%")) << bar;
  EXPECT_TRUE(progress_bar(work, 10 * k_second, 200, 14).starts_with("verifying       [#"))
      << "aligned with another bar";
}

TEST(ProgressBoard, OneLineEachTenSeconds) {
  ProgressBoard board(ProgressMode::lines, 80);
  auto entry = board.add("fetch a.tar.zst", 1000, 0);
  EXPECT_EQ(board.update(entry, 10, 9 * k_second), "");
  EXPECT_EQ(board.update(entry, 500, 10 * k_second), "fetch a.tar.zst   50%  500 B  50 B/s  0:10\n");
  EXPECT_EQ(board.update(entry, 600, 19 * k_second), "");
  EXPECT_THAT(board.update(entry, 900, 20 * k_second), HasSubstr(" 90%"));
  EXPECT_EQ(board.remove(entry, 21 * k_second), "") << "lines leave no trace of control characters";
}

TEST(ProgressBoard, NoneIsNothing) {
  ProgressBoard board(ProgressMode::none, 80);
  auto entry = board.add("x", 1000, 0);
  EXPECT_EQ(board.update(entry, 500, 100 * k_second), "");
  EXPECT_EQ(board.remove(entry, 101 * k_second), "");
}

TEST(ProgressBoard, BarsAreRedrawnInPlaceAndLeaveNothing) {
  ProgressBoard board(ProgressMode::bar, 80);
  auto first = board.add("first", 100, 0);
  EXPECT_THAT(board.update(first, 10, k_second), Not(HasSubstr("\x1b")));
  EXPECT_EQ(board.update(first, 11, k_second + k_second / 100), "") << "at most ten times a second";
  auto second = board.add("second", 100, k_second);
  auto drawn = board.update(second, 50, 2 * k_second);
  EXPECT_TRUE(drawn.starts_with("\r\x1b[K"));
  EXPECT_THAT(drawn, HasSubstr("first"));
  EXPECT_THAT(drawn, HasSubstr("\nsecond"));
  EXPECT_EQ(board.clear(), "\r\x1b[K\x1b[1A\r\x1b[K");
  EXPECT_EQ(board.clear(), "") << "what is cleared is not cleared again";
  EXPECT_THAT(board.draw(3 * k_second), HasSubstr("second"));
  EXPECT_THAT(board.remove(first, 3 * k_second), Not(HasSubstr("first")));
  EXPECT_EQ(board.remove(second, 3 * k_second), "\r\x1b[K");
}

TEST(ProgressBoard, WorkersThatReportOutOfOrderDoNotMoveItBack) {
  ProgressBoard board(ProgressMode::lines, 80);
  auto entry = board.add("x", 100, 0);
  board.update(entry, 90, k_second);
  EXPECT_THAT(board.update(entry, 80, 20 * k_second), HasSubstr(" 90%"));
}

} // namespace
} // namespace quarry::cli
