#include "workflow/expression.hpp"

#include <gtest/gtest.h>

using namespace quarry::workflow;

TEST(Expression, PathsOperatorsAndCalls) {
  auto parsed = parse_expression(" inputs.ref || github.event['inputs'].x ");
  ASSERT_TRUE(parsed.expression);
  EXPECT_EQ(parsed.expression->text, "||");
  EXPECT_EQ(parsed.expression->parts[0].path, (std::vector<std::string>{"inputs", "ref"}));
  EXPECT_EQ(parsed.expression->parts[1].path, (std::vector<std::string>{"github", "event", "inputs", "x"}));
  EXPECT_EQ(parsed.expression->parts[0].offset, 1u);
  auto call = parse_expression("fromJSON(inputs.config).targets[0]");
  ASSERT_TRUE(call.expression);
  EXPECT_EQ(call.expression->kind, Expression::Kind::index);
  auto text = parse_expression("'it''s'");
  ASSERT_TRUE(text.expression);
  EXPECT_EQ(text.expression->text, "it's");
}

TEST(Expression, DefectsHaveTheirOffset) {
  EXPECT_FALSE(parse_expression("a ||").expression);
  EXPECT_FALSE(parse_expression("'open").expression);
  auto parsed = parse_expression("a == \"b\"");
  ASSERT_FALSE(parsed.expression);
  EXPECT_EQ(parsed.error.offset, 5u);
  EXPECT_FALSE(parse_expression(std::string(1000, '(')).expression);
  EXPECT_FALSE(parse_expression(std::string(1000, '!') + "a").expression);
}

TEST(Expression, TemplatesKeepBracesOfTexts) {
  auto pieces = split_template("x-${{ format('{0}}}', a) }}-y");
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1].text, " format('{0}}}', a) ");
  EXPECT_EQ(pieces[2].text, "-y");
  EXPECT_EQ(split_template("${{ open").size(), 1u);
}
