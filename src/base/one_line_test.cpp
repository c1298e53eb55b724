#include "base/one_line.hpp"

#include <gtest/gtest.h>

namespace quarry::text {
namespace {

TEST(OneLine, KeepsWhatIsPlain) {
  for (const char* text : {"", "smoke passed", "a::b", "größe — ✓ 漢字 😀", "#[x]"}) EXPECT_EQ(one_line(text), text);
}

TEST(OneLine, ShowsWhatBeginsALineOrSteersATerminal) {
  EXPECT_EQ(one_line("a\n::error::b\r\tc"), R"(a\n::error::b\r\tc)");
  EXPECT_EQ(one_line("\x1b[2J\x7f"), R"(\x1b[2J\x7f)");
  EXPECT_EQ(one_line("a\xc2\x9b"
                     "2J"),
            R"(a\u009b2J)");
  EXPECT_EQ(one_line("a\xe2\x80\xae"
                     "b\xe2\x80\xa8"
                     "c\xe2\x81\xa6"),
            R"(a\u202eb\u2028c\u2066)");
  EXPECT_EQ(one_line("\x9b"
                     "2J \xc3"),
            R"(\x9b2J \xc3)");
}

TEST(OneLine, IsNoCommandOfGitHub) {
  EXPECT_EQ(one_line("::error::x"), "\"::error::x\"");
  EXPECT_EQ(one_line(" \xc2\xa0::error::x"), "\" \xc2\xa0::error::x\"");
  EXPECT_EQ(one_line("a ##[error]x"), "a # #[error]x");
}

} // namespace
} // namespace quarry::text
