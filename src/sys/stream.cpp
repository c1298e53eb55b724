#include "sys/stream.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace quarry::sys {

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Result<std::string> read_stream(const std::string& path, std::uint64_t bytes_max) {
  constexpr std::size_t k_block = 256u << 10;
  // A copy of the descriptor, so that closing it does not close standard input.
  File file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = path == "-" ? "standard input" : path;
  if (!file.is_open()) return fail(errno_error(errno, "open", name));
  std::string text;
  std::vector<char> block(k_block);
  while (true) {
    TRY_DO(check_interrupted());
    auto count = ::read(file.descriptor(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno_error(errno, "read", name));
    if (count == 0) return text;
    if (text.size() + static_cast<std::size_t>(count) > bytes_max)
      return fail(ErrorKind::resource_exhausted, "D001", fmt::format("{} gives more than {} bytes", name, bytes_max),
                  "write it into a file, and name that");
    text.append(block.data(), static_cast<std::size_t>(count));
  }
}

} // namespace quarry::sys
