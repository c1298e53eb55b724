#include "base/toml_guard.hpp"

#include <algorithm>

namespace quarry {

namespace {
constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t k_quotes_inside = 2; // a multi-line string may end in two quotes of its own

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with(k_byte_order_mark)) at_ = k_byte_order_mark.size();
  }

  std::optional<std::size_t> run() {
    while (at_ < text_.size() && !stray_) {
      char c = text_[at_];
      if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (c == '"' || c == '\'')
        skip_string(c);
      else
        step();
    }
    return stray_ ? std::optional(line_) : std::nullopt;
  }

private:
  bool is_foreign() const { return at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80; }
  void step() {
    stray_ = is_foreign();
    if (stray_) return;
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  void skip_string(char quote) {
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    bool multi_line = text_.substr(at_).starts_with(three);
    auto closing = multi_line ? three : three.substr(0, 1);
    at_ += closing.size();
    while (at_ < text_.size() && !stray_) {
      if (text_.substr(at_).starts_with(closing)) {
        at_ += closing.size();
        for (std::size_t i = 0; multi_line && i < k_quotes_inside && at_ < text_.size() && text_[at_] == quote; ++i)
          ++at_;
        return;
      }
      char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c == '\n' && !multi_line) return; // an open string: the parser says so
      if (c == '\\' && quote == '"') skip_escape();
    }
  }

  void skip_escape() {
    bool white = at_ < text_.size() && is_white(text_[at_]);
    while (white && at_ < text_.size() && is_white(text_[at_])) step();
    if (white || is_foreign())
      stray_ = is_foreign();
    else
      ++at_;
  }
  static bool is_white(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  bool stray_ = false;
};
} // namespace

std::optional<std::size_t> line_of_stray_character(std::string_view text) { return Scanner(text).run(); }

} // namespace quarry
