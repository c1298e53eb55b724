#pragma once
// Private to the room.
// The names of a wheel's members without the wheel's own version, so that two versions can be compared.
#include <string>
#include <string_view>

namespace quarry::inspect {

/// "x-1.0.dist-info/licenses/L" -> "dist-info/licenses/L": the same name in every version.
inline std::string without_version(const std::string& path) {
  auto slash = path.find('/');
  for (std::string_view ending : {".dist-info", ".data"})
    if (slash != path.npos && path.substr(0, slash).ends_with(ending))
      return std::string(ending.substr(1)) + path.substr(slash);
  return path;
}

} // namespace quarry::inspect
