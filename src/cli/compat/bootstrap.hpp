#pragma once
// Fetched artifacts moved to where a build expects the directories that it did not build.
#include "cli/compat/script.hpp"

namespace quarry::cli::compat {

/// Where a fetch puts them first, below the build's directory, so that they are moved and not copied.
constexpr std::string_view k_bootstrap_directory = ".quarry-bootstrap";

/// Moves each base directory of the artifacts in `fetched` to its place below `build` and writes `{base}.prebuilt`
/// beside it. What was in such a directory before is removed. invalid_argument A015 before anything is changed when two
/// artifacts own one path; killed in between, the same fetch does it again.
Result<void> bootstrap_build(Context& context, const std::string& fetched, const std::string& build);

} // namespace quarry::cli::compat
