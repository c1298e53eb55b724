#include "workflow/yaml.hpp"

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

TEST(Yaml, BadInputIsADefectWithACode) {
  EXPECT_EQ(code_of("a: [1\nb: 2\n"), "Y101");
  EXPECT_EQ(code_of("a:\n\tb: 1\n"), "Y101");
  EXPECT_EQ(code_of("a: 1\na: 2\n"), "Y103");
  EXPECT_EQ(code_of("a: &x [*x]\n"), "Y101");
  EXPECT_EQ(code_of(std::string(k_file_bytes_max + 1, '#')), "Y102");
  EXPECT_EQ(code_of("a: 1\n"), "");
  EXPECT_EQ(code_of(""), "");
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
