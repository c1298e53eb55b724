#pragma once
// Private to the room.
// Which parts of a file's own run path hold wherever a package is installed: those that begin with $ORIGIN and stay in
// site-packages.
#include "base/finding.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::sdk {

enum class RunPathPart : std::uint8_t {
  portable, ///< $ORIGIN or ${ORIGIN}, alone or with a path behind it
  relative, ///< to the working directory of whoever runs the program: "lib", ".", "", also "$LIB/x" and "$ORIGINx"
  absolute, ///< a directory of the machine that built the file, also by way of $ORIGIN/../../../../..
};
/// `file`: its path in the package's own directory of site-packages, such as lib/libamdhip64.so.6.
RunPathPart kind_of_part(std::string_view part, std::string_view file);

/// Removes the parts of run paths that are not portable, and remembers them. A relative part in DT_RPATH loads
/// libraries from the user's working directory, before LD_LIBRARY_PATH; an absolute one names a directory that somebody
/// else may own on the machine where the package is installed.
class DroppedRunPaths {
public:
  /// The portable parts of `run_path`, in their order, joined by ':'.
  std::string portable(const std::string& file, const std::string& run_path);
  /// One finding for each distinct part: S051 (warning) for relative parts, S052 (note) for absolute ones.
  void report(const std::string& place, Findings& findings) const;

private:
  std::map<std::string, std::vector<std::string>> files_; // by part
};

} // namespace quarry::sdk
