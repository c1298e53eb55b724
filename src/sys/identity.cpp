#include "sys/identity.hpp"

#include <cerrno>
#include <sys/stat.h>

namespace quarry::sys {

Result<FileIdentity> identity_of(const File& file) {
  struct stat status{};
  if (::fstat(file.descriptor(), &status) != 0) return fail(errno_error(errno, "look at", "an open file"));
  return FileIdentity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                      static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}

bool is_named(const File& file, const std::string& path) {
  struct stat opened{}, named{};
  return ::fstat(file.descriptor(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

} // namespace quarry::sys
