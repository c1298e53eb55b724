#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/shadow_report.hpp"
#include "run/find_runs.hpp"
#include "shadow/keys.hpp"
#include "shadow/outputs.hpp"
#include "shadow/packages.hpp"
#include "shadow/page_offers.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::uint64_t k_shadow_text_bytes_max = 16u << 20; // a table, the outputs of a job, a verdict

/// The store and the directory that a side is.
Result<shadow::Side> side_of(const Context& context, const Arguments& arguments, const std::string& text) {
  using Kind = run::LocatorKind;
  TRY(auto locator, run::parse_locator(text));
  TRY_DO(run::require_kind(locator, {Kind::path, Kind::run, Kind::s3}, "compare a run with"));
  if (locator.kind == Kind::s3) {
    TRY(auto place, run::split_store(text));
    TRY(auto store, open_store(context, place.store));
    return shadow::look_at_run(std::move(store), place.key);
  }
  if (locator.kind == Kind::path) {
    auto path = path::normal(locator.path);
    TRY(auto store, open_store(context, "file:" + path::dirname(path)));
    return shadow::look_at_run(std::move(store), std::string(path::basename(path)));
  }
  auto named = arguments.find("--store");
  if (!named)
    return fail(ErrorKind::invalid_argument, "Q006", fmt::format("{} needs a store to look in", text),
                "add `--store file:PATH` or set QUARRY_STORE");
  TRY_DO(run::refuse_group(locator));
  TRY(auto store, open_store(context, *named));
  TRY(auto prefix, run_prefix(*store, locator));
  return shadow::look_at_run(std::move(store), prefix);
}

Result<shadow::Table> table_of_differences(const Context& context, const Arguments& arguments) {
  auto text = context.resources.read("differences.tsv").value_or("");
  std::string name = "differences.tsv";
  for (const auto& file : arguments.list("--differences")) {
    TRY(auto more, sys::read_file(file, k_shadow_text_bytes_max), "while reading --differences");
    TRY_DO(shadow::Table::parse({more, file})); // so that an error names this file and its line
    text = more + "\n" + text;
    name = file;
  }
  return shadow::Table::parse({text, name});
}

Result<shadow::Outputs> outputs_of(const Arguments& arguments, const std::string& flag, const shadow::Side& side) {
  shadow::Outputs outputs;
  for (const auto& file : arguments.list(flag)) {
    TRY(auto text, sys::read_file(file, k_shadow_text_bytes_max), "while reading " + flag);
    TRY_DO(shadow::read_outputs({text, file}, std::string(path::basename(side.directory)), outputs));
  }
  return outputs;
}

/// "ready" or "held" of a document of the gate; empty without one.
Result<std::string> verdict_of(const Arguments& arguments) {
  auto file = arguments.get("--verdict");
  if (file.empty()) return std::string();
  TRY(auto text, sys::read_file(file, k_shadow_text_bytes_max), "while reading --verdict");
  auto document = json::parse({text, file});
  auto field = [&](const char* name) {
    return document && document->is_object() ? json::string_or(*document, name, "") : std::string();
  };
  auto verdict = field("verdict");
  if (field("schema") != "quarry.gate/1" || (verdict != "ready" && verdict != "held"))
    return fail(ErrorKind::invalid_argument, "Q503", fmt::format("{} is not a document of `quarry gate`", file),
                "write it with `quarry gate --from run:42 --to stable --json`");
  return verdict;
}

