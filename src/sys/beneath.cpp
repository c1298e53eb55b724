#include "sys/beneath.hpp"

#include "sys/path.hpp"
#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace quarry::sys {

namespace {
// openat(2) of one component. With O_DIRECTORY a link is ENOTDIR; openat2(2) says ELOOP.
int open_component(int directory, const std::string& name, int flags, unsigned mode) {
  int fd = 0;
  do fd = ::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  struct stat status{};
  if (fd < 0 && errno == ENOTDIR)
    errno = ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode) ? ELOOP
                                                                                                             : ENOTDIR;
  return fd;
}

// What openat2(2) does, in steps: from each directory only its own entries are opened, and none that is a link.
int walk_beneath(int root, std::string_view path, int flags, unsigned mode) {
  if (path.starts_with('/')) return errno = EXDEV, -1;
  std::vector<std::string> names;
  for (auto& name : path::components(path)) {
    if (name == "..") return errno = EXDEV, -1;
    if (name != ".") names.push_back(std::move(name));
  }
  if (names.empty()) names.emplace_back(".");
  File directory; // the one that the walk has reached; closed until it has left the root
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    int fd = open_component(directory.is_open() ? directory.descriptor() : root, names[i], O_PATH | O_DIRECTORY, 0);
    if (fd < 0) return -1;
    directory = File(fd);
  }
  int fd = open_component(directory.is_open() ? directory.descriptor() : root, names.back(), flags, mode);
  int number = errno; // closing may change it
  directory.close();
  errno = number;
  return fd;
}

int open_beneath(int root, const std::string& path, int flags, unsigned mode) {
  if (path.find('\0') != path.npos) { // the kernel would stop reading there and open another file
    errno = EINVAL;
    return -1;
  }
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.mode = (flags & O_CREAT) ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = 0;
  do fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
  while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  // Linux before 5.6 (EL8 has 4.18) does not have the call; old filters of containers forbid it with EPERM.
  bool missing = fd < 0 && (errno == ENOSYS || errno == EPERM);
  return missing ? walk_beneath(root, path, flags, mode) : static_cast<int>(fd);
}

Error beneath_error(int number, std::string_view action, const std::string& path) {
  if (number == EXDEV || number == ELOOP)
    return {ErrorKind::corrupt,
            "T010",
            fmt::format("{} would leave its directory or go through a link", path),
            {},
            {},
            "the archive is hostile or damaged: do not use it"};
  return errno_error(number, action, path);
}
} // namespace

Result<Beneath> Beneath::open(const std::string& root) {
  int fd = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail(errno_error(errno, "open", root));
  return Beneath(File(fd));
}

Result<File> Beneath::open_parent(const std::string& path) const {
  if (path.find('\0') != path.npos) return fail(beneath_error(EINVAL, "create", path));
  auto parent = path::dirname(path);
  TRY_DO(make_directories(parent));
  int fd = open_beneath(root_.descriptor(), parent, O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return fail(beneath_error(errno, "open", parent));
  return File(fd);
}

Result<void> Beneath::make_directories(const std::string& path) const {
  int fd = open_beneath(root_.descriptor(), path, O_RDONLY | O_DIRECTORY, 0);
  if (fd >= 0) {
    ::close(fd);
    return {};
  }
  if (errno != ENOENT) return fail(beneath_error(errno, "create directory", path));
  TRY(auto parent, open_parent(path));
  std::string name(path::basename(path));
  if (::mkdirat(parent.descriptor(), name.c_str(), 0755) != 0 && errno != EEXIST)
    return fail(beneath_error(errno, "create directory", path));
  return {};
}

Result<File> Beneath::create_file(const std::string& path, unsigned mode) const {
  TRY(auto parent, open_parent(path));
  std::string name(path::basename(path));
  int fd = open_beneath(parent.descriptor(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (fd < 0) return fail(beneath_error(errno, "create", path));
  return File(fd);
}

Result<File> Beneath::open_read(const std::string& path) const {
  int fd = open_beneath(root_.descriptor(), path, O_RDONLY | O_NOFOLLOW, 0);
  if (fd < 0) return fail(beneath_error(errno, "open", path));
  return File(fd);
}

Result<void> Beneath::symlink(const std::string& path, const std::string& target) const {
  TRY(auto parent, open_parent(path));
  std::string name(path::basename(path));
  if (::symlinkat(target.c_str(), parent.descriptor(), name.c_str()) != 0)
    return fail(beneath_error(errno, "create link", path));
  return {};
}

Result<void> Beneath::hardlink(const std::string& existing, const std::string& path) const {
  TRY(auto from, open_parent(existing));
  TRY(auto to, open_parent(path));
  std::string from_name(path::basename(existing)), to_name(path::basename(path));
  if (::linkat(from.descriptor(), from_name.c_str(), to.descriptor(), to_name.c_str(), 0) != 0)
    return fail(beneath_error(errno, "create link", path));
  return {};
}

Result<void> Beneath::set_mode(const std::string& path, unsigned mode) const {
  TRY(auto file, open_read(path));
  if (::fchmod(file.descriptor(), mode) != 0) return fail(beneath_error(errno, "set the mode of", path));
  return {};
}

Result<std::optional<File>> Beneath::open_directory(const std::string& path, bool& blocked) const {
  int fd = open_beneath(root_.descriptor(), path.empty() ? "." : path, O_RDONLY | O_DIRECTORY, 0);
  blocked = fd < 0 && (errno == ELOOP || errno == EXDEV || errno == ENOTDIR);
  if (fd >= 0) return std::optional<File>(File(fd));
  if (blocked || errno == ENOENT) return std::optional<File>();
  return fail(beneath_error(errno, "open", path));
}

} // namespace quarry::sys
