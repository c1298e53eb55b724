#include "sys/file.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/core.h>

namespace quarry::sys {

Error errno_error(int number, std::string_view action, std::string_view path) {
  bool reads = action == "open" || action == "read" || action == "list" || action == "look at" || action == "find";
  auto message = number == ENOENT && reads ? fmt::format("{} does not exist", path)
                                           : fmt::format("cannot {} {}: {}", action, path, std::strerror(number));
  switch (number) {
  case ENOENT:
  case ENOTDIR:
    return {ErrorKind::not_found,
            "D001",
            std::move(message),
            {},
            {},
            reads ? "check the path" : "check that the directory exists"};
  case EEXIST:
    return {ErrorKind::already_exists,
            "D002",
            std::move(message),
            {},
            {},
            "something of that name exists: name another place, or remove it"};
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return {ErrorKind::resource_exhausted,
            "D003",
            std::move(message),
            {},
            {},
            "free some space, then run the same command again"};
  case EACCES:
  case EPERM:
  case EROFS:
    return {ErrorKind::permission_denied,
            "D004",
            std::move(message),
            {},
            {},
            "choose a place that this user may write, or change its permissions"};
  case EISDIR:
    return {ErrorKind::invalid_argument, "D001", std::move(message), {}, {}, "name a file: this is a directory"};
  case EMFILE:
  case ENFILE:
  case ENOMEM: return {ErrorKind::resource_exhausted, "D003", std::move(message), {}, {}, {}};
  default: return {ErrorKind::failed, "D001", std::move(message), {}, {}, {}};
  }
}

} // namespace quarry::sys
