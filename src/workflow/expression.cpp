#include "workflow/expression.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <fmt/core.h>
#include <utility>

namespace quarry::workflow {

namespace {

bool starts_name(char c) { return ascii::is_letter(c) || c == '_'; }
bool in_name(char c) { return starts_name(c) || ascii::is_digit(c) || c == '-'; }
using ascii::is_digit;
bool is_comparison(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

Expression node(Expression::Kind kind, std::size_t offset) {
  Expression made;
  made.kind = kind;
  made.offset = offset;
  return made;
}

/// The text of one expression, read token by token. Keeps the first error; after it, nothing more is read.
class ExpressionText {
public:
  explicit ExpressionText(std::string_view text) : text_(text) {}

  bool failed() const { return failed_; }
  const ExpressionError& first_error() const { return error_; }
  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return text_[at_]; }
  bool sees(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  void error(std::string message) {
    if (!failed_) error_ = {at_, std::move(message)};
    failed_ = true;
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(std::string_view token) {
    blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string name() {
    auto begin = at_;
    if (at_ < text_.size() && starts_name(text_[at_]))
      while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Expression quoted() {
    auto made = node(Expression::Kind::literal, at_);
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\'') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '\'') {
          ++at_;
          return made;
        }
        ++at_;
      }
      made.text += text_[at_];
    }
    error("the text has no closing quote");
    return made;
  }
  Expression number() {
    auto made = node(Expression::Kind::literal, at_);
    auto begin = at_++;
    while (at_ < text_.size() && (in_name(text_[at_]) || text_[at_] == '.')) ++at_;
    made.text = std::string(text_.substr(begin, at_ - begin));
    return made;
  }

private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  ExpressionError error_;
};

Expression binary(std::string_view operation, Expression left, Expression right) {
  auto made = node(Expression::Kind::binary, left.offset);
  made.text = operation;
  made.parts.push_back(std::move(left));
  made.parts.push_back(std::move(right));
  return made;
}

Expression star() {
  Expression made;
  made.text = "*";
  return made;
}
void add_index(Expression& value, Expression key) {
  auto made = node(Expression::Kind::index, value.offset);
  made.parts.push_back(std::move(value));
  made.parts.push_back(std::move(key));
  value = std::move(made);
}
void add_property(Expression& value, const std::string& property) {
  if (value.kind == Expression::Kind::name) {
    value.path.push_back(property);
    return;
  }
  Expression key;
  key.text = property;
  add_index(value, std::move(key));
}

/// Recursive descent, by precedence: || && == != < <= > >= ! postfix.
class Parser {
public:
  explicit Parser(std::string_view text) : in_(text) {}

  ParsedExpression parse() {
    auto whole = disjunction(0);
    in_.blanks();
    if (!in_.failed() && !in_.at_end()) in_.error(fmt::format("`{}` is not expected here", in_.peek()));
    if (in_.failed()) return {std::nullopt, in_.first_error()};
    return {std::move(whole), {}};
  }

private:
  Expression disjunction(std::size_t depth) {
    if (depth > k_expression_depth_max) in_.error("the expression is nested too deeply");
    if (in_.failed()) return {};
    auto left = conjunction(depth);
    while (!in_.failed() && in_.take("||")) left = binary("||", std::move(left), conjunction(depth));
    return left;
  }
  Expression conjunction(std::size_t depth) {
    auto left = comparison(depth);
    while (!in_.failed() && in_.take("&&")) left = binary("&&", std::move(left), comparison(depth));
    return left;
  }
  Expression comparison(std::size_t depth) {
    auto left = unary(depth);
    while (!in_.failed()) {
      in_.blanks();
      if (in_.at_end() || !is_comparison(in_.peek())) break; // most values are not compared
      std::string_view found;
      for (std::string_view operation : {"==", "!=", "<=", ">=", "<", ">"})
        if (found.empty() && in_.take(operation)) found = operation;
      if (found.empty()) break;
      left = binary(found, std::move(left), unary(depth));
    }
    return left;
  }
  Expression unary(std::size_t depth) {
    if (depth > k_expression_depth_max) in_.error("the expression is nested too deeply");
    if (in_.failed()) return {};
    in_.blanks();
    auto begin = in_.at();
    if (in_.sees("!=") || !in_.take("!")) return postfix(depth);
    auto made = node(Expression::Kind::unary, begin);
    made.parts.push_back(unary(depth + 1));
    return made;
  }

