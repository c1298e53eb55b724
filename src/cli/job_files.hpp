#pragma once
// The files by which a step of a GitHub job tells the later ones: GITHUB_OUTPUT, GITHUB_ENV, GITHUB_PATH,
// GITHUB_STEP_SUMMARY.
#include "base/result.hpp"
#include <string>
#include <string_view>

namespace quarry::cli {

/// Appends whole lines to the file `path` (the value of such a variable), which need not be there yet. A last line that
/// an earlier step left without its end is ended first. Nothing happens when `path` or `lines` is empty. Errors: D002,
/// D004, with `variable` as context.
Result<void> append_for_job(std::string_view variable, const std::string& path, const std::string& lines);

} // namespace quarry::cli
