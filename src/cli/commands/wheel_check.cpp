#include "cli/asked_targets.hpp"
#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/grouped.hpp"
#include "cli/inspected.hpp"
#include "cli/records.hpp"
#include "cli/rule_report.hpp"
#include "cli/set_rules.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "cli/wheel_operands.hpp"
#include "cli/wheel_rules.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "inspect/refusals.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

namespace quarry::cli {

namespace {
constexpr const char* k_refusals = "data/refusals.toml";

/// The lengths of the table, with the prefix that was given.
Result<inspect::WindowsPaths> windows_paths_of(const Context& context, const Arguments& arguments) {
  TRY(auto paths, load_windows_paths(context));
  auto said = arguments.find("--windows-prefix");
  if (!said) return paths;
  auto length = text::parse_u64(*said);
  auto max = static_cast<std::uint64_t>(paths.directory_max);
  if (!length || *length > max)
    return fail(ErrorKind::invalid_argument, "C006",
                fmt::format("--windows-prefix is {}, not a number of characters from 0 to {}", *said, max),
                "count the path of site-packages with its last backslash, such as 60");
  paths.prefix = static_cast<std::int64_t>(*length);
  return paths;
}

std::size_t number_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

using Errors = std::set<std::tuple<std::string_view, std::string_view, std::string_view>>;

/// Whether the archive or RECORD is broken, and that was not accepted: an error of `wheel verify` remains, or not
/// all of the wheel was looked at, which nobody can accept.
bool stays_broken(const wheel::VerifyReport& report, const Errors& left) {
  auto remains = [&](const Finding& own) {
    return own.severity == Severity::error && left.contains({own.code, own.place, own.message});
  };
  return report.container_broken && (report.unread || std::ranges::any_of(report.findings, remains));
}

int exit_code_of(const std::vector<InspectedWheel>& wheels, const Findings& findings, bool strict) {
  Errors left; // code, place, message
  for (const auto& finding : findings)
    if (finding.severity == Severity::error) left.emplace(finding.code, finding.place, finding.message);
  auto broken = [&](const InspectedWheel& wheel) { return stays_broken(wheel.contents.report, left); };
  if (std::ranges::any_of(wheels, broken)) return traits(ErrorKind::corrupt).exit_code;
  auto unread = [](const InspectedWheel& wheel) { return wheel.contents.report.unread; };
  bool failed = has_errors(findings) || (strict && number_of(findings, Severity::warning) > 0);
  return failed || std::ranges::any_of(wheels, unread) ? traits(ErrorKind::failed).exit_code : 0;
}

/// The findings as people read them: below each one who refuses the wheel for it.
Findings with_refusals(Findings findings, const inspect::Refusals& refusals) {
  for (auto& finding : findings)
    if (const auto* row = refusals.find(finding)) finding.details.push_back("refused by: " + refusals.text_of(*row));
  return findings;
}

/// Each finding with `refused_by` and `may_be_refused_by`; null if the table says nothing about it.
Json findings_with_refusals(const Findings& findings, const inspect::Refusals& refusals) {
  auto list = findings_json(findings);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto* row = refusals.find(findings[i]);
    list[i]["refused_by"] = row ? Json(row->refused_by) : Json(nullptr);
    list[i]["may_be_refused_by"] = row ? Json(row->depends) : Json(nullptr);
  }
  return list;
}

Json as_json(const std::vector<InspectedWheel>& wheels, const Findings& findings, const inspect::Refusals& refusals) {
  Json files = Json::array();
  for (const auto& wheel : wheels)
    files.push_back({{"path", wheel.contents.path},
                     {"size", wheel.contents.report.size},
                     {"sha256", digest_json(wheel.contents.report)},
                     {"policy", verdict_json(wheel)}});
  Json consumers = Json::array();
  for (const auto& consumer : refusals.consumers)
    consumers.push_back({{"name", consumer.name}, {"version", consumer.version}});
  return {{"consumers", consumers}, {"files", files}, {"findings", findings_with_refusals(findings, refusals)}};
}

Result<int> run_check(Context& context, const Arguments& arguments) {
  TRY(auto asked, asked_of(context, arguments));
  TRY(auto windows, windows_paths_of(context, arguments));
  TRY(auto values, load_metadata_values(context));
  TRY(auto inputs, rule_inputs_of(context, arguments, "quarry.wheel-check/1"));
  TRY(auto tables, load_tables(context));
  TRY(auto refusals, inspect::parse_refusals({context.resources.read(k_refusals).value_or(""), k_refusals}));
  TRY(auto operands, wheels_of(context, arguments));
  bool digest = context.out.json() || arguments.get("--format") == "json";
  TRY(auto wheels, inspect_wheels(context, tables, {operands, digest}));
  auto found = findings_of_wheels(wheels, tables, {asked, windows, values, arguments.list("--allow-library")});
  auto looks_for = [&](const std::string& code) {
    bool about_family = code == "G103" || code == "G104";
    return !closure::is_rule_of_sets(code) && (!about_family || !asked.targets.empty());
  };
  TRY(auto report, judged_by_rules(context, std::move(inputs), {std::move(found), looks_for}));
  const auto& findings = report.findings;
  if (writes_text(arguments)) {
    context.out.findings(with_refusals(grouped(findings), refusals));
    for (const auto& wheel : wheels) {
      std::string_view but =
          wheel.contents.report.unread ? "; that can be neither suppressed nor accepted by a baseline" : "";
      context.out.data(fmt::format("{}: {}{}\n", wheel.contents.file, platform_text(wheel), but));
    }
  }
  TRY_DO(print_rule_report(context, arguments, report,
                           {"quarry wheel check", units::things(wheels.size(), "wheel"), false},
                           as_json(wheels, findings, refusals)));
  return exit_code_of(wheels, findings, arguments.has("--strict"));
}
} // namespace

