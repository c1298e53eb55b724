#pragma once
// What is wrong with the machine code of wheels: tags that promise too much, libraries that are not found, run paths of
// the machine that built them, and files that carry what nobody needs. Codes Q101 to Q127 without
// Q121 and Q122. Pure.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "inspect/platform_verdict.hpp"
#include "inspect/wheel_contents.hpp"
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

/// The DLLs that are part of Windows or of Python for Windows: data/windows-libraries.toml.
struct WindowsLibraries {
  std::vector<std::string> patterns; ///< lower case, with `*`
};
/// corrupt Q007 with file, line and key.
Result<WindowsLibraries> parse_windows_libraries(NamedText named);

struct MachineRules {
  PlatformTables platforms;
  const WindowsLibraries& windows;
  std::vector<std::string> allowed; ///< patterns of libraries that the machine is known to have: "libamdhip64.so.*"
  std::optional<std::size_t> needs_max = {}; ///< needs of libraries that are followed (Q118); tests lower the bound
};

/// A wheel and what platform_verdict() said of it.
struct JudgedWheel {
  const WheelContents* wheel = nullptr;
  PlatformVerdict verdict;
};

/// Findings of all wheels, which are installed side by side: wheel by wheel, and for each the findings of its files
/// first. A wheel that could not be read to its end has none here.
Findings check_machine_code(std::span<const JudgedWheel> wheels, const MachineRules& rules);

} // namespace quarry::inspect
