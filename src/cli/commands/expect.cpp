#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"

#include "cli/shared_flags.hpp"
#include "release/source.hpp"
#include "trial/expect.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// This job's page; a second attempt of it is another job.
std::string this_attempt(const Context& context) {
  auto job = run_url(context), attempt = context.variable("GITHUB_RUN_ATTEMPT");
  return job.empty() || attempt.empty() ? job : job + "/attempts/" + attempt;
}

/// A cell that nothing has is a mistake or early: no gate asks for it. As `waive` warns.
Findings doubts_about(const Context& context, const registry::Cell& cell,
                      const std::vector<registry::SealedSet>& sets) {
  Findings found;
  if (!cell.family.empty())
    if (auto unknown = unknown_family(context, "--cell", cell.family)) found.push_back(std::move(*unknown));
  auto may_be_for = [&](const registry::SealedSet& sealed) {
    const auto& platform = sealed.set.origin.platform;
    return platform.empty() || platform == cell.platform;
  };
  if (!cell.platform.empty() && std::ranges::none_of(sets, may_be_for))
    found.push_back({"G008", Severity::warning, "--cell",
                     fmt::format("no set of these is for {}", cell.platform.text()),
                     "name the platform of the run, or the sets that the job is to test with --from"});
  return found;
}

Result<int> run_expect(Context& context, const Arguments& arguments) {
  trial::Expected expected;
  expected.cell = arguments.get("--cell");
  expected.suite = arguments.get("--suite");
  expected.job = arguments.find("--job").value_or(this_attempt(context));
  expected.runner = arguments.find("--runner").value_or("");
  expected.state = arguments.get("--state");
  expected.now_us = context.clock.now_us();
  TRY_DO(check_line("--job", expected.job));
  TRY_DO(check_line("--runner", expected.runner));
  TRY_DO(trial::parse_cell(expected.cell));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto source, release::resolve(*store, arguments.list("--from")));
  for (const auto& sealed : source.resolved.sets) expected.sets.push_back(sealed.digest);
  TRY(auto announced, trial::expect(expected, *store));
  const auto& attempt = announced.attempt;
  auto notes = doubts_about(context, attempt.cell, source.resolved.sets);
  context.out.findings(notes);
  context.out.data(fact("expected", "{} on {}", attempt.suite, cell_text(attempt.cell)));
  context.out.data(
      fact("state", "{}{}", attempt.state, attempt.runner.empty() ? "" : ", on a machine called " + attempt.runner));
  context.out.data(fact("job", "{}", attempt.job));
  context.out.document({{"attempt", announced.digest.hex()},
                        {"cell", cell_json(attempt.cell)},
                        {"suite", attempt.suite},
                        {"sets", attempt.sets},
                        {"job", attempt.job},
                        {"runner", attempt.runner},
                        {"state", attempt.state},
                        {"time", attempt.time},
                        {"notes", findings_json(notes)}});
  return 0;
}

} // namespace

Command expect_command() {
  return {
      .path = {"evidence", "expect"},
      .summary = "say that a job is to test sets, and how far it has come",
      .description =
          "A job that never ran leaves no evidence, and neither does one that nobody started. A step before the "
          "test job says that it is to run; a step after it says how it ended. `gate`, `status` and what they "
          "print then tell these apart: no machine, waiting, waiting for too long, running, ended without a "
          "result, skipped, cancelled, out of time. Such a record makes nothing ready.\n\n"
          "Records with the same `--job` are one attempt; the newest speaks. In a job of GitHub `--job` may be "
          "left out.",
      .operands = {},
      .flags = {{.name = "--cell",
                 .value = "CELL",
                 .help = "PLATFORM/FAMILY/PYTHON[/FRAMEWORK[/BACKEND]], such as linux/gfx94X-dcgpu/3.12",
                 .required = true},
                {.name = "--from",
                 .value = "LOCATOR",
                 .help = "the sets that are tested: run:ID, set:DIGEST, channel:NAME or release:DIGEST",
                 .required = true,
                 .repeats = true},
                {.name = "--job", .value = "URL", .help = "the page of the job; else that of this run of GitHub"},
                {.name = "--suite", .value = "NAME", .help = "what the job tests", .fallback = "rocm-sdk"},
                {.name = "--runner", .value = "LABEL", .help = "the machine it waits for; if absent, nobody has one"},
                {.name = "--state",
                 .value = "STATE",
                 .help = "how far it has come; success and failure are ended",
                 .choices = {"queued", "started", "ended", "skipped", "cancelled", "timed_out", "success", "failure"},
                 .fallback = "queued"},
                store_flag()},
      .examples = {{"quarry evidence expect --cell linux/gfx94X-dcgpu/3.12 --from run:42-linux --runner mi325",
                    "before the job that tests"},
                   {"quarry evidence expect --cell linux/gfx94X-dcgpu/3.12 --from run:42-linux --state cancelled",
                    "after it"}},
      .exit_codes = {{2, "the cell or the job is missing or not understood"}, {3, "the sets are not in the store"}},
      .schema = "quarry.evidence-expect/1",
      .run = run_expect};
}

} // namespace quarry::cli
