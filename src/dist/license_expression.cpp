#include "dist/license_expression.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace quarry::dist {

namespace {

bool is_license_id(std::string_view word) {
  if (word.ends_with('+')) word.remove_suffix(1);
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return ascii::is_alnum(c) || c == '-' || c == '.'; });
}

/// What may come next follows from the last token alone; parentheses are counted.
class LicenseReader {
public:
  explicit LicenseReader(std::string_view text) : text_(text) {}

  Result<void> read() {
    if (text_.size() > k_license_expression_bytes_max) return error("it is longer than 8 KiB");
    auto spaced = text::replace_all(text::replace_all(text_, "(", " ( "), ")", " ) ");
    for (const auto& word : text::split_any(spaced, " \t")) TRY_DO(take(word));
    if (last_ == Last::joint) return error("a licence is missing at its end");
    if (last_ == Last::with) return error("an exception is missing at its end");
    if (depth_) return error("a parenthesis is not closed");
    return {};
  }

private:
  enum class Last { joint, license, with, closed }; // `joint`: nothing, `(`, AND or OR

  Result<void> take(const std::string& word) {
    auto lower = text::lower(word);
    if (word == "(") return open();
    if (word == ")") return close();
    if (lower == "and" || lower == "or") return join(word);
    if (lower == "with") return with();
    if (last_ == Last::license || last_ == Last::closed)
      return error(fmt::format("AND or OR is missing before {:?}", word));
    if (!is_license_id(word)) return error(fmt::format("{:?} is not an identifier", word));
    last_ = last_ == Last::with ? Last::closed : Last::license;
    return {};
  }
  Result<void> open() {
    if (last_ != Last::joint) return error("AND or OR is missing before a parenthesis");
    ++depth_;
    return {};
  }
  Result<void> close() {
    if (last_ == Last::joint || last_ == Last::with) return error("a licence is missing before a parenthesis");
    if (depth_-- == 0) return error("a parenthesis is closed and was not opened");
    last_ = Last::closed;
    return {};
  }
  Result<void> join(const std::string& word) {
    if (last_ == Last::joint || last_ == Last::with) return error(fmt::format("a licence is missing before {}", word));
    last_ = Last::joint;
    return {};
  }
  Result<void> with() {
    if (last_ != Last::license) return error("WITH must follow the identifier of a licence");
    last_ = Last::with;
    return {};
  }

  Unexpected error(std::string_view why) const {
    return fail(ErrorKind::invalid_argument, "M014",
                fmt::format("{:?} is not a licence expression: {}", text_.substr(0, 200), why),
                "write it like MIT OR (Apache-2.0 WITH LLVM-exception), with identifiers of SPDX");
  }

  std::string_view text_;
  Last last_ = Last::joint;
  std::size_t depth_ = 0;
};

} // namespace

Result<void> check_license_expression(std::string_view text) { return LicenseReader(text).read(); }

} // namespace quarry::dist
