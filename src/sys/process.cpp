#include "sys/process.hpp"

#include "base/text.hpp"
#include "sys/clock.hpp"
#include "sys/descendants.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/core.h>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::sys {

std::string find_program(std::string_view program, std::string_view path_value) {
  auto usable = [](const std::string& p) {
    struct stat status{};
    return ::access(p.c_str(), X_OK) == 0 && ::stat(p.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  };
  if (program.find('/') != program.npos) return usable(std::string(program)) ? std::string(program) : "";
  for (const auto& directory : text::split_any(path_value, ":"))
    if (auto candidate = path::join(directory, program); usable(candidate)) return candidate;
  return "";
}

namespace {
constexpr std::uint64_t k_grace_ns =
    5'000'000'000; // between SIGTERM and SIGKILL, as systemd's and docker's order of magnitude

struct Pipe {
  File read, write;
  static Result<Pipe> open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error(errno, "open", "a pipe"));
    return Pipe{File(ends[0]), File(ends[1])};
  }
};

struct Child {
  pid_t pid = -1;
  Pipe out, err, status;
};

// Everything the child needs is prepared before fork: between fork and exec only async-signal-safe calls are allowed.
Result<Child> spawn(const ProcessSpec& spec, const std::string& program) {
  Child child;
  TRY(child.out, Pipe::open());
  TRY(child.err, Pipe::open());
  TRY(child.status, Pipe::open());
  std::vector<std::string> storage;
  for (const auto& [name, value] : spec.environment) storage.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (const auto& a : spec.argv) argv.push_back(const_cast<char*>(a.c_str()));
  for (const auto& e : storage) envp.push_back(const_cast<char*>(e.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) return fail(errno_error(errno, "open", "/dev/null"));
  child.pid = ::fork();
  if (child.pid < 0) {
    ::close(null);
    return fail(errno_error(errno, "start", program));
  }
  if (child.pid == 0) {
    ::setpgid(0, 0);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::dup2(null, 0);
    ::dup2(child.out.write.descriptor(), 1);
    ::dup2(spec.merge_stderr ? child.out.write.descriptor() : child.err.write.descriptor(), 2);
    if (spec.directory.empty() || ::chdir(spec.directory.c_str()) == 0)
      ::execve(program.c_str(), argv.data(), envp.data());
    int error = errno;
    [[maybe_unused]] auto n = ::write(child.status.write.descriptor(), &error, sizeof error);
    ::_exit(127);
  }
  ::close(null);
  ::setpgid(child.pid, child.pid);
  child.out.write.close();
  child.err.write.close();
  child.status.write.close();
  return child;
}

struct Capture {
  const ProcessSpec& spec;
  ProcessResult& result;
  // Returns false at end of file.
  bool take(const File& from, std::string& into) {
    char buffer[65536];
    auto n = ::read(from.descriptor(), buffer, sizeof buffer);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    std::string_view chunk(buffer, static_cast<std::size_t>(n));
    if (spec.on_output) spec.on_output(chunk);
    auto room = spec.capture_bytes_max > into.size() ? spec.capture_bytes_max - into.size() : 0;
    into += chunk.substr(0, room);
    result.dropped_bytes += chunk.size() - std::min<std::size_t>(chunk.size(), room);
    return true;
  }
};
} // namespace

Result<ProcessResult> run_process(const ProcessSpec& spec) {
  if (spec.argv.empty()) return fail(ErrorKind::internal, "D007", "no program given");
  auto path_value =
      spec.environment.contains("PATH") ? spec.environment.at("PATH") : std::string("/usr/local/bin:/usr/bin:/bin");
  auto program = find_program(spec.argv[0], path_value);
  if (program.empty())
    return fail(ErrorKind::missing_program, "D007", fmt::format("program {} was not found", spec.argv[0]),
                "install it, or name its full path");
  std::optional<Descendants> descendants;
  if (spec.ends_descendants) {
    TRY(auto adopted, Descendants::adopt());
    descendants.emplace(std::move(adopted));
  }
  RealClock clock;
  auto begin = clock.steady_ns();
  TRY(auto child, spawn(spec, program));
  ProcessResult result;
  Capture capture{spec, result};
  bool out_open = true, err_open = true, exited = false;
  std::uint64_t kill_at = 0, exited_at = 0;
  int status = 0;
  rusage usage{};
  // Readable when the child ends (Linux 5.3); without it the end is noticed at the next turn of the loop.
  File ended(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  while (out_open || err_open || !exited) {
    pollfd fds[3] = {{child.out.read.descriptor(), POLLIN, 0},
                     {child.err.read.descriptor(), POLLIN, 0},
                     {exited ? -1 : ended.descriptor(), POLLIN, 0}};
    if (!out_open) fds[0].fd = -1;
    if (!err_open) fds[1].fd = -1;
    ::poll(fds, 3, 50);
    if (out_open && fds[0].revents) out_open = capture.take(child.out.read, result.out);
    if (err_open && fds[1].revents) err_open = capture.take(child.err.read, result.err);
    if (!exited && ::wait4(child.pid, &status, WNOHANG, &usage) == child.pid)
      exited = true, exited_at = clock.steady_ns();
    auto now = clock.steady_ns();
    bool late = spec.deadline_ms && now - begin > *spec.deadline_ms * 1'000'000;
    if (!exited && !kill_at && (late || interrupted())) {
      result.timed_out = late;
      ::kill(-child.pid, SIGTERM);
      kill_at = now + k_grace_ns;
    }
    if (kill_at && now > kill_at) ::kill(-child.pid, SIGKILL);
    if (kill_at && now > kill_at && !exited) ::kill(child.pid, SIGKILL); // it may have left its group
    if (descendants) descendants->collect(child.pid);
    // A grandchild that keeps our pipes open must not hold us for ever.
    if (exited && now - exited_at > 1'000'000'000) break;
  }
  ::kill(-child.pid, SIGKILL); // whatever is left of the group
  if (descendants) TRY_DO(descendants->end(), fmt::format("after {} had ended", spec.argv[0]));
  int error = 0;
  if (::read(child.status.read.descriptor(), &error, sizeof error) == sizeof error)
    return fail(ErrorKind::missing_program, "D007",
                fmt::format("cannot run {}: {}", program, errno_error(error, "start", program).message));
  result.seconds = static_cast<double>(clock.steady_ns() - begin) / 1e9;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFSIGNALED(status) ? 128 + result.signal : WEXITSTATUS(status);
  result.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (interrupted())
    return fail(ErrorKind::cancelled, "D006", fmt::format("interrupted while running {}", spec.argv[0]),
                "run the same command again");
  return result;
}

} // namespace quarry::sys
