#include "base/text.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <string>

namespace quarry::text {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::string_literals;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}
TEST(Text, SplitAnyDropsThem) {
  EXPECT_THAT(split_any(" a \t b ", " \t"), ElementsAre("a", "b"));
  EXPECT_THAT(split_any("", " "), IsEmpty());
  EXPECT_THAT(split_any("   ", " "), IsEmpty());
}
TEST(Text, Lines) {
  EXPECT_THAT(lines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(lines(""), IsEmpty());
  EXPECT_THAT(lines("\n"), ElementsAre(""));
}
TEST(Text, JoinTrimLowerReplace) {
  std::vector<std::string> parts{"a", "b", "c"};
  EXPECT_EQ(join(parts, ", "), "a, b, c");
  EXPECT_EQ(join({}, ","), "");
  EXPECT_EQ(trim(" \t a b \n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(lower("ÄBC-Z"), "Äbc-z");
  EXPECT_TRUE(starts_with_ignore_case("Content-Type: x", "content-type"));
  EXPECT_FALSE(starts_with_ignore_case("Con", "content"));
  EXPECT_EQ(replace_all("aaa", "a", "aa"), "aaaaaa");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
}

TEST(Text, FirstNamesHowManyMoreThereAre) {
  std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(first(names, 3), "a, b, c");
  EXPECT_EQ(first(names, 2), "a, b and 1 more");
  EXPECT_EQ(first(names, 2, " + "), "a + b and 1 more");
  EXPECT_EQ(first({}, 2), "");
  EXPECT_EQ(first_lines(names, 3), names);
  EXPECT_EQ(first_lines(names, 1), (std::vector<std::string>{"a", "and 2 more"}));
}

TEST(Text, Hex) {
  std::vector<std::uint8_t> bytes{0, 0xab, 0xff};
  EXPECT_EQ(hex(bytes), "00abff");
  EXPECT_EQ(from_hex("00ABfF"), bytes);
  EXPECT_EQ(from_hex("0"), std::nullopt);
  EXPECT_EQ(from_hex("0g"), std::nullopt);
}

// RFC 4648 §10, without padding.
TEST(Text, Base64Url) {
  const std::pair<std::string, std::string> vectors[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff", "-_8"}};
  for (const auto& [plain, coded] : vectors) {
    std::vector<std::uint8_t> bytes(plain.begin(), plain.end());
    EXPECT_EQ(base64url(bytes), coded);
    EXPECT_EQ(from_base64url(coded), bytes);
  }
  for (auto bad : {"Z", "Zg==", "Zm9+", "Zh", "Zm9", "Z g"}) EXPECT_EQ(from_base64url(bad), std::nullopt) << bad;
}

TEST(Text, PercentEncoding) {
  EXPECT_EQ(percent_encode("a/b c+d~%ü"), "a/b%20c%2Bd~%25%C3%BC");
  EXPECT_EQ(percent_decode("a%2Bb%2b%"), "a+b+%");
  EXPECT_EQ(percent_decode("%zz%4"), "%zz%4");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
}

TEST(Text, HtmlEscape) { EXPECT_EQ(html_escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#x27;"); }

TEST(Text, Utf8) {
  for (auto good : {"", "abc", "ä€😀", "\xEF\xBF\xBD", "\xF4\x8F\xBF\xBF"}) EXPECT_TRUE(is_valid_utf8(good)) << good;
  for (auto bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                   "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "a\xFF"})
    EXPECT_FALSE(is_valid_utf8(bad));
  for (std::size_t before = 0; before < 20; ++before) {
    std::string ascii(before, 'a');
    EXPECT_EQ(utf8_prefix(ascii + "\xC3\xA4" + ascii), 2 * before + 2);
    EXPECT_EQ(utf8_prefix(ascii + "\xFF" + ascii), before);
  }
}

TEST(Text, Numbers) {
  EXPECT_EQ(parse_u64("0"), 0u);
  EXPECT_EQ(parse_u64("18446744073709551615"), UINT64_MAX);
  for (auto bad : {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "0x1", "1e3"})
    EXPECT_EQ(parse_u64(bad), std::nullopt) << bad;
}

struct Glob {
  const char* pattern;
  const char* path;
  bool matches;
};
class GlobMatch : public ::testing::TestWithParam<Glob> {};
TEST_P(GlobMatch, Table) {
  EXPECT_EQ(glob_match(GetParam().pattern, GetParam().path), GetParam().matches)
      << GetParam().pattern << " on " << GetParam().path;
}
INSTANTIATE_TEST_SUITE_P(
    , GlobMatch,
    ::testing::Values(
        Glob{"a", "a", true}, Glob{"a", "b", false}, Glob{"a", "ab", false}, Glob{"", "", true}, Glob{"", "a", false},
        // `*` and `?` stay inside one component.
        Glob{"*", "abc", true}, Glob{"*", "", true}, Glob{"*", "a/b", false}, Glob{"*.so", "lib.so", true},
        Glob{"*.so", "lib.so.1", false}, Glob{"*.so*", "lib.so.1", true}, Glob{"lib/*", "lib/a", true},
        Glob{"lib/*", "lib/a/b", false}, Glob{"lib/*", "lib", false}, Glob{"a*c*e", "abcde", true},
        Glob{"a*c*e", "abde", false}, Glob{"?", "a", true}, Glob{"?", "/", false}, Glob{"?", "", false},
        Glob{"a?c", "abc", true},
        // `**/` is zero or more directories.
        Glob{"**/x", "x", true}, Glob{"**/x", "a/x", true}, Glob{"**/x", "a/b/x", true}, Glob{"**/x", "ax", false},
        Glob{"a/**/b", "a/b", true}, Glob{"a/**/b", "a/c/d/b", true}, Glob{"a/**/b", "ab", false},
        Glob{"**/*.py", "a/b.py", true}, Glob{"**/a/**/b", "x/a/y/b", true}, Glob{"**/.info/**", "x/.info/y", true},
        // a trailing `/**` is the directory or anything below.
        Glob{"a/**", "a", true}, Glob{"a/**", "a/b", true}, Glob{"a/**", "a/b/c", true}, Glob{"a/**", "ab", false},
        Glob{"a/**", "", false}, Glob{"**", "", true}, Glob{"**", "a/b", true}, Glob{"**/a/**", "x/a", true},
        Glob{"**/a/**", "b", false},
        // no classes: brackets and backslashes are themselves.
        Glob{"[ab]", "a", false}, Glob{"[ab]", "[ab]", true}, Glob{"a.c", "abc", false}, Glob{"a\\*", "a\\b", true}));

// A pattern that costs exponential time in backtracking matchers.
TEST(ShellWord, IsQuotedWhereAShellWouldTakeItApart) {
  for (const auto* plain : {"dist", "s3://bucket/a-b", "a@b:1", "/tmp/x_1.whl"}) EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word("rocm[libraries,devel]"), "'rocm[libraries,devel]'"); // zsh takes it for a pattern
  EXPECT_EQ(shell_word("my dist"), "'my dist'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("~/x"), "'~/x'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(GlobCost, ManyStarsStayCheap) {
  std::string pattern, text(2000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", text));
  EXPECT_TRUE(glob_match(pattern, text));
}

} // namespace
} // namespace quarry::text
