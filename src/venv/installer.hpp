#pragma once
// pip and uv as programs: how they are called so that nothing but the source can be installed, and what their failures
// mean.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "venv/environment.hpp"
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::venv {

enum class Installer : std::uint8_t { pip, uv };
std::string_view to_string(Installer installer);

struct InstallerRequest {
  Installer installer = Installer::pip;
  std::vector<std::string> packages; ///< "rocm[libraries,devel]==7.2.0"
  std::string requirements;          ///< instead of packages: a file that pins each of them by digest
  bool pre = false, disable_cache = false;
  bool no_isolation = false; ///< sdists are built with the setuptools and wheel of the environment
  bool build_wheels = false; ///< pip makes a wheel of every sdist: see makes_no_wheels()
  bool reinstall = false;    ///< what is installed of the source's projects is replaced
  std::uint64_t retry_timeout_ms = 0, retry_wait_ms = 0; ///< 0: one try
  PassedNames passed;                                    ///< variables besides those of the list
};

/// Where the command finds things. For local sources `links` is a directory that holds exactly the offered files.
struct InstallerPlaces {
  std::string links, report, cache;
  /// Requirements files for what holds credentials: source_addresses() and secret_packages(). Empty: arguments.
  std::string addresses = {}, packages = {};
};

/// The index and links of a remote source as lines of a requirements file. Every user of a machine can read the
/// arguments of a process; a file has a mode. Empty if no address holds a credential.
std::string source_addresses(const Source& source);
/// The packages likewise, if one of them is a URL that holds a credential (`rocm @ https://user:password@host/r.whl`).
std::string secret_packages(const std::vector<std::string>& packages);

/// The command line; pure. pip: `--report` for remote sources, which is how the digests become known.
std::vector<std::string> installer_command(const Environment& environment, const Source& source,
                                           const InstallerRequest& request, const InstallerPlaces& places);

/// "23.2.1". missing_program V011: pip or uv does not say its version. It is missing, fails, or takes more than a
/// minute; which of these is not told apart.
Result<std::string> installer_version(const Environment& environment, Installer installer, const Variables& variables);

/// Whether this version of pip, where `wheel` is not installed, runs an sdist's `setup.py install`: such a project has
/// neither RECORD nor hash afterwards, and no receipt could name it. pip before 23.1 (Debian 12 has 23.0.1). Pure.
bool makes_no_wheels(std::string_view pip_version);

/// Puts setuptools and wheel into the environment. They come from where the user's own configuration of pip or uv says,
/// because the source does not have them.
std::vector<std::string> build_tools_command(const Environment& environment, Installer installer);

struct InstallerHooks {
  std::function<void(std::string_view)> on_line; ///< each line of output; may be empty
  /// Sleeps between tries; `reason` is why the last one failed.
  std::function<Result<void>(std::uint64_t milliseconds, const std::string& reason)> wait;
};
/// A command line, and what it runs in.
struct InstallerCall {
  std::vector<std::string> command;
  const Environment& environment;
  const Variables& variables;
};
/// Runs the command until it succeeds, or fails for good: failed V010 (with the last lines of the output), or
/// unavailable V010 when the network was the reason; V014 when an sdist lacks its build tools, V016 when this machine
/// was the reason.
Result<void> run_installer(const InstallerCall& call, const Source& source, const InstallerRequest& request,
                           const InstallerHooks& hooks);

/// Whether the output of pip or uv says that the network or a server failed, so that trying again may help.
bool looks_transient(std::string_view output);
/// The words that say so ("Connection refused"); empty: none.
std::string_view transient_sign(std::string_view output);

/// pip's `--report` (formats 0 and 1): what it installed from where. corrupt V012.
Result<std::vector<InstalledFile>> parse_pip_report(NamedText named);

/// The lines "name==version --hash=sha256:…" of `uv pip compile --generate-hashes`. unsupported V013 when a version has
/// several files.
Result<std::vector<InstalledFile>> parse_hashed_requirements(std::string_view text);

} // namespace quarry::venv
