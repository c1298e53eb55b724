#include "cli/doctor.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/settings.hpp"
#include "cli/suggest.hpp"
#include "sys/beneath.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_disk_enough = 10'000'000'000; // artifacts, wheels and an environment of a full SDK, once each
constexpr std::uint64_t k_disk_least = 1'000'000'000;
constexpr std::uint64_t k_deadline_ms = 20'000; // a cold Python on a slow disk
constexpr std::uint64_t k_python_minor_least = 10;

/// What a program prints first, or empty when it is absent or fails.
std::string first_line(const Context& context, std::vector<std::string> argv) {
  sys::ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = context.environment;
  spec.deadline_ms = k_deadline_ms;
  spec.merge_stderr = true;
  auto result = sys::run_process(spec);
  if (!result || result->exit_code != 0) return "";
  auto lines = text::lines(result->out);
  return lines.empty() ? "done" : lines[0];
}

Check processors(const Context& context) {
  return {"processors", Health::ok,
          fmt::format("{} ({}), {} of memory", sys::cpu_count(), sys::cpu_model(), units::bytes(sys::memory_bytes())),
          context.jobs == sys::cpu_count() ? ""
                                           : fmt::format("--jobs or QUARRY_JOBS limits the work to {}", context.jobs)};
}

Check disk() {
  auto free = sys::free_bytes(".");
  auto health = free < k_disk_least ? Health::failed : free < k_disk_enough ? Health::warning : Health::ok;
  return {"disk", health, fmt::format("{} free here", units::bytes(free)),
          health == Health::ok ? "" : fmt::format("free some space: a full SDK needs {}", units::bytes(k_disk_enough))};
}

Result<void> write_beneath(const std::string& directory) {
  TRY(auto beneath, sys::Beneath::open(directory));
  TRY(auto file, beneath.create_file("a/b", 0600));
  TRY_DO(file.write("x"));
  TRY(auto again, beneath.open_read("a/b"));
  TRY_DO(sys::write_file(path::join(directory, "c"), "x"));
  return {};
}

Check temporary(const Context& context) {
  auto below = context.variable("TMPDIR").empty() ? "/tmp" : context.variable("TMPDIR");
  auto directory = sys::make_temporary_directory(below, "quarry-doctor-");
  if (!directory)
    return {"temporary", Health::failed, directory.error().message, "set TMPDIR to a directory that you may write to"};
  auto written = write_beneath(*directory);
  auto removed = sys::remove_tree(*directory);
  if (!written)
    return {"temporary", Health::failed, written.error().message, "set TMPDIR to a directory that you may write to"};
  return {"temporary", removed ? Health::ok : Health::warning, below + " is writable", ""};
}

Check home(const Context& context) {
  auto home = context.variable("HOME");
  if (home.empty()) return {"home", Health::warning, "HOME is not set", "set HOME: pip and uv keep their caches there"};
  auto directory = sys::make_temporary_directory(home, ".quarry-doctor-");
  if (!directory)
    return {"home", Health::warning, directory.error().message,
            "pip and uv keep their caches there; set HOME to a directory that you may write to"};
  auto removed = sys::remove_tree(*directory);
  return {"home", removed ? Health::ok : Health::warning, home + " is writable", ""};
}

std::optional<std::uint64_t> python_minor(std::string_view version) {
  constexpr std::string_view k_head = "Python 3.";
  if (!version.starts_with(k_head)) return std::nullopt;
  auto rest = version.substr(k_head.size());
  return text::parse_u64(rest.substr(0, rest.find('.')));
}

