#include "sys/kernel.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quarry::sys {

namespace {
// syscall(2), not libc's functions: those hide a missing call, and older headers do not declare them.
KernelFeature feature(const char* name, const char* instead, long answer) {
  if (answer >= 0) return {name, true, "", instead};
  return {name, false, std::strerror(errno), instead};
}

long try_openat2() {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  long descriptor = ::syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);
  if (descriptor >= 0) ::close(static_cast<int>(descriptor));
  return descriptor;
}

long try_statx() {
  struct statx about{};
  return ::syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_BASIC_STATS, &about);
}

long try_memfd_create() {
  long descriptor = ::syscall(SYS_memfd_create, "quarry", 1u); // MFD_CLOEXEC
  if (descriptor >= 0) ::close(static_cast<int>(descriptor));
  return descriptor;
}

long try_copy_file_range() {
  // Descriptors that are none: a kernel that has the call says EBADF, and so nothing need be copied.
  long copied = ::syscall(SYS_copy_file_range, -1, nullptr, -1, nullptr, std::size_t{1}, 0u);
  return copied < 0 && errno == EBADF ? 0 : copied;
}
} // namespace

std::vector<KernelFeature> kernel_features() {
  return {feature("openat2", "one openat for each component of a path", try_openat2()),
          feature("statx", "stat", try_statx()), feature("memfd_create", "a temporary file", try_memfd_create()),
          feature("copy_file_range", "reading and writing", try_copy_file_range())};
}

std::string c_library() { return std::string("glibc ") + ::gnu_get_libc_version(); }

} // namespace quarry::sys
