#include "matrix/python_literal.hpp"

#include "base/text.hpp"
#include "matrix/python_token.hpp"
#include <charconv>
#include <fmt/core.h>
#include <set>

namespace quarry::matrix {

namespace {
constexpr int k_depth_max = 32;               // the incumbent's table nests 5 levels
constexpr std::size_t k_values_max = 200'000; // and holds a thousand values

class Parser {
public:
  Parser(std::vector<Token> tokens, const std::string& file) : tokens_(std::move(tokens)), file_(file) {}

  Result<std::vector<Assignment>> run() {
    std::vector<Assignment> found;
    while (peek().kind != Token::Kind::end) {
      auto value = assignment_value();
      if (!value) {
        TRY_DO(skip_statement());
        continue;
      }
      Assignment assignment{peek().text, {}, peek().line};
      at_ = *value;
      TRY(assignment.value, read(0));
      if (!peek().at_margin)
        return error(peek(), fmt::format("the value of {} goes on after its literal", assignment.name));
      found.push_back(std::move(assignment));
    }
    return found;
  }

private:
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(char sign, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::sign && peek(ahead).text[0] == sign;
  }
  Unexpected error(const Token& token, std::string_view why) const { return python_error(file_, token.line, why); }

  /// Where the literal of `NAME = {` begins; nullopt when the statement is another one.
  std::optional<std::size_t> assignment_value() const {
    if (peek().kind != Token::Kind::name || !peek().at_margin) return std::nullopt;
    std::size_t equals = 1;
    if (is(':', 1)) // an annotation, up to the `=`
      while (!is('=', equals) && !peek(equals).at_margin && peek(equals).kind != Token::Kind::end) ++equals;
    bool opens = is('=', equals) && (is('{', equals + 1) || is('[', equals + 1) || is('(', equals + 1));
    return opens && !peek(equals + 1).at_margin ? std::optional(at_ + equals + 1) : std::nullopt;
  }

  /// Up to the next token at the margin that no bracket encloses.
  Result<void> skip_statement() {
    const auto& first = peek();
    int depth = 0;
    do {
      if (is('(') || is('[') || is('{')) ++depth;
      if (is(')') || is(']') || is('}')) --depth;
      if (depth < 0) return error(peek(), "a bracket closes that was not opened");
      ++at_;
    } while (peek().kind != Token::Kind::end && (depth > 0 || !peek().at_margin));
    return depth == 0 ? Result<void>() : error(first, "a bracket that does not close");
  }

  Result<Literal> read(int depth) {
    if (depth > k_depth_max) return error(peek(), fmt::format("nested deeper than {}", k_depth_max));
    if (++values_ > k_values_max) return error(peek(), fmt::format("more than {} values", k_values_max));
    Literal value;
    value.line = peek().line;
    switch (peek().kind) {
    case Token::Kind::text: return read_text(std::move(value));
    case Token::Kind::number: return read_number(std::move(value), false);
    case Token::Kind::name: return read_constant(std::move(value));
    case Token::Kind::end: return error(peek(), "the value ends early");
    case Token::Kind::sign: break;
    }
    if (is('{')) return read_dict(std::move(value), depth);
    if (is('[')) return read_list(std::move(value), ']', depth);
    if (is('(')) return read_list(std::move(value), ')', depth);
    bool negative = is('-');
    if ((negative || is('+')) && peek(1).kind == Token::Kind::number) {
      ++at_;
      return read_number(std::move(value), negative);
    }
    return error(peek(), fmt::format("`{}` is not a literal", peek().text));
  }

  Result<Literal> read_text(Literal value) {
    value.kind = Literal::Kind::text;
    for (; peek().kind == Token::Kind::text; ++at_) { // neighbours are one string
      if (peek().formatted) return error(peek(), "an f-string or bytes, which is not a literal here");
      value.text += peek().text;
    }
    return value;
  }

  Result<Literal> read_number(Literal value, bool negative) {
    auto digits = text::replace_all(peek().text, "_", "");
    if (negative) digits.insert(0, "-");
    const char *begin = digits.data(), *end = begin + digits.size();
    value.kind = Literal::Kind::integer;
    auto whole = std::from_chars(begin, end, value.integer);
    if (whole.ec != std::errc() || whole.ptr != end) {
      value.kind = Literal::Kind::number;
      auto real = std::from_chars(begin, end, value.number);
      if (real.ec != std::errc() || real.ptr != end)
        return error(peek(), fmt::format("{} is not a decimal number", peek().text));
    }
    ++at_;
    return value;
  }

  Result<Literal> read_constant(Literal value) {
    const auto& word = peek().text;
    if (word != "True" && word != "False" && word != "None")
      return error(peek(), fmt::format("{} is a name, not a literal", word.substr(0, 100)));
    value.kind = word == "None" ? Literal::Kind::none : Literal::Kind::boolean;
    value.boolean = word == "True";
    ++at_;
    return value;
  }

  Result<Literal> read_list(Literal value, char closing, int depth) {
    value.kind = Literal::Kind::list;
    bool comma = false;
    for (++at_; !is(closing);) {
      TRY(auto item, read(depth + 1));
      value.items.push_back(std::move(item));
      comma = is(',');
      if (comma)
        ++at_;
      else if (!is(closing))
        return error(peek(), fmt::format("expected `,` or `{}`", closing));
    }
    ++at_;
    if (closing == ')' && value.items.size() == 1 && !comma) { // brackets around one value are no tuple
      auto only = std::move(value.items.front());
      return only;
    }
    return value;
  }

  Result<Literal> read_dict(Literal value, int depth) {
    value.kind = Literal::Kind::dict;
    std::set<std::string> seen;
    for (++at_; !is('}');) {
      auto place = peek();
      TRY(auto key, read(depth + 1));
      if (key.kind != Literal::Kind::text) return error(place, "a key that is not a string");
      if (!seen.insert(key.text).second) return error(place, fmt::format("the key {:?} appears twice", key.text));
      if (!is(':')) return error(peek(), "expected `:`");
      ++at_;
      TRY(auto member, read(depth + 1));
      value.members.push_back({std::move(key.text), std::move(member)});
      if (is(','))
        ++at_;
      else if (!is('}'))
        return error(peek(), "expected `,` or `}`");
    }
    ++at_;
    return value;
  }

  std::vector<Token> tokens_;
  const std::string& file_;
  std::size_t at_ = 0, values_ = 0;
};
} // namespace

const Literal* Literal::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

Result<std::vector<Assignment>> parse_python_tables(std::string_view text, const std::string& file) {
  TRY(auto tokens, python_tokens(text, file));
  return Parser(std::move(tokens), file).run();
}

} // namespace quarry::matrix
