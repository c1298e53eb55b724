#include "app/app.hpp"

#include "app/resources.hpp"
#include "cli/commands.hpp"
#include "cli/engine.hpp"
#include "cli/settings.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include "sys/path.hpp"
#include "venv/environment.hpp"
#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace quarry::app {

namespace {
constexpr int k_internal = 11, k_machine = 12; // docs/exit-codes.md

/// Copies the variables, and overwrites the values where the kernel shows them: a program that Quarry starts (the code
/// under test) could read them in /proc/PARENT/environ. Only what such a program gets anyway stays, which is also what
/// libraries ask for here (SSL_CERT_FILE, TZ): a credential may have any other name.
std::map<std::string, std::string> take_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string text = *entry;
    auto equals = text.find('=');
    if (equals == text.npos) continue;
    auto name = text.substr(0, equals);
    if (!venv::is_passed_on(name)) std::fill_n(*entry + equals + 1, text.size() - equals - 1, '*');
    variables.emplace(std::move(name), text.substr(equals + 1));
  }
  return variables;
}

/// Writes all bytes to a descriptor of the process. The first failure is kept and stops further writes.
class Stream {
public:
  explicit Stream(int descriptor) : descriptor_(descriptor) {}
  void write(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
      auto written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written >= 0)
        bytes.remove_prefix(static_cast<std::size_t>(written));
      else if (errno != EINTR)
        error_ = errno;
    }
  }
  /// A reader that went away (`| head`) has what it wanted; anything else is lost output.
  bool lost_output() const { return error_ != 0 && error_ != EPIPE; }
  int error() const { return error_; }

private:
  int descriptor_, error_ = 0;
};

/// A settings file may hold a key of any command, so all are needed to check it.
std::vector<cli::Command> commands_for(const std::vector<std::string>& words,
                                       const std::vector<std::string>& settings) {
  bool whole = words.empty() || std::any_of(settings.begin(), settings.end(), sys::exists);
  return whole ? cli::all_commands() : cli::commands_near(words.front());
}

int run_world(int argc, char** argv, Stream& out, Stream& err) {
  auto environment = take_environment();
  sys::RealClock clock;
  auto program = sys::read_link("/proc/self/exe");
  auto directory = sys::absolute(".");
  auto here = directory ? path::normal(*directory) : std::string("/");
  auto binary = program ? *program : std::string(argc > 0 ? argv[0] : "quarry");
  auto resources = make_resources({.repository = cli::repository_root(here),
                                   .share = path::join(path::dirname(path::dirname(binary)), "share/quarry")});
  cli::World world{.environment = environment,
                   .clock = clock,
                   .resources = *resources,
                   .out = [&](std::string_view bytes) { out.write(bytes); },
                   .err = [&](std::string_view bytes) { err.write(bytes); },
                   .program = binary,
                   .directory = here,
                   .out_is_terminal = sys::stdout_is_terminal(),
                   .err_is_terminal = sys::stderr_is_terminal(),
                   .columns = sys::terminal_columns(),
                   .processors = sys::cpu_count()};
  auto words = argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{};
  return cli::run_engine(world, commands_for(words, cli::settings_files(here, environment)), words);
}

} // namespace

int run(int argc, char** argv) {
  Stream out(STDOUT_FILENO), err(STDERR_FILENO);
  sys::install_interrupt_handlers();
  int code = k_internal;
  try {
    code = run_world(argc, argv, out, err);
  } catch (const std::exception& exception) {
    err.write(render(cli::bug(exception.what())));
  } catch (...) {
    err.write(render(cli::bug("an unknown exception")));
  }
  if (!out.lost_output()) return code;
  auto error = sys::errno_error(out.error(), "write", "standard output");
  error.code = "C091";
  err.write(render(error));
  return code == 0 ? k_machine : code;
}

} // namespace quarry::app
