#include "cli/table.hpp"

#include "base/text.hpp"
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

const std::vector<Column> k_columns{{}, {.shrinks = true}, {.right = true}, {.right = true}};
const TableRows k_rows{{"built", "rocm_sdk_libraries_gfx103x_dgpu-7.2.0-py3-none-linux_x86_64.whl", "335.1 MB", "31 %"},
                       {"built", "rocm-7.2.0.tar.gz", "33.2 kB", ""}};

TEST(TextTable, NumbersEndInOneColumnAndNoLineEndsInABlank) {
  auto lines = text::lines(table(k_columns, k_rows, {}));
  EXPECT_EQ(lines[0], "built  rocm_sdk_libraries_gfx103x_dgpu-7.2.0-py3-none-linux_x86_64.whl  335.1 MB  31 %");
  EXPECT_EQ(lines[1], "built  rocm-7.2.0.tar.gz                                                 33.2 kB");
}

TEST(TextTable, FitsTheTerminal) {
  for (std::size_t columns : {40u, 60u, 79u, 80u, 81u, 82u, 200u})
    for (const auto& line : text::lines(table(k_columns, k_rows, {.columns = columns}))) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  auto narrow = text::lines(table(k_columns, k_rows, {.columns = 60}));
  EXPECT_EQ(narrow[0], "built  rocm_sdk_librarie...-linux_x86_64.whl  335.1 MB  31 %") << narrow[0].size();
}

TEST(TextTable, APipeGetsWholeNames) {
  EXPECT_NE(table(k_columns, k_rows, {.columns = 0}).find("rocm_sdk_libraries_gfx103x_dgpu-7.2.0-py3"),
            std::string::npos);
}

TEST(TextTable, WordsAreWrappedWhereTheyStand) {
  EXPECT_EQ(table({{}, {}}, {{"cell", "a reason that is longer than the terminal"}, {"more", "no"}}, {.columns = 30}),
            "cell  a reason that is longer\n      than the terminal\nmore  no\n");
  EXPECT_EQ(table({{}, {}}, {{"cell", "a reason that is longer than the terminal"}}, {}),
            "cell  a reason that is longer than the terminal\n");
}

TEST(TextTable, ColumnsWithoutRoomGoToAFurtherLine) {
  const std::vector<Column> columns{{}, {.right = true}, {}, {}};
  const TableRows rows{{"set", "files", "sealed", "channels"},
                       {"set:0123456789ab", "12", "2026-11-22T20:13:24Z", "staging, stable"},
                       {"set:ba9876543210", "3", "2026-11-21T20:13:24Z", ""}};
  EXPECT_EQ(table(columns, rows, {.columns = 40}), "set               files\n"
                                                   "    sealed\n"
                                                   "    channels\n"
                                                   "set:0123456789ab     12\n"
                                                   "    2026-11-22T20:13:24Z\n"
                                                   "    staging, stable\n"
                                                   "set:ba9876543210      3\n"
                                                   "    2026-11-21T20:13:24Z\n");
  for (std::size_t width = 26; width < 100; ++width)
    for (const auto& line : text::lines(table(columns, rows, {.columns = width})))
      EXPECT_LE(line.size(), width) << line;
}

TEST(TextTable, AnEmptyColumnTakesNoRoom) { EXPECT_EQ(table({{}, {}, {}}, {{"a", "", "b"}}, {}), "a  b\n"); }

TEST(TextTable, RowsThatArePrintedOneByOneAreAligned) {
  std::vector<Column> columns{{.shrinks = true, .least = 30}, {.right = true, .least = 8}};
  EXPECT_EQ(table(columns, {{"short.whl", "9 B"}}, {}), "short.whl                            9 B\n");
  EXPECT_EQ(table(columns, {{"longer-name.whl", "1.00 GB"}}, {}), "longer-name.whl                  1.00 GB\n");
  EXPECT_EQ(table(columns, {{"short.whl", "9 B"}}, {.columns = 30}), "short.whl                  9 B\n");
}

TEST(TextTable, ColourTakesNoRoom) {
  auto text = table({{}, {}}, {{{"READY", Tone::good}, "a"}, {{"HELD", Tone::bad}, "b"}}, {.color = true});
  EXPECT_EQ(text, "\x1b[32mREADY\x1b[0m  a\n\x1b[1;31mHELD\x1b[0m   b\n");
}

TEST(Shortened, KeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(shortened("rocm_sdk_core-7.2.0.whl", 23), "rocm_sdk_core-7.2.0.whl");
  EXPECT_EQ(shortened("rocm_sdk_core-7.2.0.whl", 15), "rocm_s....0.whl");
  EXPECT_EQ(shortened("äöüäöüäöüä", 7), "äö...üä");
  EXPECT_EQ(shortened("abcdef", 3), "abc");
  EXPECT_EQ(shortened("abcdef", 0), "");
  EXPECT_EQ(width_of("äöü"), 3u);
}

} // namespace
} // namespace quarry::cli
