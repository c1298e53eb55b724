#include "base/file_url.hpp"

#include "base/text.hpp"
#include <algorithm>

namespace quarry::text {

std::optional<std::string> path_of_file_url(std::string_view url) {
  constexpr std::string_view k_scheme = "file://";
  if (!url.starts_with(k_scheme)) return std::nullopt;
  url.remove_prefix(k_scheme.size());
  auto slash = std::min(url.find('/'), url.size());
  if (slash > 0 && lower(url.substr(0, slash)) != "localhost") return std::nullopt;
  return percent_decode(url.substr(slash));
}

} // namespace quarry::text