void python_checks(const Context& context, std::vector<Check>& checks) {
  auto program = sys::find_program("python3", context.variable("PATH"));
  auto version = program.empty() ? "" : first_line(context, {program, "--version"});
  auto minor = python_minor(version);
  if (!minor) {
    checks.push_back({"python", Health::failed, "no python3 that runs",
                      "install Python 3.10 or later: `apt-get install python3 python3-venv`"});
    return;
  }
  bool recent = *minor >= k_python_minor_least;
  checks.push_back({"python", recent ? Health::ok : Health::failed, version + ", " + program,
                    recent ? "" : "install Python 3.10 or later"});
  bool venv = !first_line(context, {program, "-c", "import venv, ensurepip; print('ok')"}).empty();
  checks.push_back({"venv", venv ? Health::ok : Health::failed,
                    venv ? "environments can be made" : "python3 cannot make environments",
                    venv ? "" : "`apt-get install python3-venv`"});
  auto pip = first_line(context, {program, "-m", "pip", "--version"});
  checks.push_back(
      {"pip", Health::ok,
       pip.empty() ? "not in python3 itself; environments bring their own" : pip.substr(0, pip.find(" from ")), ""});
}

Check uv(const Context& context) {
  auto version = first_line(context, {"uv", "--version"});
  if (!version.empty())
    return {"uv", Health::ok, version + "; `venv install --installer uv` uses it instead of pip", ""};
  return {"uv", Health::note, "absent; `venv install` uses pip",
          "`pip install uv` makes `venv install --installer uv` possible, which installs faster"};
}

Check gpu() {
  if (sys::has_gpu_device()) return {"gpu", Health::ok, "an AMD GPU driver runs (/dev/kfd)", ""};
  return {"gpu", Health::note, "no AMD GPU driver (/dev/kfd)", "tests that need a GPU are counted as skipped here"};
}
} // namespace

Check system_check() {
  return {"system", Health::ok, fmt::format("{}, Linux {}", sys::os_release(), sys::kernel_release()), ""};
}

Check data_check(const Context& context) {
  auto count = context.resources.list("").size();
  bool launcher = context.resources.read("launcher").has_value();
  return {"data", launcher ? Health::ok : Health::failed,
          fmt::format("{} files travel with {}", count, context.program),
          launcher ? "" : "this build is incomplete: build quarry again"};
}

std::vector<Check> installer_variables(const std::map<std::string, std::string>& environment) {
  std::vector<Check> checks;
  for (const auto& [name, value] : environment) {
    bool steers = name.ends_with("INDEX_URL") || name.ends_with("FIND_LINKS") || name.ends_with("NO_INDEX") ||
                  name.ends_with("CONSTRAINT") || name == "UV_INDEX" || name == "UV_DEFAULT_INDEX" ||
                  name.ends_with("CONFIG_FILE") || name == "PIP_PRE" || name == "UV_PRERELEASE";
    if (!(name.starts_with("PIP_") || name.starts_with("UV_")) || !steers || value.empty()) continue;
    // The value may hold a password.
    checks.push_back(
        {name, Health::note, "is set", "installers that you run yourself obey it; `quarry venv install` does not"});
  }
  return checks;
}

std::vector<Check> unknown_variables(const std::map<std::string, std::string>& environment,
                                     const std::vector<std::string>& known) {
  std::vector<Check> checks;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with("QUARRY_") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    auto near = did_you_mean(name, known);
    checks.push_back({name, Health::warning, "no flag reads this variable",
                      near.empty() ? "`quarry config show` lists the variables" : near});
  }
  return checks;
}

std::vector<Check> examine(const Context& context) {
  std::vector<Check> checks{system_check(), processors(context), disk(), temporary(context), home(context)};
  python_checks(context, checks);
  checks.push_back(uv(context));
  checks.push_back(gpu());
  checks.push_back(data_check(context));
  auto more = installer_variables(context.environment);
  checks.insert(checks.end(), more.begin(), more.end());
  std::vector<std::string> known;
  auto commands = all_commands();
  for (const auto* flag : configurable_flags(commands)) known.push_back(flag->environment);
  known.insert(known.end(), {"QUARRY_S3_ANONYMOUS", "QUARRY_ALLOW_PLAIN_HTTP",
                             "QUARRY_STALL_SECONDS"}); // read where a store is opened
  more = unknown_variables(context.environment, known);
  checks.insert(checks.end(), more.begin(), more.end());
  return checks;
}

bool is_healthy(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const Check& check) { return check.health == Health::failed; });
}

} // namespace quarry::cli
