#include "sys/machine.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace quarry::sys {

namespace {
std::string value_of(const std::string& path, std::string_view key, char separator) {
  auto content = read_file(path);
  if (!content) return "";
  for (const auto& line : text::lines(*content)) {
    auto at = line.find(separator);
    if (at != line.npos && text::trim(std::string_view(line).substr(0, at)) == key) {
      auto value = text::trim(std::string_view(line).substr(at + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
      return std::string(value);
    }
  }
  return "";
}
} // namespace

unsigned cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  unsigned count = ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
  // cgroup v2: "QUOTA PERIOD" or "max PERIOD".
  if (auto limit = read_file("/sys/fs/cgroup/cpu.max")) {
    auto parts = text::split_any(*limit, " \n");
    if (parts.size() == 2)
      if (auto quota = text::parse_u64(parts[0]), period = text::parse_u64(parts[1]); quota && period && *period)
        count = std::min(count, static_cast<unsigned>((*quota + *period - 1) / *period));
  }
  return std::max(1u, count);
}

std::uint64_t memory_bytes() {
  auto total =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  if (auto limit = read_file("/sys/fs/cgroup/memory.max"))
    if (auto value = text::parse_u64(text::trim(*limit))) return std::min(total, *value);
  return total;
}

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string host_name() {
  char buffer[256] = {};
  return ::gethostname(buffer, sizeof buffer - 1) == 0 ? buffer : "unknown";
}
unsigned user_id() { return ::geteuid(); }
std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}
std::string os_release() { return value_of("/etc/os-release", "PRETTY_NAME", '='); }
std::string cpu_model() { return value_of("/proc/cpuinfo", "model name", ':'); }
bool has_gpu_device() { return exists("/dev/kfd"); }
bool stdout_is_terminal() { return ::isatty(1); }
bool stderr_is_terminal() { return ::isatty(2); }

unsigned terminal_columns() {
  winsize size{};
  return ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs status{};
  return ::statvfs(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize : 0;
}

} // namespace quarry::sys