/// The five comparisons; `packages` is left out on request.
Result<ShadowReport> compared(const Context& context, const Arguments& arguments) {
  TRY(auto table, table_of_differences(context, arguments));
  TRY(auto verdict, verdict_of(arguments));
  shadow::Sides sides;
  TRY(sides.ours, side_of(context, arguments, arguments.operands.at(0)));
  TRY(sides.theirs, side_of(context, arguments, arguments.get("--against")));
  shadow::JobOutputs outputs;
  TRY(outputs.ours, outputs_of(arguments, "--outputs", sides.ours));
  TRY(outputs.theirs, outputs_of(arguments, "--against-outputs", sides.theirs));
  auto place = [](const shadow::Side& side) { return path::join(side.store->describe(), side.directory); };
  ShadowReport report{place(sides.ours), place(sides.theirs), {}};
  using shadow::Topic;
  TRY(report.sections[Topic::keys], shadow::compare_keys(sides, table));
  if (!arguments.has("--no-packages")) {
    inspect::ReadOptions options{context.jobs, temporary_of(context)};
    TRY(report.sections[Topic::packages], shadow::compare_packages(sides, table, options));
  }
  TRY(report.sections[Topic::pages], shadow::compare_pages(sides, table));
  report.sections[Topic::outputs] = shadow::compare_outputs(outputs, table);
  report.sections[Topic::verdicts] = shadow::compare_verdicts(outputs, verdict, table);
  return report;
}

Result<int> run_shadow(Context& context, const Arguments& arguments) {
  auto progress = context.out.progress("comparing", 0);
  TRY(auto report, compared(context, arguments));
  progress->finish();
  context.out.data(shadow_text(report, arguments.has("--all")));
  context.out.document(shadow_json(report));
  context.out.findings(shadow_findings(report));
  return report.unexplained() == 0 ? 0 : traits(ErrorKind::failed).exit_code;
}

Flag several_files(std::string name, std::string help) {
  return {.name = std::move(name), .value = "FILE", .help = std::move(help), .repeats = true};
}

} // namespace

std::vector<Command> shadow_commands() {
  return {
      {.path = {"shadow"},
       .summary = "compare a run with the same run made by other tools",
       .description =
           "Two tools make the outputs of one build: Quarry, and the scripts that are in use. This command lays one "
           "beside the other and says where they differ, before anybody depends on Quarry. It writes nothing.\n\n"
           "RUN is ours: a run of `--store`, or its directory. `--against` is theirs: the directory of the run in "
           "their "
           "bucket, such as s3://therock-ci-artifacts/42-linux, or a copy of it. Five things are compared: the objects "
           "(keys, checksum files, manifests), the packages (members, metadata, dynamic sections of ELF files), the "
           "find-links pages as pip and uv read them, the step outputs of the jobs, and whether the packages go on to "
           "a "
           "release.\n\n"
           "The table docs/differences.tsv, which is inside the program, says which differences are meant, and why; "
           "`--differences` adds lines before it. A difference that no line explains is a finding, and the command "
           "ends "
           "with 1.",
       .operands = {{.name = "RUN", .help = "our run: run:ID in `--store`, or the directory of a run"}},
       .flags = {{.name = "--against",
                  .value = "LOCATOR",
                  .help = "their run: its directory (s3://… or a path), or run:ID in `--store`",
                  .required = true},
                 {.name = "--store",
                  .value = "LOCATOR",
                  .help = "the store that runs are in",
                  .environment = "QUARRY_STORE"},
                 several_files("--outputs", "what GITHUB_OUTPUT or GITHUB_ENV of our jobs holds"),
                 several_files("--against-outputs", "the same of their jobs"),
                 {.name = "--verdict", .value = "FILE", .help = "our decision: the document of `quarry gate --json`"},
                 several_files("--differences", "more differences that are expected, with reasons"),
                 {.name = "--no-packages", .value = "", .help = "do not read the packages"},
                 {.name = "--all", .value = "", .help = "list the explained differences, too"}},
       .examples = {{"quarry shadow run:42 --store file:store --against s3://therock-ci-artifacts/42-linux",
                     "is our run what the scripts made?"},
                    {"quarry shadow ours/42-linux --against theirs/42-linux --outputs ours.env --against-outputs "
                     "theirs.env --verdict gate.json",
                     "copies on this machine, with outputs and verdicts"}},
       .exit_codes = {{0, "equal, or all differences are explained"},
                      {1, "a difference that nothing explains"},
                      {3, "one of the two runs was not found"},
                      {6, "a package or page is broken"}},
       .schema = "quarry.shadow/1",
       .run = run_shadow}};
}

} // namespace quarry::cli
