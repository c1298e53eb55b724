#pragma once
// Private to the room.
// Extras that were asked for and that no installed package has. pip and uv install the package without them and exit
// with success.
#include "base/result.hpp"
#include "venv/environment.hpp"
#include "venv/installed.hpp"
#include <string>
#include <vector>

namespace quarry::venv {

struct UnknownExtra {
  std::string project, version, extra; ///< as METADATA writes the project; the extra in normal form
  std::vector<std::string> known;      ///< the extras that it has, sorted
};

/// In the order of `packages` ("rocm[libraries]==7.2.0"). What is not a requirement (a path, a URL) or is not installed
/// is passed over.
std::vector<UnknownExtra> unknown_extras(const Environment& environment, const std::vector<Distribution>& distributions,
                                         const std::vector<std::string>& packages);

/// V015, which names the extras there are and the likeliest one.
Error unknown_extra_error(const std::vector<UnknownExtra>& unknown);

} // namespace quarry::venv
