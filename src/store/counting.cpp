#include "store/counting.hpp"

#include "base/text.hpp"
#include <fmt/core.h>

namespace quarry::store {

Unexpected absent(const ObjectReader& store, const std::string& key) {
  return fail(ErrorKind::not_found, "R001", fmt::format("{} holds no `{}`", store.describe(), key));
}
Unexpected taken(const ObjectReader& store, const std::string& key) {
  return fail(ErrorKind::already_exists, "R002", fmt::format("{} already holds `{}`", store.describe(), key));
}
Unexpected moved_on(const ObjectReader& store, const std::string& key) {
  return fail(ErrorKind::precondition_failed, "R003",
              fmt::format("`{}` in {} changed since it was read", key, store.describe()),
              "somebody else moved it: run the command again, it starts from the new state");
}
Unexpected too_large(const std::string& key, std::uint64_t size, std::uint64_t max_bytes) {
  return fail(ErrorKind::resource_exhausted, "R007",
              fmt::format("`{}` has {} bytes, more than the {} that are read at once", key, size, max_bytes));
}
Unexpected other_bytes(const std::string& key, const Sha256& expected, const Sha256& found) {
  auto error = Error::of(ErrorKind::corrupt, "R008", fmt::format("what was read for `{}` is not what was checked", key))
                   .with_hint("something changed the source while it was read: check it, then run the command again");
  error.details = {"expected  sha256 " + expected.hex(), "read      sha256 " + found.hex()};
  return fail(std::move(error));
}

bool is_marker(const std::string& key, std::uint64_t size) { return size == 0 && key.ends_with('/'); }

Result<void> check_not_marker(const std::string& key, std::uint64_t size) {
  if (!is_marker(key, size)) return {};
  return fail(ErrorKind::invalid_argument, "R005",
              fmt::format("`{}` cannot be an empty object: it would pass for a directory", key));
}

Result<void> check_record(const std::string& key, std::string_view bytes, const std::string& url) {
  if (!key.ends_with(".json") || !text::trim(bytes.substr(0, 256)).starts_with('<')) return {};
  return fail(ErrorKind::corrupt, "K020", fmt::format("{} is a page, not the record `{}`", url, key),
              "a proxy or captive portal answered, or it is another server: look at the URL with curl");
}

} // namespace quarry::store
