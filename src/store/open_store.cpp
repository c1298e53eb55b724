#include "base/ascii.hpp"
#include "store/object_store.hpp"
#include "store/s3_store.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::store {

namespace {
// "fil:store" is a mistyped scheme more often than a directory; one letter may be a drive.
bool has_other_scheme(const std::string& locator) {
  auto colon = locator.find(':');
  if (colon == locator.npos || colon < 2 || locator.starts_with("file:")) return false;
  return std::all_of(locator.begin(), locator.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char c) { return ascii::is_alnum(c) || c == '+' || c == '-'; });
}
} // namespace

Result<std::unique_ptr<ObjectStore>> open_store(const std::string& locator, const Surroundings& surroundings) {
  if (locator.starts_with("s3:")) return open_s3_store(locator, surroundings);
  if (locator.starts_with("https:") || locator.starts_with("http:")) return open_http_store(locator, surroundings);
  if (has_other_scheme(locator))
    return fail(ErrorKind::invalid_argument, "R006",
                fmt::format("{} stores are not supported: {}", locator.substr(0, locator.find(':') + 1), locator),
                "use file:PATH, s3://bucket/prefix or, to read, https://…");
  auto path = locator.starts_with("file:///") ? text::percent_decode(locator.substr(7)) // a URL, as url() writes it
              : locator.starts_with("file:")  ? locator.substr(5)
                                              : locator;
  if (path.empty())
    return fail(ErrorKind::invalid_argument, "R006", "no store was named",
                "use `--store file:PATH`, or set QUARRY_STORE");
  return open_file_store(path);
}

} // namespace quarry::store
