#pragma once
// Private to the room.
// Whether the device code is there that a result would be about. Pure.
#include "base/result.hpp"
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include <string>
#include <vector>

namespace quarry::trial {

struct Installed {
  const std::vector<venv::InstalledFile>& files;      ///< of the source
  const std::vector<venv::OtherDistribution>& others; ///< in the environment, from elsewhere
  const std::vector<std::string>& packages;           ///< what was asked for when they were installed; may be empty
  const std::vector<venv::Offered>& offered;          ///< all files of the source; empty: not known
  const std::string& backend;                         ///< of the result's cell: what ran on a CPU is about no GPU
};

/// Libraries that serve every GPU need the device code of one, which is a package of its own. invalid_argument X031:
/// none is installed although the source has it for their version, or that of a GPU that was asked for (the extra
/// `device-gfx942`) is not. For every result, wherever the suite ran.
Result<void> check_device_code(const Installed& installed);

} // namespace quarry::trial
