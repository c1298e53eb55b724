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

/// The tokens of one file, and which of them is the present one.
class Cursor {
public:
  Cursor(std::vector<Token> tokens, const std::string& file) : tokens_(std::move(tokens)), file_(file) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(char sign, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::sign && peek(ahead).text[0] == sign;
  }
  Unexpected error(const Token& token, std::string_view why) const { return python_error(file_, token.line, why); }

  void skip(std::size_t count = 1) { at_ += count; }
  bool at_end() const { return peek().kind == Token::Kind::end; }

private:
  std::vector<Token> tokens_;
  const std::string& file_;
  std::size_t at_ = 0;
};

/// How many tokens stand before the literal of `NAME = {`; nullopt when the statement is another one.
std::optional<std::size_t> assignment_value(const Cursor& at) {
  if (at.peek().kind != Token::Kind::name || !at.peek().at_margin) return std::nullopt;
  std::size_t equals = 1;
  if (at.is(':', 1)) // an annotation, up to the `=`
    while (!at.is('=', equals) && !at.peek(equals).at_margin && at.peek(equals).kind != Token::Kind::end) ++equals;
  bool opens = at.is('=', equals) && (at.is('{', equals + 1) || at.is('[', equals + 1) || at.is('(', equals + 1));
  return opens && !at.peek(equals + 1).at_margin ? std::optional(equals + 1) : std::nullopt;
}

/// Up to the next token at the margin that no bracket encloses.
Result<void> skip_statement(Cursor& at) {
  const auto& first = at.peek();
  int depth = 0;
  do {
    if (at.is('(') || at.is('[') || at.is('{')) ++depth;
    if (at.is(')') || at.is(']') || at.is('}')) --depth;
    if (depth < 0) return at.error(at.peek(), "a bracket closes that was not opened");
    at.skip();
  } while (!at.at_end() && (depth > 0 || !at.peek().at_margin));
  return depth == 0 ? Result<void>() : at.error(first, "a bracket that does not close");
}

/// Reads values, one literal after the other.
class Parser {
public:
  explicit Parser(Cursor& at) : at_(at) {}

  Result<Literal> read(int depth) {
    if (depth > k_depth_max) return at_.error(at_.peek(), fmt::format("nested deeper than {}", k_depth_max));
    if (++values_ > k_values_max) return at_.error(at_.peek(), fmt::format("more than {} values", k_values_max));
    Literal value;
    value.line = at_.peek().line;
    switch (at_.peek().kind) {
    case Token::Kind::text: return read_text(std::move(value));
    case Token::Kind::number: return read_number(std::move(value), false);
    case Token::Kind::name: return read_constant(std::move(value));
    case Token::Kind::end: return at_.error(at_.peek(), "the value ends early");
    case Token::Kind::sign: break;
    }
    if (at_.is('{')) return read_dict(std::move(value), depth);
    if (at_.is('[')) return read_list(std::move(value), ']', depth);
    if (at_.is('(')) return read_list(std::move(value), ')', depth);
    bool negative = at_.is('-');
    if ((negative || at_.is('+')) && at_.peek(1).kind == Token::Kind::number) {
      at_.skip();
      return read_number(std::move(value), negative);
    }
    return at_.error(at_.peek(), fmt::format("`{}` is not a literal", at_.peek().text));
  }

private:
  Result<Literal> read_text(Literal value) {
    value.kind = Literal::Kind::text;
    for (; at_.peek().kind == Token::Kind::text; at_.skip()) { // neighbours are one string
      if (at_.peek().formatted) return at_.error(at_.peek(), "an f-string or bytes, which is not a literal here");
      value.text += at_.peek().text;
    }
    return value;
  }

  Result<Literal> read_number(Literal value, bool negative) {
    auto digits = text::replace_all(at_.peek().text, "_", "");
    if (negative) digits.insert(0, "-");
    const char *begin = digits.data(), *end = begin + digits.size();
    value.kind = Literal::Kind::integer;
    auto whole = std::from_chars(begin, end, value.integer);
    if (whole.ec != std::errc() || whole.ptr != end) {
      value.kind = Literal::Kind::number;
      auto real = std::from_chars(begin, end, value.number);
      if (real.ec != std::errc() || real.ptr != end)
        return at_.error(at_.peek(), fmt::format("{} is not a decimal number", at_.peek().text));
    }
    at_.skip();
    return value;
  }

  Result<Literal> read_constant(Literal value) {
    const auto& word = at_.peek().text;
    if (word != "True" && word != "False" && word != "None")
      return at_.error(at_.peek(), fmt::format("{} is a name, not a literal", word.substr(0, 100)));
    value.kind = word == "None" ? Literal::Kind::none : Literal::Kind::boolean;
    value.boolean = word == "True";
    at_.skip();
    return value;
  }

  Result<Literal> read_list(Literal value, char closing, int depth) {
    value.kind = Literal::Kind::list;
    bool comma = false;
    for (at_.skip(); !at_.is(closing);) {
      TRY(auto item, read(depth + 1));
      value.items.push_back(std::move(item));
      comma = at_.is(',');
      if (comma)
        at_.skip();
      else if (!at_.is(closing))
        return at_.error(at_.peek(), fmt::format("expected `,` or `{}`", closing));
    }
    at_.skip();
    if (closing == ')' && value.items.size() == 1 && !comma) { // brackets around one value do not make a tuple
      auto only = std::move(value.items.front());
      return only;
    }
    return value;
  }

  Result<Literal> read_dict(Literal value, int depth) {
    value.kind = Literal::Kind::dict;
    std::set<std::string> seen;
    for (at_.skip(); !at_.is('}');) {
      auto place = at_.peek();
      TRY(auto key, read(depth + 1));
      if (key.kind != Literal::Kind::text) return at_.error(place, "a key that is not a string");
      if (!seen.insert(key.text).second) return at_.error(place, fmt::format("the key {:?} appears twice", key.text));
      if (!at_.is(':')) return at_.error(at_.peek(), "expected `:`");
      at_.skip();
      TRY(auto member, read(depth + 1));
      value.members.push_back({std::move(key.text), std::move(member)});
      if (at_.is(','))
        at_.skip();
      else if (!at_.is('}'))
        return at_.error(at_.peek(), "expected `,` or `}`");
    }
    at_.skip();
    return value;
  }

  Cursor& at_;
  std::size_t values_ = 0;
};
} // namespace

const Literal* Literal::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

Result<std::vector<Assignment>> parse_python_tables(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  TRY(auto tokens, python_tokens(text, file));
  Cursor at(std::move(tokens), file);
  Parser parser(at);
  std::vector<Assignment> found;
  while (!at.at_end()) {
    auto before = assignment_value(at);
    if (!before) {
      TRY_DO(skip_statement(at));
      continue;
    }
    Assignment assignment{at.peek().text, {}, at.peek().line};
    at.skip(*before);
    TRY(assignment.value, parser.read(0));
    if (!at.peek().at_margin)
      return at.error(at.peek(), fmt::format("the value of {} goes on after its literal", assignment.name));
    found.push_back(std::move(assignment));
  }
  return found;
}

} // namespace quarry::matrix
