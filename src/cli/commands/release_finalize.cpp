#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "derive/finalize.hpp"
#include "registry/releases.hpp"
#include "release/source.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::size_t k_occurrences_shown = 20; // the JSON document has all of them

/// The sets of `release:DIGEST`, or of any other locator.
Result<derive::FinalizePlan> planned_release(const Arguments& arguments, store::ObjectReader& store,
                                             registry::ReleaseDigest& release) {
  TRY(auto source, release::resolve(store, {arguments.operands.at(0)}));
  release = source.resolved.release;
  return derive::plan_finalize(
      {source.resolved.sets, arguments.get("--version"), arguments.find("--candidate").value_or("")});
}

std::string finalize_plan_text(const derive::FinalizePlan& plan, Look look) {
  auto text = fmt::format("{} becomes {}\n\n", plan.change.candidate().str(), plan.change.release().str());
  TableRows rows;
  for (const auto& set : plan.sets)
    for (const auto& package : set.packages)
      rows.push_back({set.directory, package.candidate.filename,
                      package.copied ? "copied" : fmt::format("-> {}", package.version)});
  text += table({k_text, k_name, k_text}, rows, look);
  for (const auto& set : plan.unchanged)
    text += fmt::format("\nset:{} stays as it is: no version in it names the candidate", set.short_hex());
  return text + "\n";
}

Json made_json(const derive::PlannedSet& planned, const derive::MadeSet* made) {
  Json json{{"candidate", planned.candidate.digest},
            {"directory", planned.directory},
            {"area", planned.area},
            {"platform", planned.candidate.set.origin.platform},
            {"group", planned.candidate.set.origin.group},
            {"files", Json::array()}};
  if (!made) {
    for (const auto& package : planned.packages)
      json["files"].push_back(
          {{"candidate", package.candidate.filename}, {"version", package.version}, {"copied", package.copied}});
    return json;
  }
  json["path"] = made->path;
  json["made_before"] = made->before;
  json["occurrences"] = findings_json(made->findings);
  for (const auto& file : made->record.files)
    json["files"].push_back({{"filename", file.filename},
                             {"sha256", file.sha256.hex()},
                             {"candidate", file.candidate},
                             {"candidate_sha256", file.candidate_sha256.hex()},
                             {"changed", file.changed}});
  return json;
}

Json finalize_json(const derive::FinalizePlan& plan, const std::vector<derive::MadeSet>& made) {
  auto sets = Json::array();
  for (std::size_t i = 0; i < plan.sets.size(); ++i)
    sets.push_back(made_json(plan.sets[i], i < made.size() ? &made[i] : nullptr));
  return {{"candidate_version", plan.change.candidate().str()},
          {"version", plan.change.release().str()},
          {"sets", sets},
          {"unchanged", plan.unchanged},
          {"written", !made.empty()}};
}

void print_made(Context& context, const Arguments& arguments, const derive::FinalizePlan& plan,
                const std::vector<derive::MadeSet>& made) {
  Findings shown;
  std::size_t all = 0;
  for (const auto& set : made) {
    all += set.findings.size();
    for (const auto& finding : set.findings)
      if (shown.size() < k_occurrences_shown) shown.push_back(finding);
  }
  context.out.findings(shown);
  if (all > shown.size()) context.out.note(fmt::format("and {} more files", all - shown.size()));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& origin = plan.sets[i].candidate.set.origin;
    context.out.data(fact(made[i].before ? "already there" : "made", "{}  {}", made[i].path,
                          units::things(made[i].record.files.size(), "package")));
    NextCommand next(context, "publish");
    next.operand(made[i].path).set("--run-id", "RUN").set("--platform", std::string(origin.platform.text()));
    if (!origin.group.empty()) next.set("--artifact-group", origin.group);
    if (plan.sets[i].area != "python") next.set("--area", plan.sets[i].area);
    context.out.note("next: " + next.set("--store", arguments.get("--store")).text());
  }
}

Result<int> run_release_finalize(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  derive::Execution execution;
  execution.output_dir = arguments.get("--output-dir");
  execution.workers = context.jobs;
  TRY(auto plan, planned_release(arguments, *store, execution.release));
  context.out.data(finalize_plan_text(plan, context.out.data_look()));
  TRY_DO(derive::check_output(plan, execution));
  std::vector<derive::MadeSet> made;
  if (!arguments.has("--dry-run")) {
    std::uint64_t total = 0;
    for (const auto& set : plan.sets)
      for (const auto& package : set.packages) total += package.candidate.size;
    auto progress = context.out.progress("making", total);
    execution.on_progress = [&](std::uint64_t done) { progress->update(done); };
    TRY(made, derive::finalize(*store, plan, execution));
    progress->finish();
    print_made(context, arguments, plan, made);
  }
  context.out.document(finalize_json(plan, made));
  return 0;
}

} // namespace

Command release_finalize_command() {
  return {
      .path = {"release", "finalize"},
      .summary = "make the packages of a release from those of its candidate",
      .description =
          "Reads the packages of the sets from the store and writes them with the version of the release: file names, "
          "METADATA with its `==` pins, PKG-INFO, RECORD, and the modules that say a version (`_dist_info.py`, "
          "`_rocm_init.py`, `version.py`, `_version.py`). All other files are copied as they are stored. A framework "
          "changes with the SDK that its local version names: `2.9.0+rocm7.2.0rc1` becomes `2.9.0+rocm7.2.0`. A "
          "package that does not name the candidate is copied.\n\n"
          "Each set gets a directory with `dist` and `derivation.json`, the record of what was made of what. "
          "`quarry publish` stores both. A gate whose policy says `derived = \"accept\"` proves the record from the "
          "bytes and then counts the candidate's evidence, except for the policy's `derived_suites`: these must pass "
          "on the new files.\n\n"
          "Files that still hold the candidate's version are listed as warnings (O104). Compressed files inside the "
          "packages are not searched. Nothing in the store is changed.",
      .operands = {{.name = "RELEASE", .help = "its locator, release:DIGEST; another source, such as a run, will do"}},
      .flags =
          {{.name = "--version", .value = "VERSION", .help = "that the release gets, such as 7.2.0", .required = true},
           {.name = "--candidate",
            .value = "VERSION",
            .help = "the version that is replaced; default: that of the package `rocm`"},
           {.name = "--output-dir",
            .value = "DIR",
            .help = "where to put a directory for each set",
            .required = true,
            .letter = 'd'},
           {.name = "--dry-run", .value = "", .help = "show what would be made, write nothing", .letter = 'n'},
           store_flag()},
      .examples = {{"quarry release finalize release:0e66efc9cb8b --version 7.2.0 --output-dir final",
                    "the candidate is good: make the release of it"}},
      .exit_codes = {{2, "the version does not fit, or a package cannot be made"},
                     {3, "the release does not exist"},
                     {6, "a file or record in the store was altered"},
                     {7, "the output directory holds packages already"}},
      .schema = "quarry.release-finalize/1",
      .run = run_release_finalize};
}

} // namespace quarry::cli
