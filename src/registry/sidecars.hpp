#pragma once
// METADATA that lies next to a wheel, for installers that resolve dependencies without the wheel.
#include "sys/path.hpp"
#include <fmt/core.h>
#include <string>

namespace quarry::registry {

/// How a sidecar that is missing or altered is made again, by its key or that of its wheel: "`quarry index rebuild
/// 42-linux/python/g` makes it again from the wheel". Pure.
inline std::string rebuild_hint(const std::string& key) {
  auto directory = path::dirname(key);
  if (path::basename(directory) == "dist") directory = path::dirname(directory); // the set is sealed above it
  return fmt::format("`quarry index rebuild {}` makes it again from the wheel", directory);
}

} // namespace quarry::registry
