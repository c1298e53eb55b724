#include "dist/headers.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

class HeaderReader {
public:
  HeaderReader(std::string_view text, const std::string& code, std::string_view what)
      : rest_(text), code_(code), what_(what) {}

  Result<HeaderBlock> read() {
    if (rest_.find('\0') != rest_.npos) return error("holds a NUL byte");
    if (!text::is_valid_utf8(rest_)) return error("is not UTF-8");
    while (!rest_.empty()) {
      auto line = next_line();
      if (line.find('\r') != line.npos) return error("has a carriage return inside a line");
      if (line.empty()) break;
      TRY_DO(line.front() == ' ' || line.front() == '\t' ? continuation(line) : header(line));
    }
    block_.body = rest_;
    return std::move(block_);
  }

private:
  std::string_view next_line() {
    ++line_;
    auto end = rest_.find('\n');
    auto line = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    if (end != line.npos && line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  Result<void> continuation(std::string_view line) {
    if (block_.headers.empty()) return error("starts with a continuation line");
    block_.headers.back().value.append("\n").append(line);
    return {};
  }

  Result<void> header(std::string_view line) {
    auto colon = line.find(':');
    auto name = line.substr(0, colon);
    bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (colon == line.npos || !printable)
      return error("is neither a header nor separated from the headers by an empty line");
    if (name.empty()) return error("has a header without a name");
    if (block_.headers.size() == k_headers_max) return error(fmt::format("has more than {} headers", k_headers_max));
    auto value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    block_.headers.push_back({std::string(name), std::string(value)});
    return {};
  }

  Unexpected error(std::string_view why) const {
    std::string place = line_ ? fmt::format("{}: line {}", what_, line_) : std::string(what_);
    return fail(ErrorKind::corrupt, code_, fmt::format("{} {}", place, why));
  }

  std::string_view rest_;
  const std::string& code_;
  std::string_view what_;
  std::size_t line_ = 0;
  HeaderBlock block_;
};

} // namespace

bool Header::is(std::string_view other) const {
  return name.size() == other.size() && text::starts_with_ignore_case(name, other);
}

Result<HeaderBlock> parse_headers(std::string_view text, const std::string& code, std::string_view what) {
  return HeaderReader(text, code, what).read();
}

} // namespace quarry::dist