  Expression postfix(std::size_t depth) {
    auto value = primary(depth);
    while (!in_.failed()) {
      if (in_.take(".")) {
        in_.blanks();
        auto property = in_.take("*") ? std::string("*") : in_.name();
        if (property.empty()) in_.error("a property's name is missing after `.`");
        add_property(value, property);
      } else if (in_.take("[")) {
        auto key = in_.take("*") ? star() : disjunction(depth + 1);
        if (!in_.failed() && !in_.take("]")) in_.error("`]` is missing");
        if (key.kind == Expression::Kind::literal)
          add_property(value, key.text);
        else
          add_index(value, std::move(key));
      } else {
        break;
      }
    }
    return value;
  }

  Expression primary(std::size_t depth) {
    in_.blanks();
    auto begin = in_.at();
    if (in_.at_end()) {
      in_.error("the expression ends too early");
      return {};
    }
    if (in_.take("(")) {
      auto inside = disjunction(depth + 1);
      if (!in_.failed() && !in_.take(")")) in_.error("`)` is missing");
      return inside;
    }
    char c = in_.peek();
    if (c == '\'') return in_.quoted();
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return in_.number();
    auto word = in_.name();
    if (word.empty()) {
      in_.error(c == '"' ? "texts stand in single quotes" : fmt::format("`{}` is not expected here", c));
      return {};
    }
    if (in_.take("(")) return call(text::lower(word), begin, depth);
    for (auto constant : {"true", "false", "null"})
      if (word == constant) {
        auto made = node(Expression::Kind::literal, begin);
        made.text = word == "null" ? "" : word;
        return made;
      }
    auto made = node(Expression::Kind::name, begin);
    made.path.push_back(word);
    return made;
  }

  Expression call(std::string function, std::size_t begin, std::size_t depth) {
    auto made = node(Expression::Kind::call, begin);
    made.text = std::move(function);
    if (in_.take(")")) return made;
    do made.parts.push_back(disjunction(depth + 1));
    while (!in_.failed() && in_.take(","));
    if (!in_.failed() && !in_.take(")")) in_.error("`)` is missing");
    return made;
  }

  ExpressionText in_;
};

std::size_t end_of_expression(std::string_view text, std::size_t at) {
  bool in_text = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '\'') in_text = !in_text;
    if (!in_text && text.substr(at).starts_with("}}")) return at;
  }
  return text.npos;
}
} // namespace

ParsedExpression parse_expression(std::string_view text) {
  if (text.size() > k_expression_bytes_max)
    return {std::nullopt, {0, fmt::format("the expression has more than {} bytes", k_expression_bytes_max)}};
  return Parser(text).parse();
}

std::vector<Piece> split_template(std::string_view text) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  while (at < text.size()) {
    auto begin = text.find("${{", at);
    auto end = begin == text.npos ? text.npos : end_of_expression(text, begin + 3);
    if (end == text.npos) begin = text.size();
    if (begin > at) pieces.push_back({false, std::string(text.substr(at, begin - at)), at});
    if (end == text.npos) break;
    pieces.push_back({true, std::string(text.substr(begin + 3, end - begin - 3)), begin + 3});
    at = end + 2;
  }
  return pieces;
}

std::optional<Expression> only_expression(std::string_view text) {
  auto pieces = split_template(text::trim(text));
  if (pieces.size() != 1 || !pieces[0].is_expression) return std::nullopt;
  return parse_expression(pieces[0].text).expression;
}

void needed_inputs(const Expression& condition, std::vector<std::string>& names) {
  using Kind = Expression::Kind;
  bool input = condition.kind == Kind::name && condition.path.size() == 2 && text::lower(condition.path[0]) == "inputs";
  if (input) names.push_back(condition.path[1]);
  bool twice = condition.kind == Kind::unary && condition.parts[0].kind == Kind::unary; // `!!inputs.a`
  if (twice) needed_inputs(condition.parts[0].parts[0], names);
  if (condition.kind != Kind::binary) return;
  const auto &left = condition.parts[0], &right = condition.parts[1];
  bool empty = right.kind == Kind::literal && (right.text.empty() || right.text == "false");
  bool compared = right.kind == Kind::literal && (condition.text == "==" ? !empty : condition.text == "!=" && empty);
  if (condition.text == "&&" || compared) needed_inputs(left, names);
  if (condition.text == "&&") needed_inputs(right, names);
}

} // namespace quarry::workflow
