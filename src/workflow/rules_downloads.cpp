// Downloads that nobody verifies.
#include "workflow/rules.hpp"
#include "workflow/verifiers.hpp"
#include <array>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {
/// Most scripts download nothing: this look at their text is cheap.
bool may_download(const std::string& script) {
  static constexpr std::array<std::string_view, 12> k_words = {
      "curl", "wget", "pip", "nvoke-", "NVOKE-", "iwr", "irm", "IWR", "IRM", "ownload", "BitsTransfer", "bitstransfer"};
  for (auto word : k_words)
    if (script.find(word) != script.npos) return true;
  return false;
}

void check_script_downloads(const Rules& rules, const File& file, const Job& job, const Step& step) {
  if (!may_download(step.run->text)) return;
  auto commands = with_inner_commands(step.commands);
  auto downloads = downloads_of(commands, environment_of(file, job, step));
  auto where = step_name(file, static_cast<int>(&job - file.jobs.data()), static_cast<int>(&step - job.steps.data()));
  mark_verified(commands, downloads);
  for (const auto& one : downloads)
    if (!one.verified || one.piped)
      rules.add(
          file, position_in(*step.run, commands[one.command].words[0].offset), "Y140", Severity::warning,
          fmt::format("{} downloads {}{} and nobody verifies its bytes", where, one.url, one.runs ? ", runs it," : ""),
          "compare with a recorded digest: `echo \"DIGEST  FILE\" | sha256sum --check`");
}
} // namespace

void check_downloads(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    for (const auto& job : file->jobs)
      for (const auto& step : job.steps)
        if (step.run) check_script_downloads(rules, *file, job, step);
}

} // namespace quarry::workflow
