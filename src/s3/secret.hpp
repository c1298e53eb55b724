#pragma once
// A string that must not be printed: it formats as "***", and its memory is overwritten when it is destroyed or moved
// from. The copies in the environment, in files and in the headers of requests are plain text; no message formats
// those.
#include <fmt/core.h>
#include <string>
#include <string_view>

namespace quarry::s3 {

class Secret {
public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  // NOLINTNEXTLINE(performance-move-constructor-init): a moved string leaves its short form behind
  Secret(Secret&& other) noexcept : value_(other.value_) { other.wipe(); }
  Secret& operator=(const Secret& other) {
    if (this != &other) wipe(), value_ = other.value_;
    return *this;
  }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) wipe(), value_ = other.value_, other.wipe();
    return *this;
  }
  ~Secret() { wipe(); }
  /// Returns the value. Only for signing, and for the header that transports it.
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

private:
  void wipe() {
    volatile char* bytes = value_.data(); // volatile: otherwise the compiler drops writes that are never read
    for (std::size_t i = 0; i < value_.size(); ++i) bytes[i] = 0;
    value_.clear();
  }
  std::string value_;
};

} // namespace quarry::s3

template <> struct fmt::formatter<quarry::s3::Secret> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context> auto format(const quarry::s3::Secret&, Context& context) const {
    auto out = context.out();
    for (char c : std::string_view("***")) *out++ = c;
    return out;
  }
};
