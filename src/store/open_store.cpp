#include "base/ascii.hpp"
#include "base/file_url.hpp"
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

/// The path of a locator that names a directory.
Result<std::string> path_in(const std::string& locator) {
  constexpr std::string_view k_scheme = "file:", k_url = "file://";
  if (!locator.starts_with(k_scheme)) return locator;
  if (!locator.starts_with(k_url)) return locator.substr(k_scheme.size());
  if (auto path = text::path_of_file_url(locator)) return std::move(*path); // as url() writes it
  auto authority = locator.substr(k_url.size(), locator.find('/', k_url.size()) - k_url.size());
  return fail(ErrorKind::invalid_argument, "R006",
              fmt::format("`{}` names a directory of another machine, `{}`", locator, authority),
              "use file:PATH, or file:///PATH with an absolute path");
}
} // namespace

Result<std::unique_ptr<ObjectStore>> open_store(const std::string& locator, const Surroundings& surroundings) {
  if (locator.starts_with("s3:")) return open_s3_store(locator, surroundings);
  if (locator.starts_with("https:") || locator.starts_with("http:")) return open_http_store(locator, surroundings);
  if (has_other_scheme(locator))
    return fail(ErrorKind::invalid_argument, "R006",
                fmt::format("{} stores are not supported: {}", locator.substr(0, locator.find(':') + 1), locator),
                "use file:PATH, s3://bucket/prefix or, to read, https://…");
  TRY(auto path, path_in(locator));
  if (path.empty())
    return fail(ErrorKind::invalid_argument, "R006", "no store was named",
                "use `--store file:PATH`, or set QUARRY_STORE");
  return open_file_store(path);
}

} // namespace quarry::store
