// Deadlines, matrices of one, downloads that nobody verifies.
#include "base/text.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {

void check_deadline(const Rules& rules, const File& file, const Job& job) {
  if (!job.uses.empty() || job.node->find("timeout-minutes") || job.steps.empty()) return;
  auto without = std::count_if(job.steps.begin(), job.steps.end(),
                               [](const Step& step) { return !step.node->find("timeout-minutes"); });
  if (without == 0) return;
  rules.add(file, job.at, "Y134", Severity::warning,
            fmt::format("job `{}` has no `timeout-minutes`, nor have {} of its {} steps: a hang holds the machine for "
                        "6 hours, or 5 days on a machine of your own",
                        job.id, without, job.steps.size()),
            "add `timeout-minutes` to the job: twice what it takes on a slow day");
}

void check_matrix_of_one(const Rules& rules, const File& file, const Job& job) {
  if (!job.has_matrix || job.dynamic_matrix || job.legs != 1) return;
  rules.add(file, job.at, "Y138", Severity::warning,
            fmt::format("the matrix of job `{}` has one combination: a level that saves nothing yet", job.id),
            "pass the values directly until there is a second one");
}

// downloads

bool is_verifier(std::string_view script) {
  static constexpr std::array k_words = {
      "sha256sum", "sha512sum",    "shasum",           "sha256", "gpg ",         "gpgv",     "cosign",
      "minisign",  "openssl dgst", "--require-hashes", "b3sum",  "Get-FileHash", "checksum", "attestation verify"};
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](std::string_view word) { return script.find(word) != script.npos; });
}

bool is_interpreter(std::string_view word) {
  static constexpr std::array k_words = {"sh", "bash", "python", "python3", "sudo", "zsh", "pwsh"};
  return std::find(k_words.begin(), k_words.end(), word) != k_words.end();
}

/// The URL that a curl or wget command writes to a file or a pipe; empty when it only asks.
std::string downloaded(const ShellCommand& command, const ShellCommand* next) {
  std::size_t first = 0;
  while (first < command.words.size() && command.words[first].text == "sudo") ++first;
  if (first == command.words.size()) return "";
  const auto& program = command.words[first].text;
  if (program != "curl" && program != "wget") return "";
  std::string url;
  bool saved = program == "wget", asks = false;
  for (std::size_t i = first + 1; i < command.words.size(); ++i) {
    const auto& word = command.words[i].text;
    if (word.find("://") != word.npos && !word.starts_with("-H")) url = word;
    bool letters = word.starts_with('-') && !word.starts_with("--");
    if (program == "curl" &&
        (word == "--output" || word == "--remote-name" || (letters && word.find_first_of("oO") != word.npos)))
      saved = true;
    for (std::string_view verb : {"-X", "--request", "--data", "-d", "-I", "--head", "-T", "--spider", "-fsI"})
      asks |= word == verb || (verb.size() > 2 && word.starts_with(verb));
    if (word == "/dev/null" || word.find("api.github.com") != word.npos) asks = true;
  }
  bool piped = next && next->piped_into && !next->words.empty() &&
               (is_interpreter(next->words[0].text) || next->words[0].text == "tar");
  return (saved || piped) && !asks ? url : "";
}

void check_downloads(const Rules& rules, const File& file, const Step& step, const std::string& where) {
  const auto& script = step.run->text;
  if ((script.find("curl") == script.npos && script.find("wget") == script.npos) || is_verifier(script)) return;
  const auto& commands = step.commands;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto* next = i + 1 < commands.size() ? &commands[i + 1] : nullptr;
    auto url = downloaded(commands[i], next);
    if (url.empty()) continue;
    bool runs = next && next->piped_into && is_interpreter(next->words[0].text);
    rules.add(file, position_in(*step.run, commands[i].words[0].offset), "Y140", Severity::warning,
              fmt::format("{} downloads {}{} and nobody verifies its bytes", where, url, runs ? ", runs it," : ""),
              "compare with a recorded digest: `echo \"DIGEST  FILE\" | sha256sum --check`");
  }
}
} // namespace

std::string step_name(const File& file, int job, int step) {
  const auto& one = file.jobs[static_cast<std::size_t>(job)];
  return fmt::format("job `{}`, step `{}`", one.id, one.steps[static_cast<std::size_t>(step)].label);
}

void check_steps(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    for (std::size_t j = 0; j < file->jobs.size(); ++j) {
      const auto& job = file->jobs[j];
      if (!file->action) check_deadline(rules, *file, job);
      check_matrix_of_one(rules, *file, job);
      for (std::size_t s = 0; s < job.steps.size(); ++s)
        if (job.steps[s].run)
          check_downloads(rules, *file, job.steps[s], step_name(*file, static_cast<int>(j), static_cast<int>(s)));
    }
}

} // namespace quarry::workflow
