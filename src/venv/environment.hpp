#pragma once
// Python environments on this machine: what is there, and how programs are run in them without the user's settings
// leaking in. Errors: V001 (no environment), V002 (no such Python), V003 (will not clear), V004 (cannot create).
#include "base/result.hpp"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::venv {

using Variables = std::map<std::string, std::string>;

struct Environment {
  std::string directory;     ///< absolute
  std::string python;        ///< "{directory}/bin/python"
  std::string version;       ///< "3.11.7"
  std::string site_packages; ///< absolute
  std::string minor() const; ///< "3.11"
  std::string program(const std::string& name) const { return directory + "/bin/" + name; }
};

/// An existing environment; not_found V001 if DIR is not an environment.
Result<Environment> open_environment(const std::string& directory);
bool is_environment(const std::string& directory);

/// Whether installers, builds and tests get the variable of this name: a list (docs/formats/evidence.md), and no name
/// that looks like a secret. Pure.
bool is_passed_on(std::string_view name);

/// Names of variables that a caller passes on besides those of the list: `--pass-env`.
using PassedNames = std::vector<std::string>;

/// What installers, builds and tests get of `variables`: only names of a list (docs/formats/evidence.md) and those in
/// `passed`, with the configuration files of pip and uv switched off. So a job's credentials do not reach the code
/// under test, and what a set installs depends on the set.
Variables clean_variables(const Variables& variables, const PassedNames& passed = {});
/// The same with the environment's programs first on PATH, as after activation.
Variables activated_variables(const Environment& environment, const Variables& variables,
                              const PassedNames& passed = {});

/// The same with the user's own configuration of pip and uv: for tools that the source does not have.
Variables user_variables(const Environment& environment, const Variables& variables);

struct Interpreter {
  std::string path, version;
};
/// `wanted`: "" (python3), "3.12", "python3.12" or a path. Looks at PATH, then at pyenv's versions, then at /opt/python
/// (manylinux images); a candidate counts once it has told its version. missing_program V002 names those that are
/// there.
Result<Interpreter> find_python(const std::string& wanted, const Variables& variables);

struct CreateOptions {
  std::string directory, python; ///< python as for find_python
  bool clean = false;            ///< remove what is there first; only an environment or an empty directory
  bool use_uv = false;
};
struct Created {
  Environment environment;
  bool existed = false; ///< it was there already and was kept
};
/// Leaves nothing behind when it fails. V003, V004; missing_program D007 without uv.
Result<Created> create_environment(const CreateOptions& options, const Variables& variables);

/// Lines of a program's output in an error. pip's errors are one to six lines; of a traceback, the end helps.
inline constexpr std::size_t k_output_lines = 12;
/// The last lines of a program's output, for error details. Pure.
std::vector<std::string> last_lines(std::string_view output, std::size_t count);

} // namespace quarry::venv
