#include "store/object_store.hpp"
#include "store/s3_store.hpp"

#include "base/text.hpp"
#include <array>
#include <fmt/core.h>

namespace quarry::store {

namespace {
// A bare word is a directory, so only names that mean something else are refused.
constexpr std::array<std::string_view, 4> k_other_schemes = {"gs:", "az:", "memory:", "ftp:"};
} // namespace

Result<std::unique_ptr<ObjectStore>> open_store(const std::string& locator, const Surroundings& surroundings) {
  if (locator.starts_with("s3:")) return open_s3_store(locator, surroundings);
  if (locator.starts_with("https:") || locator.starts_with("http:")) return open_http_store(locator, surroundings);
  for (auto scheme : k_other_schemes)
    if (locator.starts_with(scheme))
      return fail(ErrorKind::unsupported, "R006", fmt::format("this build has no backend for the store {}", locator),
                  "use `--store file:PATH`, `--store s3://bucket/prefix`, or https:// to read");
  auto path = locator.starts_with("file:///") ? text::percent_decode(locator.substr(7)) // a URL, as url() writes it
              : locator.starts_with("file:")  ? locator.substr(5)
                                              : locator;
  if (path.empty())
    return fail(ErrorKind::invalid_argument, "R006", "no store was named",
                "say `--store file:PATH`, or set QUARRY_STORE");
  return open_file_store(path);
}

} // namespace quarry::store
