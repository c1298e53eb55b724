#include "base/json.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace quarry::json {
namespace {
using ::testing::HasSubstr;

TEST(Json, CanonicalIsSortedAndDense) {
  Json value = {{"b", 1}, {"a", {{"z", nullptr}, {"y", {1, "ä", true}}}}};
  EXPECT_EQ(canonical(value).value(), R"({"a":{"y":[1,"ä",true],"z":null},"b":1})");
  EXPECT_EQ(parse({canonical(value).value(), "x"}).value(), value);
  EXPECT_EQ(pretty(Json{{"a", 1}}), "{\n  \"a\": 1\n}\n");
}

TEST(Json, CanonicalRefusesWhatIsNotUtf8) {
  auto result = canonical(Json("\xff"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "B001");
}

TEST(Json, ParseRefusesInvalidText) {
  for (auto bad : {"", "{", "[1,]", "{\"a\":1} x", "{'a':1}", "// c\n1", "\"\xff\"", "01", "nan"}) {
    auto result = parse({bad, "the record"});
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, "B002");
    EXPECT_THAT(result.error().message, HasSubstr("the record"));
  }
}

TEST(Json, ParseBoundsDepth) {
  EXPECT_TRUE(parse({std::string(64, '[') + std::string(64, ']'), "x"}));
  EXPECT_FALSE(parse({std::string(66, '[') + std::string(66, ']'), "x"}));
  auto deep = parse({std::string(1'000'000, '['), "x"}); // must neither overflow the stack nor succeed
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, "B002");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(parse({objects, "x"}));
}

// Readers disagree on which of the two counts.
TEST(Json, ParseRefusesAKeyThatStandsTwice) {
  auto result = parse({R"({"a":{"generation":1,"x":{"generation":3},"generation":2}})", "the channel"});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("\"generation\" twice"));
  EXPECT_TRUE(parse({R"([{"a":1},{"a":2},{"b":{"a":1},"a":2}])", "x"}));
}

TEST(Json, CheckedAccess) {
  Json value = {{"name", "x"}, {"size", 5}, {"negative", -1}, {"real", 1.5}};
  EXPECT_EQ(string_at({value, "r"}, "name").value(), "x");
  EXPECT_EQ(unsigned_at({value, "r"}, "size").value(), 5u);
  EXPECT_EQ(string_or(value, "name", "y"), "x");
  EXPECT_EQ(string_or(value, "size", "y"), "y");
  EXPECT_EQ(string_or(Json(1), "size", "y"), "y");
  for (const auto& result :
       {string_at({value, "r"}, "size"), string_at({value, "r"}, "gone"), string_at({Json::array(), "r"}, "name")}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "B003");
  }
  for (auto key : {"negative", "real", "name", "gone"})
    EXPECT_EQ(unsigned_at({value, "r"}, key).error().code, "B003") << key;
}

TEST(Json, Schema) {
  Json value = {{"schema", "quarry.set/1"}};
  EXPECT_TRUE(require_schema({value, "x"}, "quarry.set/1"));
  EXPECT_EQ(require_schema({value, "x"}, "quarry.set/2").error().code, "B004");
  EXPECT_EQ(require_schema({Json::object(), "x"}, "quarry.set/1").error().code, "B003");
}

TEST(Json, ASyntaxErrorSaysWhereInOurWords) {
  auto error = [](std::string_view text) { return json::parse({text, "a.json"}).error().message; };
  EXPECT_EQ(error(""), "a.json is not valid JSON: it is empty");
  EXPECT_EQ(error("{\"a\": 1"), "a.json is not valid JSON: it ends too early, at line 1, column 8");
  EXPECT_EQ(error("[]]"), "a.json is not valid JSON: line 1, column 3 is not expected, at the end of `[]]`");
  EXPECT_EQ(error("{\n  \"a\": nul1\n}"),
            "a.json is not valid JSON: line 2, column 11 is not expected, at the end of `\"a\": nul1`");
  EXPECT_EQ(error("[\"\xff\"]").find("json.exception"), std::string::npos);
  EXPECT_LT(error("[" + std::string(100'000, '1') + "x]").size(), 200u);
}

} // namespace
} // namespace quarry::json
