#pragma once
// Names of scripts: files that an installer puts into an environment's bin or Scripts directory. Pure.
#include <string>
#include <string_view>

namespace quarry::dist {

/// Whether every system can have a script of this name: not empty, not a path, no character that Windows reserves. No
/// blank or bracket either: of the entry point `x python` pip makes a script `python`.
bool is_script_name(std::string_view name);
/// Whether a file of this name in the scripts directory is an interpreter of the environment: python, Python3.12,
/// pythonw.exe, python3.13t, pypy3. uv refuses such scripts, pip replaces the interpreter by them.
bool is_interpreter_name(std::string_view name);
/// The file that pip makes for an entry point on Windows: `foo.exe`, also of `foo.py` and `foo.pyw`.
std::string windows_script(std::string_view name);
/// Whether a file of this name in the scripts directory steers the interpreter beside it before anything else does:
/// pyvenv.cfg, python312._pth.
bool is_interpreter_settings(std::string_view name);
/// Whether a file of this name in the scripts directory switches the environment on or off: activate, activate.fish,
/// deactivate.bat. uv warns of such scripts, pip replaces the environment's own file.
bool is_activation_name(std::string_view name);

} // namespace quarry::dist
