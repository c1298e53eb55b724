#include "sys/directory_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace quarry::sys {

Result<std::optional<DirectoryLock>> DirectoryLock::try_acquire(const std::string& directory) {
  bool made = !exists(directory);
  TRY_DO(make_directories(directory));
  int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return fail(errno_error(errno, "open", directory));
  DirectoryLock lock(File(descriptor), made ? directory : "");
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      lock.made_.clear();
      return std::optional<DirectoryLock>();
    }
    if (errno != EINTR) break; // some network file systems lock no directories
  }
  return std::optional<DirectoryLock>(std::move(lock));
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::move(other.file_)), made_(std::exchange(other.made_, {})) {}

DirectoryLock::~DirectoryLock() {
  if (!made_.empty()) ::rmdir(made_.c_str());
}

} // namespace quarry::sys
