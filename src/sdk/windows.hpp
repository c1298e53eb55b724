#pragma once
// Private to the room.
// Packages for Windows, made on any machine: what is taken from the artifacts, and what Windows could not install or
// load (docs/formats/recipe.md, "Packages for Windows"). No file is changed: there is no run path and no SONAME.
#include "base/finding.hpp"
#include "sdk/populate.hpp"
#include "sdk/view.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::sdk {

/// MAX_PATH of the Windows API without the closing NUL; a directory must leave room for an 8.3 name below it.
constexpr std::size_t k_windows_path_max = 259, k_windows_directory_room = 12;
/// `C:\Users\` + 20 (the longest user name) + `\AppData\Local\Programs\Python\Python314\Lib\site-packages\`; as long as
/// a virtual environment in a project of that user.
constexpr std::size_t k_windows_site_packages = 88;
constexpr std::size_t k_windows_drive = 3; ///< `C:\`, the shortest place there is

/// The files of a runtime package: a link to a file becomes a copy of it, a link to a directory and a dangling one are
/// left out. Findings S037 (not PE), J001 (damaged), S028 (another processor), S036 (another platform), S029 (a DLL
/// that Windows would not find), S034 (a .lib that is not an archive).
Result<Population> populate_windows(const View& view, const PopulateOptions& options, Findings& findings);

/// Is it called like a program or DLL, and a PE image?
Result<bool> is_windows_image(const std::string& path, const content::Rope& data);

/// As populate_windows for one file of any package; whether it is a sound PE image.
Result<bool> check_windows_file(const std::string& path, const SourceEntry& entry, const std::string& place,
                                Findings& findings);

/// Finding S033: two paths that are one name on Windows, whoever brings them; S035: a name that Windows cannot have.
void check_windows_names(const View& view, const std::string& place, Findings& findings);

/// Paths below site-packages. Finding S032, once for each severity with the longest as its place: an error for what is
/// too long at any place, a warning for what is too long in a usual one.
void check_windows_lengths(const std::vector<std::string>& paths, const std::string& place, Findings& findings);

/// How many UTF-16 units a UTF-8 text has: what Windows counts.
std::size_t utf16_length(std::string_view text);

} // namespace quarry::sdk
