#pragma once
// Paths of a wheel that are too long for Windows where the wheel is installed. Code Q231. Pure.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "inspect/wheel_contents.hpp"
#include <cstdint>
#include <string>
#include <string_view>

namespace quarry::inspect {

/// Lengths in UTF-16 units, as Windows counts them: data/windows-paths.toml.
struct WindowsPaths {
  std::int64_t file_max = 0, directory_max = 0; ///< of a full path
  std::int64_t prefix = 0;                      ///< of the path of site-packages with its last separator
};
/// Fails with corrupt Q009, with file, line and key.
Result<WindowsPaths> parse_windows_paths(NamedText named);

/// One warning for all files below site-packages whose path or directory gets too long; none for a wheel that no
/// installer on Windows takes. Linear in the lengths of the paths.
Findings check_paths(const WheelContents& wheel, const WindowsPaths& paths);

} // namespace quarry::inspect
