#include "base/text.hpp"
#include "cli/compat/script.hpp"
#include "cli/job_files.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

// expand_amdgpu_families

Result<int> expand_families(Context& context, const Arguments& arguments) {
  bool extras = arguments.get("--output-mode") == "device-extras";
  Words words{"matrix", "targets", arguments.get("--amdgpu-families")};
  pass(words, arguments, "--families-file");
  TRY(auto document, ask_words(context, words));
  std::vector<std::string> names;
  for (const auto& target : document.at("targets"))
    names.push_back((extras ? "device-" : "") + target.get<std::string>());
  auto line = text::join(names, ",");
  context.out.data(line + "\n");
  context.out.document({{"names", names}});
  if (!extras) return 0;
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", {{"device_extras", line}}));
  return 0;
}

Script expand_script() {
  return {.name = "expand_amdgpu_families",
          .summary = "the GPU targets of families, as TheRock's script prints them",
          .description =
              "Asks `quarry matrix targets`. With device-extras the line is GITHUB_OUTPUT's `device_extras`, too.",
          .operands = {},
          .flags = {{.name = "--amdgpu-families",
                     .value = "LIST",
                     .help = "families, separated by semicolons",
                     .required = true},
                    {"--output-mode",
                     "MODE",
                     "gfx942, or extras of packages: device-gfx942",
                     {"targets", "device-extras"},
                     "targets"},
                    {"--families-file", "FILE", "Quarry only: a families file, or the name of a shipped table"}},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat expand_amdgpu_families --amdgpu-families 'gfx94X-dcgpu;gfx120X-all'",
                        "gfx942,gfx1200,gfx1201"}},
          .exit_codes = {{2, "an unknown family, or none"}},
          .schema = "quarry.compat-expand/1",
          .run = expand_families};
}

// sanity_check_wheel

constexpr std::uint64_t k_least_bytes = 100 << 10; // as the script has it: a wheel of kernels has megabytes

Result<std::vector<std::string>> wheels_to_check(const std::string& directory) {
  TRY(auto entries, sys::list_directory(directory));
  std::vector<std::string> found;
  for (const auto& entry : entries) {
    auto project = entry.path.substr(0, entry.path.find('-'));
    bool ours = project == "torch" || project == "torchaudio" || project == "torchvision";
    if (ours && entry.path.ends_with(".whl")) found.push_back(path::join(directory, entry.path));
  }
  std::sort(found.begin(), found.end());
  if (found.empty())
    return fail(ErrorKind::not_found, "C046",
                fmt::format("{} holds no wheel of torch, torchaudio or torchvision", directory),
                "name the directory that the build wrote its wheels to");
  return found;
}

Result<int> sanity_check(Context& context, const Arguments& arguments) {
  TRY(auto wheels, wheels_to_check(arguments.operands.at(0)));
  for (const auto& wheel : wheels) {
    TRY(auto file, sys::File::open_read(wheel));
    TRY(auto size, file.size());
    if (size < k_least_bytes)
      return fail(ErrorKind::failed, "C047", fmt::format("{} has {} bytes, fewer than a built wheel has", wheel, size),
                  "look into the log of its build");
  }
  Words words{"wheel", "verify"};
  words.insert(words.end(), wheels.begin(), wheels.end());
  return run_words(context, words);
}

Script sanity_script() {
  return {.name = "sanity_check_wheel",
          .summary = "checks of built PyTorch wheels, as TheRock's script makes them, and the whole wheel",
          .description = "The wheels of torch, torchaudio and torchvision in the directory have at least 100 KiB, and "
                         "`quarry wheel verify` proves each of them.",
          .operands = {{"WHEEL_DIR", "the directory with the wheels", true, false}},
          .flags = {},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat sanity_check_wheel dist", "after a build"}},
          .exit_codes = {{1, "a wheel is too small"}, {3, "the directory holds no wheel"}, {6, "a wheel is broken"}},
          .schema = "quarry.wheel-verify/1",
          .run = sanity_check};
}

// capture_job_summary

constexpr std::uint64_t k_summary_max = 1u << 20; // GitHub takes outputs of 1 MB

/// A delimiter that no line of the value is.
std::string delimiter_for(const std::string& value) {
  std::string word = "END_OF_OUTPUT";
  while (value.find(word) != value.npos) word += "_";
  return word;
}

Result<int> capture_summary(Context& context, const Arguments& arguments) {
  auto name = arguments.get("--output-name"), directory = context.variable("RUNNER_TEMP");
  auto unusual = [](char c) { return (c >= 0 && c <= ' ') || c == '=' || c == '<'; };
  if (name.empty() || std::ranges::any_of(name, unusual))
    return fail(ErrorKind::invalid_argument, "C006",
                fmt::format("--output-name is {:?}, which GitHub does not take as the name of an output", name),
                "use letters, digits, - and _");
  auto file = path::join(directory, k_job_summary);
  std::string summary;
  if (!directory.empty() && sys::exists(file)) {
    TRY(summary, sys::read_file(file, k_summary_max), "while reading the job's summary");
  }
  context.out.document({{"name", name}, {"summary", summary}});
  if (summary.empty()) {
    context.out.note("note: no step of this job has written a summary: there is no output " + name);
    return 0;
  }
  if (!summary.ends_with('\n')) summary += '\n';
  auto end = delimiter_for(summary);
  TRY_DO(append_for_job("GITHUB_OUTPUT", context.variable("GITHUB_OUTPUT"),
                        fmt::format("{}<<{}\n{}{}\n", name, end, summary, end)));
  return 0;
}

Script summary_script() {
  return {.name = "capture_job_summary",
          .summary = "the job's summary as an output, as TheRock's script writes it",
          .description =
              "What the job's steps appended to `job_summary.md` in RUNNER_TEMP becomes an output in "
              "GITHUB_OUTPUT, so that a later job can read it. `quarry publish` and `quarry run upload` append "
              "their summaries there.",
          .operands = {},
          .flags = {{"--output-name", "NAME", "of the output", {}, "summary"}},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat capture_job_summary", "as the last step of a job"}},
          .exit_codes = {},
          .schema = "quarry.compat-summary/1",
          .run = capture_summary};
}

} // namespace

std::vector<Command> job_scripts() {
  return {command_of(expand_script()), command_of(sanity_script()), command_of(summary_script())};
}

} // namespace quarry::cli::compat
