#pragma once
// For tests only: ends a process with SIGKILL at a chosen change of the file system, where only a power loss would stop
// it later.
#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::sys::testing {

inline bool changes_names(std::uint64_t call) {
  constexpr std::array<long, 5> k_calls{SYS_renameat, SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_symlinkat};
  bool found = false;
  for (auto each : k_calls) found = found || static_cast<std::uint64_t>(each) == call;
#ifdef SYS_rename
  found = found || call == SYS_rename || call == SYS_unlink || call == SYS_mkdir || call == SYS_rmdir;
#endif
  return found;
}

/// Runs `work` in a child and kills it when its first thread is about to make the `nth` change of a name (from 1).
/// True: killed; false: it ended before; nullopt: this machine does not let a process be traced.
inline std::optional<bool> killed_at(unsigned nth, const std::function<void()>& work) {
  auto child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    (void)::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int signal = 0;;) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
    signal = WSTOPSIG(status);
    if (signal != (SIGTRAP | 0x80)) continue;
    signal = 0;
    __ptrace_syscall_info info{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !changes_names(info.entry.nr) || --nth > 0) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return true;
  }
}

} // namespace quarry::sys::testing
