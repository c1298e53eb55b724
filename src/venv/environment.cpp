#include "venv/environment.hpp"

#include "base/redact.hpp"
#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "sys/tree.hpp"
#include "venv/symptoms.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {

constexpr std::uint64_t k_config_bytes_max = 1u << 20;

Unexpected no_environment(const std::string& directory, std::string_view why) {
  return fail(ErrorKind::not_found, "V001", fmt::format("{} is not a Python environment: {}", directory, why),
              fmt::format("make one with `quarry venv create {}`", directory));
}

std::string version_of(std::string_view config) {
  for (const auto& line : text::lines(config)) {
    auto equals = line.find('=');
    if (equals == line.npos) continue;
    auto key = text::trim(std::string_view(line).substr(0, equals));
    if (key != "version" && key != "version_info") continue;
    auto parts = text::split(text::trim(std::string_view(line).substr(equals + 1)), '.');
    if (parts.size() >= 3) return parts[0] + "." + parts[1] + "." + parts[2];
  }
  return {};
}

} // namespace

// What programs need to run, GPUs to be chosen, and networks to be reached. Whatever else a job has (AWS_*, ACTIONS_*,
// GITHUB_*, PIP_*, LD_LIBRARY_PATH) steers tools or is a credential.
bool is_passed_on(std::string_view name) {
  static constexpr std::string_view k_names[] = {"PATH",
                                                 "HOME",
                                                 "USER",
                                                 "LOGNAME",
                                                 "SHELL",
                                                 "TERM",
                                                 "LANG",
                                                 "LANGUAGE",
                                                 "TZ",
                                                 "TMPDIR",
                                                 "TEMP",
                                                 "TMP",
                                                 "XDG_CACHE_HOME",
                                                 "XDG_RUNTIME_DIR",
                                                 "CUDA_VISIBLE_DEVICES",
                                                 "HTTP_PROXY",
                                                 "HTTPS_PROXY",
                                                 "ALL_PROXY",
                                                 "NO_PROXY",
                                                 "http_proxy",
                                                 "https_proxy",
                                                 "all_proxy",
                                                 "no_proxy",
                                                 "SSL_CERT_FILE",
                                                 "SSL_CERT_DIR",
                                                 "REQUESTS_CA_BUNDLE",
                                                 "CURL_CA_BUNDLE"};
  static constexpr std::string_view k_prefixes[] = {"LC_", "ROCR_", "HIP_", "HSA_", "AMD_", "GPU_", "ROCM_SDK_"};
  if (redact::is_secret_name(name)) return false; // also AMD_…_TOKEN
  return std::find(std::begin(k_names), std::end(k_names), name) != std::end(k_names) ||
         std::any_of(std::begin(k_prefixes), std::end(k_prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string Environment::minor() const {
  auto parts = text::split(version, '.');
  return parts.size() < 2 ? version : parts[0] + "." + parts[1];
}

bool is_environment(const std::string& directory) {
  return sys::exists(path::join(directory, "pyvenv.cfg")) && sys::exists(path::join(directory, "bin/python"));
}

Result<Environment> open_environment(const std::string& directory) {
  TRY(auto absolute, sys::absolute(directory));
  if (!sys::is_directory(absolute)) return no_environment(directory, "the directory does not exist");
  if (!is_environment(absolute)) return no_environment(directory, "pyvenv.cfg or bin/python is missing");
  TRY(auto config, sys::read_file(path::join(absolute, "pyvenv.cfg"), k_config_bytes_max));
  Environment environment{absolute, path::join(absolute, "bin/python"), version_of(config), ""};
  if (environment.version.empty()) return no_environment(directory, "pyvenv.cfg names no version");
  environment.site_packages = fmt::format("{}/lib/python{}/site-packages", absolute, environment.minor());
  if (!sys::is_directory(environment.site_packages))
    return no_environment(directory, environment.site_packages + " is missing");
  return environment;
}

Variables clean_variables(const Variables& variables, const PassedNames& passed) {
  Variables clean;
  for (const auto& [name, value] : variables)
    if (is_passed_on(name) || std::find(passed.begin(), passed.end(), name) != passed.end()) clean.emplace(name, value);
  clean["PIP_CONFIG_FILE"] = "/dev/null";
  clean["UV_NO_CONFIG"] = "1";
  clean["UV_PYTHON_DOWNLOADS"] = "never";
  clean["PYTHONNOUSERSITE"] = "1";
  // pip's own copy of requests does not know the variable that every other program uses.
  if (auto file = clean.find("SSL_CERT_FILE"); file != clean.end()) clean.emplace("REQUESTS_CA_BUNDLE", file->second);
  return clean;
}

Variables activated_variables(const Environment& environment, const Variables& variables, const PassedNames& passed) {
  auto clean = clean_variables(variables, passed);
  auto& path_value = clean["PATH"];
  path_value = environment.program("") + (path_value.empty() ? "" : ":" + path_value);
  clean["VIRTUAL_ENV"] = environment.directory;
  return clean;
}

Variables user_variables(const Environment& environment, const Variables& variables) {
  auto mine = activated_variables(environment, variables);
  for (const auto* name : {"PIP_CONFIG_FILE", "UV_NO_CONFIG"}) mine.erase(name);
  for (const auto& [name, value] : variables)
    if (name.starts_with("PIP_") || name.starts_with("UV_")) mine[name] = value;
  return mine;
}

std::vector<std::string> last_lines(std::string_view output, std::size_t count) {
  std::vector<std::string> kept;
  for (auto& line : text::lines(output))
    if (!text::trim(line).empty()) kept.push_back(line.substr(0, 300));
  if (kept.size() > count) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(count));
  return kept;
}

namespace {

constexpr const char* k_config = "pyvenv.cfg";
constexpr std::uint64_t k_room_bytes = 1u << 20; // less than one file of pip may need: the disk is full

Unexpected cannot_create(const std::string& directory, const std::string& output, bool disk_is_full) {
  auto trouble = machine_trouble(output);
  // venv does not show what ensurepip printed, so a full disk is seen by looking before anything is removed.
  if (!trouble && disk_is_full)
    trouble = MachineTrouble{ErrorKind::resource_exhausted, "No space left on device: " + directory};
  if (trouble)
    return fail(machine_trouble_error(*trouble, fmt::format("the environment {} could not be made", directory)));
  auto error =
      Error::of(ErrorKind::missing_program, "V004", fmt::format("the environment {} could not be made", directory));
  error.details = last_lines(output, k_output_lines);
  if (output.find("ensurepip") != output.npos)
    error.hint = "this Python comes without venv: `apt-get install python3-venv`, or name another with --python";
  else
    error.hint = "fix what its last lines say, or name another interpreter with --python";
  return fail(std::move(error));
}

/// The directory itself stays: it may be somebody's working directory. What says that it is an environment goes last,
/// so that an interrupted removal can be done again.
Result<void> empty_out(const std::string& directory) {
  TRY(auto entries, sys::list_directory(directory));
  for (const auto& entry : entries)
    if (entry.path != k_config) TRY_DO(sys::remove_tree(path::join(directory, entry.path)));
  return sys::remove_file(path::join(directory, k_config));
}

Result<void> clear(const std::string& directory) {
  TRY(auto entries, sys::list_directory(directory));
  if (!entries.empty() && !sys::exists(path::join(directory, k_config)))
    return fail(ErrorKind::already_exists, "V003",
                fmt::format("{} is not empty and not a Python environment; Quarry will not touch it", directory),
                "name another directory, or remove this one yourself");
  return empty_out(directory);
}

Result<sys::ProcessResult> run_creator(const CreateOptions& options, const Interpreter& python,
                                       const std::string& directory, const Variables& variables) {
  sys::ProcessSpec spec;
  spec.argv = {python.path, "-I", "-m", "venv", directory};
  if (options.use_uv) spec.argv = {"uv", "venv", "--no-config", "--no-project", "--python", python.path, directory};
  spec.environment = clean_variables(variables);
  spec.merge_stderr = true;
  return sys::run_process(spec);
}

} // namespace

Result<Created> create_environment(const CreateOptions& options, const Variables& variables) {
  TRY(auto directory, sys::absolute(options.directory));
  if (sys::exists(directory) && !sys::is_directory(directory))
    return fail(ErrorKind::invalid_argument, "V003",
                fmt::format("{} exists and is not a directory", options.directory));
  TRY(auto python, find_python(options.python, variables)); // before anything is removed
  bool there = sys::is_directory(directory);
  if (there && options.clean) TRY_DO(clear(directory));
  if (!options.clean && is_environment(directory)) {
    TRY(auto environment, open_environment(directory));
    auto wanted = text::split(python.version, '.');
    if (!options.python.empty() && environment.minor() != wanted[0] + "." + wanted[1])
      return fail(ErrorKind::already_exists, "V003",
                  fmt::format("{} is an environment of Python {}, not {}", options.directory, environment.version,
                              python.version),
                  "make it from scratch with --clean, or name another directory");
    return Created{std::move(environment), true};
  }
  if (there && !options.clean) TRY_DO(clear(directory)); // empty, or the rest of an environment that was never finished
  auto done = run_creator(options, python, directory, variables);
  if (!done || done->exit_code != 0) {
    auto room = sys::is_directory(directory) ? directory : path::dirname(directory);
    bool full = sys::is_directory(room) && sys::free_bytes(room) < k_room_bytes;
    // What stops the creation mostly stops the removal, too (a read-only disk): the first is what the user asked for.
    (void)(there ? empty_out(directory) : sys::remove_tree(directory)).has_value();
    if (!done) return fail(std::move(done).error());
    return cannot_create(options.directory, done->out, full);
  }
  TRY(auto environment, open_environment(directory));
  return Created{std::move(environment), false};
}

} // namespace quarry::venv
