#include "buildlog/pattern.hpp"

#include <gtest/gtest.h>

namespace quarry::buildlog {
namespace {

TEST(Pattern, MatchesWholeLines) {
  struct Case {
    const char *pattern, *line;
    bool fits;
  };
  const Case cases[] = {{"[#%] Building *", "[ 42%] Building CXX object a.o", true},
                        {"[#%] Building *", "[100%] Building x", true},
                        {"[#%] Building *", "[x%] Building x", false},
                        {"[# / #] *", "[1,234 / 13,216] Compiling x", true},
                        {"[# / #] *", "[1 / 2]", false},
                        {"*: warning: *[-W*]", "a.cpp:1:2: warning: b [-Wall]", true},
                        {"*: warning: *[-W*]", "a.cpp:1:2: warning: b", false},
                        {"*abc", "abcabc", true},
                        {"*abc", "abcab", false},
                        {"a*b*c", "a-b-b-c", true},
                        {"a*b*c", "acb", false},
                        {"make[#]: \\*\\*\\* *", "make[2]: *** [all] Error 2", true},
                        {"\\#\\#[error]*", "##[error]no", true},
                        {"#s", "3.5s", true},
                        {"#s", "s", false},
                        {"*#x", "1 2x", true},
                        {"Post job cleanup.", "Post job cleanup.", true},
                        {"Post job cleanup.", "Post job cleanup. ", false},
                        {"x*", "x", true}};
  for (const auto& c : cases) {
    auto pattern = Pattern::parse(c.pattern);
    ASSERT_TRUE(pattern) << c.pattern;
    EXPECT_EQ(pattern->matches(c.line), c.fits) << c.pattern << " | " << c.line;
  }
}

TEST(Pattern, RefusesWhatSaysNothing) {
  for (const char* text : {"", "*", "**", "a\\"}) EXPECT_FALSE(Pattern::parse(text)) << text;
  EXPECT_FALSE(Pattern::parse(std::string(k_pattern_bytes_max + 1, 'a')));
}

TEST(Pattern, LooksAtALongLineOnce) {
  auto pattern = Pattern::parse("*#x");
  EXPECT_FALSE(pattern->matches(std::string(64 << 10, ' '))); // seconds if each blank were a new start for all others
}

TEST(Finder, FindsWordsInsideWordsAndInAnyCase) {
  const std::string words[] = {"he", "she", "hers", "error: "};
  Finder finder(words);
  EXPECT_EQ(finder.scan("ushers"), 0b0111u);
  EXPECT_EQ(finder.scan("an ERROR: of HE"), 0b1001u);
  EXPECT_EQ(finder.scan("errors"), 0u);
  EXPECT_EQ(Finder().scan("he"), 0u);
}

TEST(PatternSet, BeginningsComeFirst) {
  PatternSet set({"passed"});
  ASSERT_TRUE(set.add(*Pattern::parse("*of noise*"), 7));
  ASSERT_TRUE(set.add(*Pattern::parse("DEBUG*"), 9));
  ASSERT_TRUE(set.add(*Pattern::parse("*noise*"), 8));
  set.compile();
  EXPECT_EQ(set.match("DEBUG of noise").rule, 9);
  EXPECT_EQ(set.match("much of Noise").rule, -1); // Finder ignores case, patterns do not
  EXPECT_EQ(set.match("much of noise").rule, 7);
  EXPECT_EQ(set.match("noise").rule, 8);
  EXPECT_EQ(set.match("").rule, -1);
  EXPECT_EQ(set.match("12 passed").words, 1u);
  EXPECT_EQ(set.match("12 failed").words, 0u);
}

TEST(PatternSet, IsBounded) {
  PatternSet set;
  for (std::size_t i = 0; i < k_words_max; ++i)
    ASSERT_TRUE(set.add(*Pattern::parse("*word" + std::to_string(i) + ";"), 0)); // a # would be a number
  EXPECT_FALSE(set.add(*Pattern::parse("*one more*"), 0));
  EXPECT_TRUE(set.add(*Pattern::parse("one more*"), 0));
}

} // namespace
} // namespace quarry::buildlog
