#pragma once
// Facts about this machine, read once when asked. No network.
#include <cstdint>
#include <string>

namespace quarry::sys {

unsigned cpu_count();           ///< what the cgroup and the affinity mask allow, at least 1
std::uint64_t memory_bytes();   ///< the cgroup's limit or the machine's memory
std::uint64_t peak_rss_bytes(); ///< of this process so far
std::string host_name();
unsigned user_id(); ///< the effective one
std::string kernel_release();
std::string os_release(); ///< PRETTY_NAME of /etc/os-release
std::string cpu_model();
bool has_gpu_device(); ///< /dev/kfd is there: an AMD GPU driver runs
bool stdout_is_terminal();
bool stderr_is_terminal();
unsigned terminal_columns();                       ///< 80 when unknown
std::uint64_t free_bytes(const std::string& path); ///< 0 when unknown

} // namespace quarry::sys
