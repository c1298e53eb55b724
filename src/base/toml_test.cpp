#include "base/toml.hpp"

#include <gtest/gtest.h>

namespace quarry {
namespace {

Result<TomlTable> parse(std::string_view text) { return TomlTable::parse({text, "x.toml"}, {"T1", "T2", "hint"}); }

TEST(Toml, RefusesWhatIsNoToml) {
  for (auto text : {"[.x]",  "[[.x]]",      "[[ .x]]",      "[,]",  "[=]",      "[-",          "[",      "[[",
                    ". = 1", "a. = 1",      "x = {.a = 1}", "[]",   "= 1",      "x = {,}",     "[a..b]", "a = ",
                    "a",     "a = 1 b = 2", "a = 'x",       "\xff", "[a]\n[a]", "a = 1\na = 2"}) {
    auto table = parse(text);
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code, "T1") << text;
    EXPECT_EQ(table.error().hint, "hint") << text;
    EXPECT_TRUE(table.error().message.starts_with("x.toml:")) << table.error().message;
  }
}

TEST(Toml, CharactersBeyondAsciiStandInStringsAndCommentsOnly) {
  for (std::string text : {"# é\na = 1 # é\n", R"(a = "é")", "a = 'é'", "a = \"\"\"\né\n\"\"\"\"\"", "a = '''\né'''",
                           R"("é" = 1)", "'é' = 1", R"(a = "\\" # é)", R"(a = '\' # é)", "a = \"\"\"\\\n  x é\"\"\"",
                           R"(a = "\"é")", R"(a = "" # é)", "a = ''\nb = 'é'"}) {
    auto table = parse(text);
    EXPECT_TRUE(table) << text << (table ? "" : render(table.error()));
  }
  EXPECT_TRUE(parse("\xef\xbb\xbf# é\na = 1"));
  for (std::string text :
       {"é = 1", "a.é = 1", "[é]", "[[é]]", "a = é", "a = 1 é", "a =\u00a0 1", "\u2000a = 1", "a = {é = 1}",
        "a = [1, é]", R"(a = "\é")", R"(a = """\é""")", "a = \"\"\"\\\n  é\"\"\"", R"(a = '\'é)", R"(a = ""é)",
        "a = \"\"\"\"\"\" é", "variant.linux\u00aasan = 1", "a = 5)\"é\""}) {
    auto table = parse("b = 1\n" + text);
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code, "T1") << text;
  }
  auto late = parse("a = \"\"\"\n\n\"\"\"\né = 1");
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().message.starts_with("x.toml:4: a character beyond ASCII")) << late.error().message;
}

TEST(Toml, NamesFileLineAndKeyOfATypingError) {
  auto table = parse("a = 1\n[b]\nc = 2\nd = 3\n");
  ASSERT_TRUE(table);
  std::int64_t a = 0, c = 0;
  ASSERT_TRUE(table->integer("a", a));
  auto read = table->table("b", [&](TomlTable& inner) { return inner.integer("c", c); });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "x.toml:4: b.d: is not a known key");
  EXPECT_EQ(read.error().code, "T2");
  EXPECT_EQ(a + c, 3);
}

TEST(Toml, AMissingKeyNamesTheOneThatLooksLikeIt) {
  auto table = parse("teirs = 1\nother = 2\n");
  ASSERT_TRUE(table);
  std::int64_t tiers = 0, other = 0;
  ASSERT_TRUE(table->integer("other", other));
  auto missing = table->integer("tiers", tiers, true);
  ASSERT_FALSE(missing);
  ASSERT_EQ(missing.error().details.size(), 1u);
  EXPECT_EQ(missing.error().details[0], "line 1: \"teirs\" is not a known key: did you mean tiers?");
  EXPECT_TRUE(table->integer("others", tiers, true).error().details.empty()) << "a key that was asked for is known";
}

TEST(Toml, ReadsAStoredDocument) {
  auto table = TomlTable::of_json(
      {R"({"a":"x","b":{"c":[ "d","e" ],"n":3,"t":true},"r":[{"k":"v"},{"k":"w"}]})", "x.json"}, {"T2", "T2", "hint"});
  ASSERT_TRUE(table) << render(table.error());
  std::string a;
  std::vector<std::string> c, ks;
  std::int64_t n = 0;
  bool t = false;
  ASSERT_TRUE(table->text("a", a));
  ASSERT_TRUE(table->table("b", [&](TomlTable& inner) -> Result<void> {
    TRY_DO(inner.texts("c", c));
    TRY_DO(inner.integer("n", n));
    return inner.flag("t", t);
  }));
  ASSERT_TRUE(table->tables("r", [&](TomlTable& each) { return each.text("k", ks.emplace_back()); }));
  ASSERT_TRUE(table->finish());
  EXPECT_EQ(a, "x");
  EXPECT_EQ(c, (std::vector<std::string>{"d", "e"}));
  EXPECT_EQ(ks, (std::vector<std::string>{"v", "w"}));
  EXPECT_EQ(n, 3);
  EXPECT_TRUE(t);
  for (const char* bad : {"[]", "1", R"({"a":null})", R"({"a":[[1]]})", R"({"a":1.5})", "{"})
    EXPECT_FALSE(TomlTable::of_json({bad, "x.json"}, {"T2", "T2", "hint"})) << bad;
}

} // namespace
} // namespace quarry
