#include "sys/secret_file.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quarry::sys {

namespace {

// The checks are made on the open file, so that nobody can exchange it between the check and the reading.
Result<std::string> read_secret(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == ENOENT) return std::string();
  if (descriptor < 0) return fail(errno_error(errno, "open", path));
  File file(descriptor);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return fail(errno_error(errno, "look at", path));
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(ErrorKind::permission_denied, "D015", fmt::format("{} is not a private file of this user", path),
                fmt::format("run `chmod 600 {}`, or remove the file if it is not yours", path));
  std::array<std::byte, k_secret_digits> bytes{};
  TRY(auto size, file.read_at(0, bytes));
  return std::string(reinterpret_cast<const char*>(bytes.data()), size);
}

} // namespace

Result<std::string> read_or_create_secret(const std::string& path) {
  TRY(auto secret, read_secret(path));
  if (secret.size() == k_secret_digits) return secret;
  TRY_DO(make_directories(path::dirname(path), 0700));
  TRY_DO(write_file(path, random_hex(k_secret_digits / 2), 0600));
  return read_secret(path);
}

} // namespace quarry::sys
