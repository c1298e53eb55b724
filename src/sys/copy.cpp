#include "sys/copy.hpp"

#include <cerrno>
#include <fmt/core.h>
#include <unistd.h>
#include <vector>

namespace quarry::sys {

namespace {
constexpr std::size_t k_step = 64u << 20; // one system call: an interruption is noticed soon enough
constexpr std::size_t k_buffer = 1u << 20;

Result<std::uint64_t> copy_through_memory(const File& from, const File& into, std::uint64_t done) {
  std::vector<std::byte> buffer(k_buffer);
  for (;;) {
    TRY(auto n, from.read_at(done, buffer));
    if (n == 0) return done;
    TRY_DO(into.write_at(done, std::span(buffer).first(n)));
    done += n;
  }
}
} // namespace

Result<std::uint64_t> copy_content(const File& from, const File& into) {
  off_t read_at = 0, write_at = 0;
  for (;;) {
    auto n = ::copy_file_range(from.descriptor(), &read_at, into.descriptor(), &write_at, k_step, 0);
    if (n > 0) continue;
    if (n == 0 && read_at > 0) return static_cast<std::uint64_t>(read_at);
    // Some file systems copy nothing and say so only by 0 (procfs, fuse), others refuse: the plain way settles it.
    if (n == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
      return copy_through_memory(from, into, static_cast<std::uint64_t>(read_at));
    if (errno == EINTR) continue;
    int number = errno;
    auto path = read_link(fmt::format("/proc/self/fd/{}", into.descriptor()));
    return fail(errno_error(number, "copy into", path.value_or("an open file")));
  }
}

} // namespace quarry::sys
