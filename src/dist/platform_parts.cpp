#include "dist/platform_parts.hpp"

#include "base/ascii.hpp"

namespace quarry::dist {

PlatformParts platform_parts(std::string_view tag) {
  for (std::string_view system : {"manylinux", "musllinux", "linux", "macosx"}) {
    if (!tag.starts_with(system)) continue;
    auto rest = tag.substr(system.size());
    while (!rest.empty() && (rest.front() == '_' || ascii::is_digit(rest.front()))) rest.remove_prefix(1);
    return {system, rest};
  }
  return {tag, {}};
}

} // namespace quarry::dist
