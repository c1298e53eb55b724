#include "registry/flat_json.hpp"

#include "base/error.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <string>

namespace quarry::registry {
namespace {

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(FlatJson, HoldsWhatTheTreeHolds) {
  for (const std::string text :
       {"{}", "[]", "1", "\"\"", "null", R"({"a":{"b":[1,-2,3.5,true,false,null,"x"],"c":{}},"d":[[],[{}]],"e":""})",
        R"({"a":18446744073709551615,"b":-9223372036854775808,"c":-0,"d":1e3,"e":0.1})",
        R"({"":"the empty key","a":"ä\n\"\\\u0000\u00e4\ud83d\ude00/"})", // escapes
        R"( { "b" : 1 , "a" : { "d" : [ 2 ] , "c" : 3 } } )"}) {          // not canonical
    auto tree = json::parse({text, "x"});
    auto flat = FlatJson::parse({text, "x"});
    ASSERT_TRUE(tree && flat) << text;
    EXPECT_EQ(flat->root().json().dump(), tree->dump());
  }
  EXPECT_TRUE(FlatJson::parse({nested(64), "x"}));
}

TEST(FlatJson, RefusesWhatTheTreeRefuses) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string(R"({"a":1,"a":2})"), std::string(R"({"b":1,"a":{"x":1,"x":1}})"),
        std::string("[1e999]"), std::string("\"\xff\""), std::string("{} {}"), nested(65), nested(1'000'000)}) {
    auto tree = json::parse({text, "the record"});
    auto flat = FlatJson::parse({text, "the record"});
    ASSERT_TRUE(!tree && !flat) << text.substr(0, 40);
    EXPECT_EQ(render(flat.error()), render(tree.error()));
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
