#include "sys/identity.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

namespace quarry::sys {

namespace {
FileIdentity identity_in(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}
} // namespace

Result<FileIdentity> identity_of(const File& file) {
  struct stat status{};
  if (::fstat(file.descriptor(), &status) != 0) return fail(errno_error(errno, "look at", "an open file"));
  return identity_in(status);
}

Result<std::optional<RegularFile>> open_regular(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that nobody writes would wait for ever. ENXIO: a socket, or a device that is not there.
  File file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ENXIO) return std::optional<RegularFile>();
    auto error = errno_error(errno, "open", path);
    if (error.kind == ErrorKind::permission_denied) error.hint = "let this user read it, or name another file";
    return fail(std::move(error));
  }
  struct stat status{};
  if (::fstat(file.descriptor(), &status) != 0) return fail(errno_error(errno, "look at", path));
  if (!S_ISREG(status.st_mode)) return std::optional<RegularFile>();
  return std::optional(RegularFile{std::move(file), identity_in(status)});
}

bool is_named(const File& file, const std::string& path) {
  struct stat opened{}, named{};
  return ::fstat(file.descriptor(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

} // namespace quarry::sys
