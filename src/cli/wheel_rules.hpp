#pragma once
// All rules about wheels with the tables that they are judged by; shared by `wheel check` and `publish`.
#include "cli/command.hpp"
#include "cli/inspected.hpp"
#include "inspect/device_verdict.hpp"
#include "inspect/metadata_values.hpp"
#include "inspect/path_rules.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

struct WheelRules {
  inspect::Asked asked;             ///< the targets that device code is for
  inspect::WindowsPaths windows;    ///< how long paths may be
  inspect::MetadataValues values;   ///< what PyPI takes in METADATA
  std::vector<std::string> allowed; ///< globs of libraries that the machine is known to have
};

/// data/windows-paths.toml.
Result<inspect::WindowsPaths> load_windows_paths(const Context& context);
/// data/metadata-values.toml.
Result<inspect::MetadataValues> load_metadata_values(const Context& context);

/// Each wheel's own findings, its machine code, and the device code of all together. Pure.
Findings findings_of_wheels(const std::vector<InspectedWheel>& wheels, const Tables& tables, const WheelRules& rules);

} // namespace quarry::cli
