#pragma once
// Configuration files. A flag that names a variable QUARRY_X_Y may also be set by the key x-y of a TOML file: flag >
// variable > quarry.toml of the repository > the user's file > default. Errors: C020 (not TOML), C021 (unknown key or
// wrong value).
#include "cli/command.hpp"
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

struct Setting {
  std::string value;
  std::string origin; ///< "/home/a/repo/quarry.toml:3"
};

class Settings {
public:
  /// Reads the files that are there, the stronger one first. A relative `file:` location in a file is relative to that
  /// file.
  static Result<Settings> load(const std::vector<std::string>& files, std::span<const Command> commands);
  const Setting* find(std::string_view key) const;                 ///< null: no file sets it
  const std::vector<std::string>& files() const { return files_; } ///< those that were read

private:
  std::map<std::string, Setting, std::less<>> values_;
  std::vector<std::string> files_;
};

/// "QUARRY_PYPI_URL" -> "pypi-url".
std::string setting_key(std::string_view variable);

/// Every flag with a variable, once per variable, sorted by it: the known settings.
std::vector<const Flag*> configurable_flags(std::span<const Command> commands);

/// The quarry.toml of the repository around `directory` (upwards to the directory that holds .git; without one only
/// `directory` itself) and the user's file; whether they exist or not.
std::vector<std::string> settings_files(const std::string& directory,
                                        const std::map<std::string, std::string>& environment);

/// The root of the repository around `directory`: the nearest that holds .git; empty when there is none.
std::string repository_root(const std::string& directory);

/// Gives flags that were not said their variable's or setting's value, checked as if it had been said.
Result<void> apply_settings(const std::vector<Flag>& flags, const std::map<std::string, std::string>& environment,
                            const Settings& settings, Arguments& arguments);

} // namespace quarry::cli
