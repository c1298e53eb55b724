#include "sys/require_directory.hpp"

#include "sys/file.hpp"
#include <fmt/core.h>

namespace quarry::sys {

Result<void> require_directory(const std::string& path, std::string hint) {
  if (is_directory(path)) return {};
  return fail(ErrorKind::not_found, "D001",
              fmt::format("{} {}", path, exists(path) ? "is a file, not a directory" : "does not exist"),
              std::move(hint));
}

} // namespace quarry::sys
