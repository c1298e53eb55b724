// Finding a Python interpreter that runs.
#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "sys/tree.hpp"
#include "venv/environment.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::venv {

namespace {

constexpr std::uint64_t k_probe_deadline_ms = 20'000; // a cold start from a network disk takes seconds
constexpr std::size_t k_listed_max = 12;              // of those that are there

std::string value(const Variables& variables, const std::string& name) {
  auto at = variables.find(name);
  return at == variables.end() ? "" : at->second;
}

/// What the interpreter says about itself; empty when it does not run (pyenv's shims are there for versions that are
/// not chosen).
std::string probe(const std::string& program, const Variables& variables) {
  sys::ProcessSpec spec;
  spec.argv = {program, "-I", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"};
  spec.environment = clean_variables(variables);
  spec.deadline_ms = k_probe_deadline_ms;
  auto done = sys::run_process(spec);
  if (!done || done->exit_code != 0) return {};
  auto version = std::string(text::trim(done->out));
  return text::split(version, '.').size() == 3 ? version : "";
}

bool is_python_name(std::string_view name) {
  if (!name.starts_with("python3.")) return false;
  return text::parse_u64(name.substr(8)).has_value();
}

/// Directories that hold interpreters, in the order in which they are asked.
std::vector<std::string> search_directories(const Variables& variables) {
  auto directories = text::split_any(value(variables, "PATH"), ":");
  auto below = [&](const std::string& parent) {
    auto entries = sys::list_directory(parent);
    if (!entries) return;
    for (const auto& entry : *entries) directories.push_back(path::join(parent, entry.path) + "/bin");
  };
  auto pyenv = value(variables, "PYENV_ROOT");
  if (pyenv.empty() && !value(variables, "HOME").empty()) pyenv = path::join(value(variables, "HOME"), ".pyenv");
  if (!pyenv.empty()) below(path::join(pyenv, "versions"));
  below("/opt/python");
  return directories;
}

/// Every python3.X program of the directories, first come first.
std::vector<std::string> candidates(const std::vector<std::string>& directories, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& directory : directories)
    if (auto program = sys::find_program(path::join(directory, name), ""); !program.empty()) found.push_back(program);
  return found;
}

std::string present(const Variables& variables) {
  std::set<std::string> names;
  auto directories = search_directories(variables);
  for (const auto& directory : directories) {
    auto entries = sys::list_directory(directory);
    if (!entries) continue;
    for (const auto& entry : *entries)
      if (is_python_name(entry.path)) names.insert(entry.path);
  }
  std::set<std::pair<std::uint64_t, std::string>> versions;
  for (const auto& name : names)
    for (const auto& program : candidates(directories, name)) {
      auto version = probe(program, variables);
      if (version.empty()) continue;
      versions.emplace(text::parse_u64(name.substr(8)).value_or(0), version);
      break;
    }
  std::vector<std::string> shown;
  for (const auto& [minor, version] : versions)
    if (shown.size() < k_listed_max) shown.push_back(version);
  return shown.empty() ? "none" : text::join(shown, ", ");
}

} // namespace

Result<Interpreter> find_python(const std::string& wanted, const Variables& variables) {
  bool is_path = wanted.find('/') != wanted.npos;
  std::string name = wanted.empty() ? "python3" : wanted;
  if (!is_path && !name.empty() && ascii::is_digit(name[0])) name = "python" + name;
  auto tried = is_path ? std::vector<std::string>{wanted} : candidates(search_directories(variables), name);
  for (const auto& program : tried) {
    auto version = probe(program, variables);
    if (version.empty()) continue;
    TRY(auto absolute, sys::absolute(program));
    return Interpreter{absolute, version};
  }
  return fail(ErrorKind::missing_program, "V002", fmt::format("{} is not on this machine", is_path ? wanted : name),
              fmt::format("here are: {}; name one with --python, or install it", present(variables)));
}

} // namespace quarry::venv
