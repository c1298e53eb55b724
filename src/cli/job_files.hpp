#pragma once
// The files by which a step of a GitHub job tells the later ones: GITHUB_OUTPUT, GITHUB_ENV, GITHUB_PATH,
// GITHUB_STEP_SUMMARY.
#include "base/result.hpp"
#include "cli/command.hpp"
#include <string>
#include <string_view>

namespace quarry::cli {

/// In RUNNER_TEMP: what all steps of the job appended to their summaries.
constexpr std::string_view k_job_summary = "job_summary.md";

/// Appends whole lines to the file `path` (the value of such a variable), which need not be there yet. A last line that
/// an earlier step left without its end is ended first. Nothing happens when `path` or `lines` is empty. Errors: D002,
/// D004, with `variable` as context.
Result<void> append_for_job(std::string_view variable, const std::string& path, const std::string& lines);

/// Appends Markdown to the job's summary, GITHUB_STEP_SUMMARY, and where that is set to `job_summary.md` in RUNNER_TEMP
/// as well: GitHub removes the first after each step, and TheRock's workflows pass the second on at a job's end.
Result<void> append_summary(const Context& context, const std::string& markdown);

} // namespace quarry::cli
