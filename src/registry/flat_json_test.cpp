#include "registry/flat_json.hpp"

#include "base/error.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

namespace quarry::registry {
namespace {

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(FlatJson, HoldsWhatTheTreeHolds) {
  for (const std::string text :
       {"{}", "[]", "1", "\"\"", "null", R"({"a":{"b":[1,-2,3.5,true,false,null,"x"],"c":{}},"d":[[],[{}]],"e":""})",
        R"({"a":18446744073709551615,"b":-9223372036854775808,"c":-0,"d":1e3,"e":0.1})",
        R"({"":"the empty key","a":"ä\n\"\\\u0000\u00e4\ud83d\ude00/"})", // escapes
        R"( { "b" : 1 , "a" : { "d" : [ 2 ] , "c" : 3 } } )",             // not canonical
        R"([1.7976931348623157e308,5e-324,2.2250738585072011e-308,-0.0,123456789012345678901,-9223372036854775809])",
        R"([0.1234567890123456789012345678901234567890e-30,1e-400,9007199254740993.0,1E+2])",
        R"(["\ud83d\ude00 \u00e4\b\f\n\r\t\/\\\"","0123456789abcdef0123456789abcde\n"])"}) {
    auto tree = json::parse({text, "x"});
    auto flat = FlatJson::parse({text, "x"});
    ASSERT_TRUE(tree && flat) << text;
    EXPECT_EQ(flat->root().json().dump(), tree->dump());
  }
  EXPECT_TRUE(FlatJson::parse({nested(64), "x"}));
}

TEST(FlatJson, RefusesWhatTheTreeRefuses) {
  std::vector<std::string> texts{"",
                                 "{",
                                 R"({"a":1,"a":2})",
                                 R"({"b":1,"a":{"x":1,"x":1}})",
                                 "[1e999]",
                                 "\"\xff\"",
                                 "{} {}",
                                 nested(65),
                                 nested(1'000'000),
                                 R"(["\ud83d"])",
                                 R"(["\udc00"])",
                                 R"(["\uDC00x"])",
                                 "[\"a\nb\"]",
                                 "[01]",
                                 "[1.]",
                                 "[.5]",
                                 "[+1]",
                                 "[1,]",
                                 R"({"a":1,})",
                                 "[NaN]",
                                 "[-]",
                                 "// x\n[]",
                                 "['a']",
                                 "[1 2]",
                                 "{1:2}",
                                 R"({"a" 1})",
                                 "nul",
                                 "[tru]"};
  for (char control : {'\x01', '\x1a', '\x1b', '\x1f'})
    texts.push_back("[\"" + std::string(40, 'a') + control + std::string(40, 'a') + "\"]");
  for (const auto& text : texts) {
    auto tree = json::parse({text, "the record"});
    auto flat = FlatJson::parse({text, "the record"});
    ASSERT_TRUE(!tree && !flat) << text.substr(0, 40);
    EXPECT_EQ(render(flat.error()), render(tree.error()));
  }
}

// What the library takes beyond the standard: a byte order mark, and a byte of 0 as the end.
TEST(FlatJson, TakesWhatTheTreeTakes) {
  for (const std::string& text : {std::string("\xef\xbb\xbf[]"), std::string("{}\0{}", 5), std::string("[1]\0", 4)}) {
    auto tree = json::parse({text, "x"});
    auto flat = FlatJson::parse({text, "x"});
    ASSERT_EQ(tree.has_value(), flat.has_value());
    if (tree) EXPECT_EQ(flat->root().json().dump(), tree->dump());
  }
}

using std::string_view_literals::operator""sv;

TEST(FlatJson, AgreesWithTheTreeOnAlteredTexts) {
  const std::string good =
      R"({"a":[1,-2,3.5e1,true,false,null,"x\n\u00e4\\"],"b":{"c":{},"d":[[],0]},"e":"ä, and a text that is longer than what the reader looks at in one step"})";
  constexpr std::string_view pieces = "{}[]\",:\\u0019-+.eEdDtrfalsn \n\t/*'\xc3\xa4\xff\x1b\x1f\0"sv;
  std::mt19937_64 random(20'261'126);
  for (int i = 0; i < 20'000; ++i) {
    auto text = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      auto at = random() % text.size();
      auto piece = pieces[random() % pieces.size()];
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 3);
      else if (random() % 2 == 0)
        text.insert(at, 1, piece);
      else
        text[at] = piece;
    }
    auto tree = json::parse({text, "x"});
    auto flat = FlatJson::parse({text, "x"});
    ASSERT_EQ(tree.has_value(), flat.has_value()) << text;
    if (tree) ASSERT_EQ(flat->root().json().dump(), tree->dump()) << text;
    if (!tree) ASSERT_EQ(render(flat.error()), render(tree.error())) << text;
  }
}

TEST(FlatJson, MembersAreInOrderOfTheirKeys) {
  auto flat = FlatJson::parse({R"({"b":[1,2],"a":{"x":"y"},"c":7})", "x"});
  ASSERT_TRUE(flat);
  std::string keys;
  for (auto member : flat->root()) keys += member.key();
  EXPECT_EQ(keys, "abc");
  EXPECT_EQ(flat->root().size(), 3u);
  EXPECT_EQ(flat->root().find("a")->find("x")->text(), "y");
  EXPECT_EQ(flat->root().find("b")->size(), 2u);
  EXPECT_EQ(flat->root().find("c")->whole(), 7u);
  EXPECT_FALSE(flat->root().find("x"));
  EXPECT_FALSE(flat->root().find("b")->find("x"));
}

} // namespace
} // namespace quarry::registry
