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

void check_script_downloads(const Rules& rules, const File& file, const Step& step, const std::string& where) {
  if (!may_download(step.run->text)) return;
  auto commands = with_inner_commands(step.commands);
  auto downloads = downloads_of(commands);
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
    for (std::size_t j = 0; j < file->jobs.size(); ++j)
      for (std::size_t s = 0; s < file->jobs[j].steps.size(); ++s)
        if (file->jobs[j].steps[s].run)
          check_script_downloads(rules, *file, file->jobs[j].steps[s],
                                 step_name(*file, static_cast<int>(j), static_cast<int>(s)));
}

} // namespace quarry::workflow