Command wheel_check_command() {
  Command command{
      .path = {"wheel", "check"},
      .summary = "look for what would fail where the wheels are installed",
      .description =
          "Reads each wheel once; one in a bucket or on a web server is fetched into a file without a name in TMPDIR. "
          "First everything that `quarry wheel verify` proves; then the fields of METADATA by "
          "its own Metadata-Version: fields that it does not know, licence expressions and files, extras that are not "
          "declared, the type of the description, and what PyPI does not take (codes Q201 to Q216); then the machine "
          "code inside:\n\n"
          "- the platform tag: symbol versions, foreign libraries, processor level and private symbols, by the rules "
          "of PEP 600 and PEP 656 and auditwheel's tables: glibc on x86_64 and aarch64, musl on these, ppc64le and "
          "riscv64. Only the wheel's own files count, never the libraries of this machine;\n"
          "- libraries: each needed one must be in a wheel that was given, where a run path leads, or on every system "
          "(give all wheels of a set at once); DLLs in the same way;\n"
          "- run paths that lead to the machine that built them, out of the environment, or to the working directory;\n"
          "- the headers that the loader reads (codes E101 to E115), writable code, executable stacks, text "
          "relocations, missing RELRO;\n"
          "- debug information, files that are there twice, extension modules for another Python, files for another "
          "machine or C library, symbols outside the stable ABI of a tag `abi3`;\n"
          "- files that are only named like libraries; missing or shared build IDs;\n"
          "- names at the top of site-packages that other packages have, too; leftovers of tools; paths of the build "
          "machine and secrets in text files of at most 1 MiB;\n"
          "- entry points that name a module which none of the wheels has;\n"
          "- paths that get too long on Windows (MAX_PATH), in wheels with a tag `any` or `win…`;\n"
          "- two wheels of the set that fit the same interpreter and machine (build numbers, spellings, linux_x86_64 "
          "next to manylinux): which one pip and uv install;\n"
          "- device code, judged as `quarry gpu list` judges it: labels that lie, damaged code, and with "
          "--amdgpu-family what is missing or extra.\n\n"
          "--profile names a rule profile, which says how severe findings are; --suppressions accepts single findings "
          "with a reason, an owner and a last day; --baseline reports only what an earlier run did not find "
          "(docs/formats/rule-profile.md).\n\n"
          "Below a defect of the container or of metadata, `refused by:` says who refuses the wheel for it: PyPI, pip, "
          "uv or installer, in the versions that data/refusals.toml names. With --json, `refused_by` and "
          "`may_be_refused_by` of a finding are null if the table says nothing about it.",
      .operands = {{"WHEEL", k_wheels_help, true, true}},
      .flags = {family_flag(),
                families_file_flag(),
                {.name = "--allow-library",
                 .value = "GLOB",
                 .help = "libraries that the machine is known to have, such as 'libamdhip64.so.*'",
                 .repeats = true},
                {.name = "--windows-prefix",
                 .value = "LENGTH",
                 .help = "characters of the path of site-packages on Windows (default: 88, data/windows-paths.toml)"},
                store_of_sets_flag(),
                {.name = "--strict", .value = {}, .help = "warnings fail, too"}},
      .examples = {{"quarry wheel check dist", "check all wheels of a directory as one set"},
                   {"quarry wheel check dist --amdgpu-family gfx120X-all", "is the device code that of the family?"},
                   {"quarry wheel check dist --windows-prefix 60",
                    "are the paths short enough for this site-packages?"},
                   {"quarry wheel check channel:stable --store file:store", "what does the channel hold?"},
                   {"quarry wheel check --json x.whl | jq '.findings[].code'", "the codes of all findings"}},
      .exit_codes = {{0, "no errors"},
                     {1, "a wheel has errors; with --strict, warnings"},
                     {2, "a file is not a wheel; the family or the length is unknown"},
                     {3, "a wheel does not exist, or a directory holds none"},
                     {6, "a container or RECORD is broken or ambiguous, or a wheel changed while it was read"}},
      .schema = "quarry.wheel-check/1",
      .run = run_check};
  command.flags.push_back(rule_profile_flag(""));
  for (auto& flag : rule_report_flags()) command.flags.push_back(std::move(flag));
  return command;
}

} // namespace quarry::cli
