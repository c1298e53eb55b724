#pragma once
// Instants as records and the clock have them. A value type without I/O, safe to copy between threads.
#include "base/result.hpp"
#include <compare>
#include <cstdint>
#include <fmt/core.h>
#include <string>
#include <string_view>

namespace quarry::sys {

/// An instant in UTC, with the RFC 3339 text that stands for it. The text is kept as it was read, so that a record that
/// is written again keeps its digest. Ordered by the instant, then by the text.
class Timestamp {
public:
  Timestamp() = default;                                 ///< empty: the time is not known
  static Timestamp from_us(std::int64_t us);             ///< microseconds since 1970; its text has microseconds
  static Result<Timestamp> parse(std::string_view text); ///< the texts that parse_rfc3339() takes; B005

  bool empty() const { return text_.empty(); }
  std::int64_t us() const { return us_; } ///< microseconds since 1970; 0 if empty
  const std::string& text() const { return text_; }
  auto operator<=>(const Timestamp&) const = default;

private:
  std::int64_t us_ = 0;
  std::string text_;
};

/// As a value of JSON: its text.
template <class Json> void to_json(Json& json, const Timestamp& time) { json = time.text(); }

} // namespace quarry::sys

template <> struct fmt::formatter<quarry::sys::Timestamp> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context> auto format(const quarry::sys::Timestamp& time, Context& context) const {
    return fmt::format_to(context.out(), "{}", time.text());
  }
};
