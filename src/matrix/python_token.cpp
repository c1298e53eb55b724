#include "matrix/python_token.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cctype>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {
constexpr std::size_t k_text_max = 4u << 20; // the incumbent's table has 20 kB
constexpr int k_octal_digits = 3, k_unicode_max = 0x10ffff;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

class Lexer {
public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<std::vector<Token>> run() {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    while (at_ < text_.size()) TRY_DO(step());
    tokens_.push_back({Token::Kind::end, "", line_, true, false});
    return std::move(tokens_);
  }

private:
  Unexpected error(std::string_view why) const { return python_error(file_, line_, why); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts_line() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  Result<void> step() {
    char c = peek();
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 1 : 2; // the line goes on
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '\0') {
      return error("a NUL byte");
    } else if (c == '"' || c == '\'') {
      return read_string("", starts_line());
    } else if (is_word(c)) {
      return read_word();
    } else {
      tokens_.push_back({Token::Kind::sign, std::string(1, c), line_, starts_line(), false});
      ++at_;
    }
    return {};
  }

  Result<void> read_word() {
    auto begin = at_;
    bool margin = starts_line();
    bool digit = std::isdigit(static_cast<unsigned char>(peek()));
    while (is_word(peek()) || (digit && (peek() == '.' || ((peek() == '+' || peek() == '-') && is_exponent())))) ++at_;
    auto word = text_.substr(begin, at_ - begin);
    if (!digit && word.size() <= 2 && (peek() == '"' || peek() == '\'') && is_prefix(word))
      return read_string(word, margin);
    tokens_.push_back({digit ? Token::Kind::number : Token::Kind::name, std::string(word), line_, margin, false});
    return {};
  }
  bool is_exponent() const { return at_ > 0 && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'); }
  static bool is_prefix(std::string_view word) { return word.find_first_not_of("rRbBuUfF") == word.npos; }

  Result<void> read_string(std::string_view prefix, bool margin) {
    Token token{Token::Kind::text, "", line_, margin, prefix.find_first_of("bBfF") != prefix.npos};
    bool raw = prefix.find_first_of("rR") != prefix.npos;
    char quote = peek();
    bool triple = peek(1) == quote && peek(2) == quote;
    auto closing = std::string(triple ? 3 : 1, quote);
    at_ += closing.size();
    while (text_.substr(at_, closing.size()) != closing) {
      if (at_ >= text_.size() || (peek() == '\n' && !triple)) {
        line_ = token.line;
        return error("a string that does not end");
      }
      TRY_DO(read_character(token.text, raw));
    }
    at_ += closing.size();
    tokens_.push_back(std::move(token));
    return {};
  }

  Result<void> read_character(std::string& into, bool raw) {
    char c = text_[at_++];
    if (c == '\n') ++line_;
    if (c != '\\' || at_ >= text_.size()) {
      into += c;
      return {};
    }
    char escaped = text_[at_++];
    if (escaped == '\n') ++line_;
    if (!raw) return unescape(into, escaped);
    into += c;
    into += escaped;
    return {};
  }

  Result<void> unescape(std::string& into, char escaped) {
    constexpr std::string_view k_from = "\\'\"abfnrtv", k_to = "\\'\"\a\b\f\n\r\t\v";
    if (escaped == '\n') return {};
    if (auto known = k_from.find(escaped); known != k_from.npos) {
      into += k_to[known];
      return {};
    }
    if (escaped >= '0' && escaped <= '7') {
      --at_;
      return code_point(into, k_octal_digits, 8, false);
    }
    if (escaped == 'x') return code_point(into, 2, 16, true);
    if (escaped == 'u') return code_point(into, 4, 16, true);
    if (escaped == 'U') return code_point(into, 8, 16, true);
    if (escaped == 'N') return error("a character by its name");
    into += '\\'; // Python keeps what it does not know
    into += escaped;
    return {};
  }

  Result<void> code_point(std::string& into, int digits, unsigned base, bool all) {
    unsigned long value = 0;
    int count = 0;
    for (; count < digits; ++count) {
      auto c = static_cast<unsigned char>(peek());
      unsigned digit = std::isdigit(c)    ? c - '0'
                       : std::isxdigit(c) ? static_cast<unsigned>(std::tolower(c)) - 'a' + 10
                                          : base;
      if (digit >= base) break;
      value = value * base + digit;
      ++at_;
    }
    bool surrogate = value >= 0xd800 && value < 0xe000;
    if ((all && count < digits) || value > k_unicode_max || surrogate)
      return error("an escape that is not a character");
    append_utf8(into, static_cast<unsigned>(value));
    return {};
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};
} // namespace

Unexpected python_error(const std::string& file, int line, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "F009", fmt::format("{}:{}: {}", file, line, why),
              "a table is made of dicts, lists, strings, numbers, True, False and None; nothing is executed");
}

Result<std::vector<Token>> python_tokens(std::string_view text, const std::string& file) {
  if (text.size() > k_text_max) return python_error(file, 1, fmt::format("more than {} bytes", k_text_max));
  if (!text::is_valid_utf8(text)) return python_error(file, 1, "not UTF-8");
  return Lexer(text, file).run();
}

} // namespace quarry::matrix
