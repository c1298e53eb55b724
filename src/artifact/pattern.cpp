#include "artifact/pattern.hpp"

#include <fmt/core.h>
#include <regex.h>

namespace quarry::artifact {

namespace {
constexpr std::size_t k_pattern_max = 500; // the POSIX matcher's memory grows with the expression; names need 50

/// `\d` is what people know from Python; POSIX has no letter for it.
std::string with_digits(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    char next = text[++i];
    if (next == 'd')
      out += "[0-9]";
    else if (next == 'D')
      out += "[^0-9]";
    else
      out += {'\\', next};
  }
  return out;
}
} // namespace

struct Pattern::Compiled {
  regex_t expression{};
  bool ready = false;
  ~Compiled() {
    if (ready) ::regfree(&expression);
  }
};

Result<Pattern> Pattern::compile(const std::string& text) {
  auto bad = [&](std::string_view why) {
    return fail(ErrorKind::invalid_argument, "A020", fmt::format("the expression {:?} {}", text.substr(0, 100), why),
                "expressions are POSIX extended ones: `blas.*_lib`, `_(lib|run)_`");
  };
  if (text.empty()) return bad("is empty");
  if (text.size() > k_pattern_max) return bad(fmt::format("has more than {} characters", k_pattern_max));
  if (text.find("(?") != text.npos) return bad("uses `(?…)`, which is not supported");
  auto compiled = std::make_shared<Compiled>();
  if (int status = ::regcomp(&compiled->expression, with_digits(text).c_str(), REG_EXTENDED | REG_NOSUB); status != 0) {
    char why[200];
    ::regerror(status, &compiled->expression, why, sizeof why);
    return bad(fmt::format("is malformed: {}", why));
  }
  compiled->ready = true;
  Pattern pattern;
  pattern.compiled_ = std::move(compiled);
  return pattern;
}

bool Pattern::found_in(const std::string& name) const {
  return ::regexec(&compiled_->expression, name.c_str(), 0, nullptr, 0) == 0;
}

} // namespace quarry::artifact
