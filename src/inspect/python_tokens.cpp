#include "inspect/python_tokens.hpp"

#include "base/ascii.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::inspect {

namespace {
bool is_python_word(char c) { return c == '_' || ascii::is_alnum(c) || static_cast<unsigned char>(c) >= 0x80; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

class PythonScanner {
public:
  explicit PythonScanner(std::string_view text) : text_(text) {
    constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
    if (text_.starts_with(k_byte_order_mark)) at_ = k_byte_order_mark.size();
  }

  PythonScan scan() {
    begin_line();
    while (at_ < text_.size() && out_.problem.empty()) step();
    if (!open_.empty() && out_.problem.empty())
      out_.problem = fmt::format("a bracket that opens on line {} is not closed", open_.back().line);
    end_statement();
    return std::move(out_);
  }

private:
  struct Bracket {
    char close;
    std::size_t line;
  };

  char now(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    char c = now();
    if (is_blank(c))
      ++at_;
    else if (c == '#')
      while (at_ < text_.size() && !is_line_end(now())) ++at_;
    else if (c == '\\' && is_line_end(now(1)))
      ++at_, end_line();
    else if (is_line_end(c))
      line_end();
    else if (ascii::is_digit(c) || (c == '.' && ascii::is_digit(now(1))))
      number();
    else if (c == '"' || c == '\'')
      quoted(at_);
    else if (is_python_word(c))
      word();
    else
      sign();
  }

  /// Behind "\n", "\r\n" or "\r".
  void end_line() {
    at_ += now() == '\r' && now(1) == '\n' ? 2 : 1;
    ++line_;
  }

  void line_end() {
    end_line();
    if (!open_.empty()) return;
    end_statement();
    begin_line();
  }

  void begin_line() {
    auto begin = at_;
    while (is_blank(now())) ++at_;
    statement_.indent = at_ - begin;
  }

  void end_statement() {
    if (!statement_.tokens.empty()) out_.statements.push_back(std::move(statement_));
    statement_ = {};
  }

  void token(PythonToken::Kind kind, std::size_t begin) {
    statement_.tokens.push_back({kind, text_.substr(begin, at_ - begin)});
  }

  void number() {
    auto begin = at_;
    bool hexadecimal = now() == '0' && (now(1) == 'x' || now(1) == 'X');
    for (; is_python_word(now()) || now() == '.'; ++at_)
      if (!hexadecimal && (now() == 'e' || now() == 'E') && (now(1) == '+' || now(1) == '-')) ++at_;
    token(PythonToken::Kind::number, begin);
  }

  /// A name, or the prefix of a text.
  void word() {
    auto begin = at_;
    while (is_python_word(now())) ++at_;
    bool prefix = at_ - begin <= 2 && text_.substr(begin, at_ - begin).find_first_not_of("rRbBfFuUtT") == text_.npos;
    if (prefix && (now() == '"' || now() == '\'')) return quoted(begin);
    token(PythonToken::Kind::word, begin);
  }

  /// From the quote on; `begin` is that of the prefix.
  void quoted(std::size_t begin) {
    auto line = line_;
    char quote = now();
    bool three = now(1) == quote && now(2) == quote;
    for (at_ += three ? 3 : 1; at_ < text_.size();) {
      if (now() == quote && (!three || (now(1) == quote && now(2) == quote))) {
        at_ += three ? 3 : 1;
        return token(PythonToken::Kind::text, begin);
      }
      bool escaped = now() == '\\';
      if (escaped) ++at_;
      if (is_line_end(now())) {
        if (!three && !escaped) break;
        end_line();
      } else if (at_ < text_.size()) {
        ++at_;
      }
    }
    out_.problem = fmt::format("a text that begins on line {} has no end", line);
  }

  void sign() {
    constexpr std::array<std::string_view, 23> k_long = {
        "**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", "->", ":=", "+=",
        "-=",  "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^=", "**", "//", "<>"};
    auto begin = at_;
    auto rest = text_.substr(at_);
    auto found = std::ranges::find_if(k_long, [&](std::string_view each) { return rest.starts_with(each); });
    at_ += found == k_long.end() ? 1 : found->size();
    constexpr std::string_view k_opening = "([{", k_closing = ")]}";
    if (auto kind = k_opening.find(text_[begin]); kind != k_opening.npos)
      open_.push_back({k_closing[kind], line_});
    else if (k_closing.find(text_[begin]) != k_closing.npos && !closes(text_[begin]))
      out_.problem = fmt::format("a bracket that closes on line {} was not opened", line_);
    token(PythonToken::Kind::sign, begin);
  }

  bool closes(char bracket) {
    if (open_.empty() || open_.back().close != bracket) return false;
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  PythonStatement statement_;
  std::vector<Bracket> open_;
  PythonScan out_;
};
} // namespace

PythonScan scan_python(std::string_view text) { return PythonScanner(text).scan(); }

} // namespace quarry::inspect
