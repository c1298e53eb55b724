#include "cli/asked_targets.hpp"
#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/grouped.hpp"
#include "cli/inspected.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "cli/wheel_operands.hpp"

#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
/// All rules about all wheels: each wheel's own findings, its machine code, and the device code of all together.
Result<Findings> findings_of(const std::vector<InspectedWheel>& wheels, const Tables& tables,
                             const Arguments& arguments, const inspect::Asked& asked) {
  Findings findings;
  std::vector<inspect::JudgedWheel> judged;
  for (const auto& wheel : wheels) {
    const auto& own = wheel.contents.report.findings;
    findings.insert(findings.end(), own.begin(), own.end());
    judged.push_back({&wheel.contents, wheel.verdict});
  }
  auto machine =
      inspect::check_machine_code(judged, {tables.platforms(), tables.windows, arguments.list("--allow-library")});
  auto device = inspect::judge(device_code_of(wheels), asked).findings;
  findings.insert(findings.end(), machine.begin(), machine.end());
  findings.insert(findings.end(), device.begin(), device.end());
  return findings;
}

std::size_t number_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

int exit_code_of(const std::vector<InspectedWheel>& wheels, const Findings& findings, bool strict) {
  int code = has_errors(findings) || (strict && number_of(findings, Severity::warning) > 0)
                 ? traits(ErrorKind::failed).exit_code
                 : 0;
  for (const auto& wheel : wheels)
    if (wheel.contents.report.container_broken) code = traits(ErrorKind::corrupt).exit_code;
  return code;
}

Json as_json(const std::vector<InspectedWheel>& wheels, const Findings& findings) {
  Json files = Json::array();
  for (const auto& wheel : wheels)
    files.push_back({{"path", wheel.contents.path},
                     {"size", wheel.contents.report.size},
                     {"sha256", wheel.contents.report.sha256.hex()},
                     {"policy", verdict_json(wheel.verdict)}});
  return {{"schema", "quarry.wheel-check/1"}, {"files", files}, {"findings", findings_json(findings)}};
}

Result<int> run_check(Context& context, const Arguments& arguments) {
  TRY(auto asked, asked_of(context, arguments));
  TRY(auto tables, load_tables(context));
  TRY(auto paths, wheels_of(context, arguments.operands));
  TRY(auto wheels, inspect_wheels(context, tables, paths));
  TRY(auto findings, findings_of(wheels, tables, arguments, asked));
  context.out.findings(grouped(findings));
  for (const auto& wheel : wheels)
    context.out.data(fmt::format("{}: {}\n", wheel.contents.file, verdict_text(wheel.verdict)));
  auto errors = number_of(findings, Severity::error), warnings = number_of(findings, Severity::warning);
  bool good = errors + warnings == 0;
  auto summary = good ? "no errors or warnings"
                      : fmt::format("{}, {}", units::things(errors, "error"), units::things(warnings, "warning"));
  context.out.data(fmt::format("{}: {}\n", units::things(wheels.size(), "wheel"),
                               painted(summary,
                                       errors ? Tone::bad
                                       : good ? Tone::good
                                              : Tone::doubtful,
                                       context.out.data_look().color)));
  if (context.out.json()) context.out.document(as_json(wheels, findings));
  return exit_code_of(wheels, findings, arguments.has("--strict"));
}
} // namespace

Command wheel_check_command() {
  return {
      .path = {"wheel", "check"},
      .summary = "look for what would fail where the wheels are installed",
      .description =
          "Reads each wheel once. First everything that `quarry wheel verify` proves; then the machine code inside:\n\n"
          "- the platform tag: symbol versions, foreign libraries, processor level and private symbols, by the rules "
          "of PEP 600 and PEP 656 and auditwheel's tables: glibc on x86_64 and aarch64, musl on these, ppc64le and "
          "riscv64. Only the wheel's own files count, never the libraries of this machine;\n"
          "- libraries: each needed one must be in a wheel that was given, where a run path leads, or on every system "
          "(give all wheels of a set at once); DLLs in the same way;\n"
          "- run paths that lead to the machine that built them, out of the environment, or to the working directory;\n"
          "- the headers that the loader reads (codes E101 to E115), writable code, executable stacks, text "
          "relocations, missing RELRO;\n"
          "- debug information, files that are there twice, extension modules for another Python, files for another "
          "machine or C library;\n"
          "- device code, judged as `quarry gpu list` judges it: labels that lie, damaged code, and with "
          "--amdgpu-family what is missing or extra.",
      .operands = {{"PATH", "wheels to check, or directories that hold them", true, true}},
      .flags = {family_flag(),
                families_file_flag(),
                {.name = "--allow-library",
                 .value = "GLOB",
                 .help = "libraries that the machine is known to have, such as 'libamdhip64.so.*'",
                 .repeats = true},
                {.name = "--strict", .value = {}, .help = "warnings fail, too"}},
      .examples = {{"quarry wheel check dist", "check all wheels of a directory as one set"},
                   {"quarry wheel check dist --amdgpu-family gfx120X-all", "is the device code that of the family?"},
                   {"quarry wheel check --json x.whl | jq '.findings[].code'", "the codes of all findings"}},
      .exit_codes = {{0, "no errors"},
                     {1, "a wheel has errors; with --strict, warnings"},
                     {2, "a file is not a wheel; the family is unknown"},
                     {3, "a path does not exist, or a directory holds no wheel"},
                     {6, "a container or RECORD is broken or ambiguous"}},
      .schema = "quarry.wheel-check/1",
      .run = run_check};
}

} // namespace quarry::cli
