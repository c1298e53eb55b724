#include "sys/descendants.hpp"

#include "base/text.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <cerrno>
#include <csignal>
#include <dirent.h>
#include <fmt/core.h>
#include <map>
#include <memory>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::sys {

namespace {

constexpr std::uint64_t k_end_ns = 30'000'000'000;  // longer than any machine needs; a fork bomb may need none
constexpr std::uint64_t k_hangs_ns = 5'000'000'000; // a process that is killed is gone in milliseconds, or hangs
constexpr int k_look_again_ms = 10;
constexpr int k_looks = 2; // a process that forks and ends can be missed by one look at a list that changes
constexpr std::uint64_t k_stat_bytes_max = 1u << 16; // a line of the kernel

struct Process {
  pid_t parent = 0;
  std::string name;
};
using Processes = std::map<pid_t, Process>;

/// "12 (name) S 1 …": the name may hold spaces and brackets.
std::optional<Process> parse_stat(const std::string& stat) {
  auto open = stat.find('('), close = stat.rfind(')');
  if (open == stat.npos || close == stat.npos || close < open) return std::nullopt;
  auto fields = text::split(stat.substr(close + 1), ' '); // "", state, parent, …
  auto parent = fields.size() > 2 ? text::parse_u64(fields[2]) : std::nullopt;
  if (!parent) return std::nullopt;
  return Process{static_cast<pid_t>(*parent), stat.substr(open + 1, close - open - 1)};
}

Unexpected cannot_look(std::string_view why) {
  return fail(ErrorKind::permission_denied, "D017", fmt::format("the processes of a suite cannot be told: {}", why),
              "mount /proc, as every container runtime does");
}

Result<Processes> all_processes() {
  std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return cannot_look(errno_error(errno, "list", "/proc").message);
  Processes found;
  while (const auto* entry = ::readdir(directory.get())) {
    auto pid = text::parse_u64(entry->d_name);
    if (!pid) continue;
    auto stat = read_file(fmt::format("/proc/{}/stat", *pid), k_stat_bytes_max);
    if (!stat) continue; // it has ended meanwhile
    if (auto process = parse_stat(*stat)) found.emplace(static_cast<pid_t>(*pid), std::move(*process));
  }
  if (!found.contains(::getpid())) return cannot_look("/proc does not show this process");
  return found;
}

/// Whether `pid` descends from `ancestor`, but not by way of a child in `spared`.
bool descends(const Processes& all, pid_t pid, pid_t ancestor, const std::set<pid_t>& spared) {
  for (std::size_t steps = 0; steps <= all.size(); ++steps) { // a list that changes could have a circle
    auto at = all.find(pid);
    if (at == all.end() || spared.contains(pid)) return false;
    if (at->second.parent == ancestor) return true;
    pid = at->second.parent;
  }
  return false;
}

bool is_subreaper() {
  int value = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &value) == 0 && value != 0;
}

/// The kernel's own answer, which no race can change: whoever is left has an ancestor among our children.
bool has_no_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

} // namespace

Result<Descendants> Descendants::adopt() {
  TRY(auto all, all_processes());
  std::set<pid_t> spared;
  for (const auto& [pid, process] : all)
    if (process.parent == ::getpid()) spared.insert(pid);
  bool before = is_subreaper();
  if (!before && ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return cannot_look(errno_error(errno, "adopt", "orphans").message);
  return Descendants(std::move(spared), !before);
}

Descendants::Descendants(Descendants&& other) noexcept : spared_(std::move(other.spared_)), restore_(other.restore_) {
  other.restore_ = false;
}

Descendants::~Descendants() {
  if (restore_) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void Descendants::collect(pid_t child) const {
  while (true) {
    siginfo_t info{};
    bool found = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
    if (!found || info.si_pid == child || spared_.contains(info.si_pid)) return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

Result<void> Descendants::end() const {
  RealClock clock;
  auto begin = clock.steady_ns();
  std::map<pid_t, std::uint64_t> killed; // since when
  int empty_looks = 0;
  std::string left = "a process";
  for (auto now = begin; now - begin < k_end_ns; now = clock.steady_ns()) {
    TRY(auto all, all_processes());
    bool any = false, all_hang = true;
    for (const auto& [pid, process] : all) {
      if (!descends(all, pid, ::getpid(), spared_)) continue;
      bool sent = ::kill(pid, SIGKILL) == 0 || errno == ESRCH;
      if (process.parent == ::getpid() && ::waitpid(pid, nullptr, WNOHANG) == pid) continue;
      any = true;
      auto since = killed.try_emplace(pid, now).first->second;
      all_hang = all_hang && sent && now - since > k_hangs_ns;
      left = fmt::format("process {} ({})", pid, process.name);
    }
    if (has_no_children() || (any && all_hang)) return {};
    empty_looks = any ? 0 : empty_looks + 1;
    // With children of before the kernel's answer is always that there are some.
    if (!spared_.empty() && empty_looks == k_looks) return {};
    ::poll(nullptr, 0, k_look_again_ms);
  }
  return fail(ErrorKind::permission_denied, "D018", fmt::format("{} that was started by it could not be ended", left),
              "look at what the suite starts; one that runs as another user cannot be ended");
}

} // namespace quarry::sys
