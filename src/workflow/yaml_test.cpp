#include "workflow/yaml.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

using namespace quarry;
using namespace quarry::workflow;

namespace {
std::string code_of(std::string_view text) {
  auto parsed = parse_yaml({text, "a.yml"});
  return parsed.defects.empty() ? "" : parsed.defects[0].code;
}
} // namespace

TEST(Yaml, OnStaysATextAndValuesKnowTheirPlace) {
  auto parsed = parse_yaml({"on: push\njobs:\n  build:\n    n: 3\n    flag: true\n    text: 'true'\n", "a.yml"});
  ASSERT_TRUE(parsed.readable);
  EXPECT_EQ(parsed.root.text_at("on"), "push");
  const auto* jobs = parsed.root.find("jobs");
  ASSERT_TRUE(jobs);
  const auto* build = jobs->member("build");
  ASSERT_TRUE(build);
  EXPECT_EQ(build->at.line, 3u);
  EXPECT_EQ(build->at.column, 3u);
  EXPECT_EQ(build->value.find("n")->kind, Node::Kind::number);
  EXPECT_EQ(build->value.find("flag")->kind, Node::Kind::boolean);
  EXPECT_EQ(build->value.find("text")->kind, Node::Kind::text);
}

TEST(Yaml, LiteralBlocksKnowTheirLines) {
  auto parsed = parse_yaml({"run: |\n  one\n  two x\n", "a.yml"});
  const auto* run = parsed.root.find("run");
  ASSERT_TRUE(run);
  auto at = position_in(*run, run->text.find('x'));
  EXPECT_EQ(at.line, 3u);
  EXPECT_EQ(at.column, 7u);
}

TEST(Yaml, PlacesAreFoundInAnyOrder) {
  auto parsed = parse_yaml({"run: |\n  one\n  two x\n\n  y\n", "a.yml"});
  const auto* run = parsed.root.find("run");
  ASSERT_TRUE(run);
  Positions places(*run);
  for (std::size_t at : {run->text.find('y'), std::size_t{0}, run->text.find('x'), std::size_t{3}, run->text.size()}) {
    auto found = places.at(at), alone = position_in(*run, at);
    EXPECT_EQ(found.line, alone.line) << at;
    EXPECT_EQ(found.column, alone.column) << at;
  }
  EXPECT_EQ(places.at(run->text.find('y')).line, 5u);
}

TEST(Yaml, QuotedTextsKnowTheirColumns) {
  for (auto quote : {"'", "\""}) {
    auto parsed = parse_yaml({fmt::format("a: {0}x y{0}\n", quote), "a.yml"});
    const auto* text = parsed.root.find("a");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->at.column, 4u);
    EXPECT_EQ(position_in(*text, 2).column, 7u);
  }
}

TEST(Yaml, BadInputIsADefectWithACode) {
  EXPECT_EQ(code_of("a: [1\nb: 2\n"), "Y101");
  EXPECT_EQ(code_of("a:\n\tb: 1\n"), "Y101");
  EXPECT_EQ(code_of("a: 1\na: 2\n"), "Y103");
  EXPECT_EQ(code_of("a: &x [*x]\n"), "Y101");
  EXPECT_EQ(code_of(std::string(k_file_bytes_max + 1, '#')), "Y102");
  EXPECT_EQ(code_of("a: 1\n"), "");
  EXPECT_EQ(code_of(""), "");
}

TEST(Yaml, WhatIsInBracketsAndQuotesMayStandAtTheColumnOfItsKey) {
  auto parsed = parse_yaml(
      {"m:\n  t: [\n    {a: 1},\n  ]\n  u: {\n    b: 2\n  }\n  v: \"x\n  y\"\n  w: 'x\n  y'\n  z: 3\n", "a.yml"});
  ASSERT_TRUE(parsed.readable) << parsed.defects.at(0).message;
  const auto* m = parsed.root.find("m");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->find("t")->items.size(), 1u);
  EXPECT_EQ(m->find("u")->text_at("b"), "2");
  EXPECT_EQ(m->text_at("v"), "x y");
  EXPECT_EQ(m->text_at("w"), "x y");
  EXPECT_EQ(m->member("z")->at.line, 12u);
  EXPECT_EQ(code_of("a:\n  b: [1\n  c: 2\n"), "Y101");
  EXPECT_EQ(code_of("a: {b: 1\n"), "Y101");
  EXPECT_EQ(code_of("a: \"x\nb: 2\n"), "Y101");
}

TEST(Yaml, AFileThatIsNotTextIsADefectAtItsByte) {
  auto parsed = parse_yaml({"on: &\n%\xf8", "a.yml"}); // libfyaml 0.7.12 never ends on it
  ASSERT_EQ(parsed.defects.size(), 1u);
  EXPECT_EQ(parsed.defects[0].code, "Y101");
  EXPECT_EQ(parsed.defects[0].message, "the file is not YAML: byte 0xF8 is not UTF-8");
  EXPECT_EQ(parsed.defects[0].at.line, 2u);
  EXPECT_EQ(parsed.defects[0].at.column, 2u);
  EXPECT_EQ(code_of("a: b\x1b[0m\n"), "Y101");
  EXPECT_EQ(code_of(std::string("a: b\0c\n", 7)), "Y101");
  EXPECT_EQ(code_of("a: \t'\xC3\xA4'\r\n"), "");
}

TEST(Yaml, QuotesBesideQuotesAreRead) {
  auto text_of = [](const std::string& written) {
    return parse_yaml({"a: " + written + "\n", "a.yml"}).root.text_at("a");
  };
  EXPECT_EQ(text_of("'a''''b'"), "a''b");
  EXPECT_EQ(text_of("'inputs.ref != '''''"), "inputs.ref != ''");
  EXPECT_EQ(text_of("''''''''''''"), "'''''");
  EXPECT_EQ(text_of("'x == ''''  \n\n\n    && y\n  || z'"), "x == ''\n\n&& y || z");
  EXPECT_EQ(text_of("'\n  ''''\n  '"), " '' ");
}

TEST(Yaml, TextsAreReadAsTheyMean) {
  auto text_of = [](const std::string& written) {
    return parse_yaml({"\xC3\xA4: \xE2\x82\xAC\na: " + written, "a.yml"}).root.text_at("a");
  };
  EXPECT_EQ(text_of("one \xC3\xA4 two   # comment\r\n"), "one \xC3\xA4 two");
  EXPECT_EQ(text_of("one\n  two\n\n  three\n"), "one two\nthree");
  EXPECT_EQ(text_of("\"tab\\t \\\"x\\\" \xC3\xA4\"\n"), "tab\t \"x\" \xC3\xA4");
  EXPECT_EQ(text_of("\"plain \xC3\xA4\"  # c\n"), "plain \xC3\xA4");
  EXPECT_EQ(text_of("'it''s'\n"), "it's");
  EXPECT_EQ(text_of("'say \"x\"'\n"), "say \"x\"");
  EXPECT_EQ(text_of("\"one\n  two\"\n"), "one two");
  EXPECT_EQ(text_of("!!str 12\n"), "12");
  EXPECT_EQ(text_of("&x y z\n"), "y z");
  EXPECT_EQ(text_of("\n"), "");
  EXPECT_EQ(text_of("''\n"), "");
}

TEST(Yaml, AliasesOfAliasesAreBounded) {
  std::string text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    auto before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) text += "," + before;
    text += "]\n";
  }
  EXPECT_EQ(code_of(text), "Y102");
}
