#pragma once
// Which version a directory of finished wheels holds, for the workflow's outputs `torch_version`, … . One wheel a
// project: two are an error that names both, whatever their order in the directory.
// Errors: N010 (no wheel of a project), N011 (several candidates), N012 (not the name of a wheel, or a directory), N013
// (wheels that belong together disagree), N015 (the request names another platform, or a project not looked for).
#include "base/platform.hpp"
#include "base/result.hpp"
#include "dist/name.hpp"
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::version {

enum class Framework : std::uint8_t { torch, jax };

struct DistRequest {
  Framework framework = Framework::torch;
  Platform platform;                 ///< empty: as the wheels' tags say
  std::string python;                ///< "3.12": only wheels that it may install; empty: all
  std::vector<std::string> optional; ///< projects that may be absent, besides those that may anyway
};

struct FoundWheel {
  std::string project, version, file; ///< the version as the file name spells it: what `==` takes
};

struct DistVersions {
  std::vector<std::pair<std::string, std::string>> outputs; ///< "torch_version" -> "2.10.0+rocm7.12.0"
  std::vector<FoundWheel> wheels;                           ///< in the order of the outputs
  std::vector<std::string> absent;                          ///< optional projects without a wheel
};

/// From the names of a directory's wheels. Pure.
Result<DistVersions> choose_versions(const DistRequest& request, const std::vector<std::string>& files);

/// Lists `directory`, which holds the wheels or a `dist/` with them. Only regular files whose name ends in .whl count;
/// a directory of such a name is N012. not_found N010, D001.
Result<std::vector<std::string>> list_wheels(const std::string& directory);

} // namespace quarry::version
