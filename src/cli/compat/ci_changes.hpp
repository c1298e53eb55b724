#pragma once
// What git says has changed since the base of a run of CI.
#include "cli/command.hpp"
#include "matrix/ci_run.hpp"
#include <string>

namespace quarry::cli::compat {

/// The changed files and the paths of submodules of the repository in the working directory. `base` is a commit, which
/// is fetched if the checkout is a shallow one, or an expression such as "HEAD^". not_found Y151.
Result<matrix::CiChanges> changes_since(const Context& context, const std::string& base);

} // namespace quarry::cli::compat
