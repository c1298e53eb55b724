#pragma once
// The key of an object in its bucket. A value type.
#include <compare>
#include <fmt/core.h>
#include <string>
#include <utility>

namespace quarry::s3 {

/// The whole key: the store's prefix in the bucket, then the key that the store's callers know. Call::key is of this
/// type, and a string does not become one by itself: so a key without the prefix, which would reach somebody else's
/// object, is not sent by mistake. Nothing checks the prefix, and the prefix of a listing is a plain string in
/// Call::query. Empty: the bucket itself.
class BucketKey {
public:
  BucketKey() = default;
  explicit BucketKey(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const BucketKey&) const = default;

private:
  std::string text_;
};

} // namespace quarry::s3

template <> struct fmt::formatter<quarry::s3::BucketKey> : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(const quarry::s3::BucketKey& key, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(key.text(), context);
  }
};
