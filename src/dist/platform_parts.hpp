#pragma once
// The parts of a platform tag of a wheel. Pure.
#include <string_view>

namespace quarry::dist {

struct PlatformParts {
  std::string_view system;  ///< "linux", "manylinux", "musllinux", "macosx"; the whole tag if it is another
  std::string_view machine; ///< "x86_64"; empty for another system
};
/// "manylinux_2_28_x86_64", "manylinux2014_x86_64" and "linux_x86_64" end in the machine, behind the version of the
/// system. Views into `tag`.
PlatformParts platform_parts(std::string_view tag);

} // namespace quarry::dist
