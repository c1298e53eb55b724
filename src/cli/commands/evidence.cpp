// What was tested: recording it for another machine, and showing it. `test` itself is in test.cpp.
#include "cli/evidence.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/identity.hpp"
#include "cli/keys.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "registry/registry.hpp"
#include "trial/foreign.hpp"
#include "trial/kept.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace quarry::cli {

namespace {

using registry::EvidenceRecord;
using registry::Outcome;

// What a reader must know before taking the record for what it is.
std::string_view standing(const EvidenceRecord& e) {
  if (!e.sealed) return "  unsealed";
  return e.reported.empty() ? "" : "  reported";
}

/// As the cell of a result has it; nullopt: the command line does not say.
std::optional<std::string> backend_of(const Arguments& arguments) {
  auto backend = arguments.find("--backend");
  return backend ? std::optional<std::string>(*backend == "cpu" ? "cpu" : "") : std::nullopt;
}

Result<trial::Recorded> record_report(Context& context, const Arguments& arguments, store::ObjectStore& store) {
  trial::RecordOptions options;
  options.report = arguments.get("--from-report");
  options.locator = arguments.get("--from");
  options.family = arguments.find("--family").value_or("");
  options.framework = arguments.find("--framework").value_or("");
  options.backend = backend_of(arguments).value_or("");
  options.job_result = arguments.get("--job-result");
  options.identity = identity_of(context);
  options.quarry_version = program_version();
  TRY(auto scratch, Scratch::make(context));
  options.directory = scratch.path();
  options.workers = context.jobs;
  options.now_us = context.clock.now_us();
  return trial::record_report(options, store);
}

Result<void> check_record_flags(const Arguments& arguments) {
  bool report = arguments.has("--from-report"), from = arguments.has("--from");
  bool kept = arguments.has("--kept");
  if (kept ? !report : report && from) return {};
  return fail(ErrorKind::invalid_argument, "X008", "say either --from-report and --from, or --kept",
              "--from-report takes what another machine reports, --kept what `quarry test` could not store");
}

Result<int> run_record(Context& context, const Arguments& arguments) {
  TRY_DO(check_record_flags(arguments));
  TRY(auto key, signing_key(arguments));
  TRY(auto store, open_store_to_write(context, arguments.get("--store")));
  auto kept = arguments.find("--kept");
  trial::About about{arguments.get("--from"), arguments.get("--family"),     arguments.get("--framework"),
                     backend_of(arguments),   arguments.get("--job-result"), context.clock.now_us()};
  TRY(auto done, kept ? trial::record_kept(*kept, about, *store) : record_report(context, arguments, *store));
  const auto& e = done.evidence;
  auto result = painted(e.result.text(), outcome_tone_of(e.result), context.out.data_look().color);
  context.out.data(
      fmt::format("{}  {} on {}  {}\n", result, text::one_line(e.suite), cell_text(e.cell), counts_text(e)));
  if (!kept) context.out.data(fact("reported", "by {}; quarry did not run there", e.machine.at("host")));
  TRY_DO(sign_record(context, *store, {"evidence", *done.digest.sha256()}, key));
  warn_of_clock(context, *store, e, done.digest);
  say_recorded(context, {e, done.digest.hex(), arguments.get("--store"), "quarry.evidence-record/1"});
  return e.result == Outcome::passed ? 0 : 1;
}

Command record_command() {
  return {.path = {"evidence", "record"},
          .summary = "record the report of a machine where quarry does not run, or evidence that was kept",
          .description =
              "Takes what `rocm-sdk test --json FILE` wrote on another machine, such as a Windows job, and binds it to "
              "the published set that it was installed from: each distribution's files must have the digests that the "
              "set's packages give, or nothing is recorded. The record says that it was reported. The report itself "
              "is kept as its log; the same report again is the same record.\n\n"
              "What such a job runs is in docs/guides/windows.md.\n\n"
              "With `--kept` it stores the evidence that `quarry test` kept as files: because the store refused it, or "
              "with `--keep`. With `--from`, `--family`, `--framework` and `--backend` it must be about these.\n\n"
              "A job that records for another one says with `--job-result` how that one ended: GitHub's "
              "`needs.JOB.result`. A passed result of a job that did not succeed is refused.",
          .operands = {},
          .flags = {{"--from-report", "FILE", "the report"},
                    {"--from", "LOCATOR", "the sealed set that was installed there: run:, set: or channel:"},
                    {"--family", "F", "the GPU family tested; else that of the installed libraries"},
                    {"--framework", "NAME", "the framework tested, such as torch: one of the installed projects"},
                    {"--backend",
                     "B",
                     "where the tests computed: a result of cpu counts for no GPU family; else a GPU",
                     {"gpu", "cpu"}},
                    {"--kept", "FILE", "instead of a report: the .json file that `quarry test` kept"},
                    {"--job-result",
                     "R",
                     "how the job ended that ran the suite",
                     {"success", "failure", "cancelled", "skipped"}},
                    sign_flag(),
                    store_flag()},
          .examples = {{"quarry evidence record --from-report report.json --from run:42-windows",
                        "what a Windows job has tested"}},
          .exit_codes = {{1, "recorded, and it did not pass"},
                         {3, "the set is not in the store"},
                         {6, "it is about other files, was altered, or cannot be believed; nothing was recorded"}},
          .schema = "quarry.evidence-record/1",
          .run = run_record};
}

Result<int> run_test_list(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  registry::SetDigest set;
  if (auto named = arguments.find("--set")) {
    auto digits = named->starts_with("set:") ? named->substr(4) : *named;
    TRY(set, registry::complete_set_digest(*store, digits));
  }
  Findings skipped;
  TRY(auto records, registry::list_evidence(*store, skipped));
  context.out.findings(skipped);
  std::erase_if(records, [&](const auto& r) {
    const auto& sets = r.record.sets;
    return !set.empty() && r.record.set != set && std::find(sets.begin(), sets.end(), set) == sets.end();
  });
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.record.ended > b.record.ended; });
  Json list = Json::array();
  TableRows rows;
  for (const auto& [digest, e] : records) {
    list.push_back(test_summary(e, digest.hex()));
    rows.push_back({digest.short_hex(),
                    short_time(e.ended.text()),
                    {std::string(e.result.text()), outcome_tone_of(e.result)},
                    suite_text(e),
                    cell_text(e.cell),
                    counts_text(e) + std::string(standing(e))});
  }
  context.out.data(table({k_text, k_text, k_text, k_name, k_name, k_text}, rows, context.out.data_look()));
  if (records.empty()) context.out.note(store->describe() + " holds no evidence");
  context.out.document({{"evidence", list}, {"notes", findings_json(skipped)}});
  return 0;
}

std::string sets_text(const EvidenceRecord& e) {
  if (!e.set.empty()) return e.set.hex();
  std::vector<std::string> sets;
  for (const auto& set : e.sets) sets.push_back(set.hex());
  return sets.empty() ? "none" : text::join(sets, " and ");
}

std::string evidence_text(const std::string& digest, const EvidenceRecord& e, Look look) {
  auto text = fmt::format("evidence  {}\n{}  {} on {}  {}\nfrom      {} to {}\nset       {}{}\n", digest,
                          painted(e.result.text(), outcome_tone_of(e.result), look.color), text::one_line(e.suite),
                          cell_text(e.cell), counts_text(e), e.started, e.ended, sets_text(e),
                          e.sealed ? "" : "  (unsealed source)");
  if (!e.reported.empty())
    text += fmt::format("reported  {}: quarry did not run there, and takes its word\n", e.reported);
  if (e.shard)
    text += fmt::format("shard     {} of {} of run {}\n", e.shard->index, e.shard->total, text::one_line(e.shard->run));
  for (const auto& subject : e.subjects)
    text += fmt::format("file      {}  {}\n", subject.sha256.short_hex(), text::one_line(subject.filename));
  auto row = [&](std::string_view what, const std::pair<const std::string, std::string>& of) {
    text += fmt::format("{:<8}  {:<12}  {}\n", what, text::one_line(of.first), text::one_line(of.second));
  };
  for (const auto& one : e.machine) row("machine", one);
  for (const auto& one : e.tools) row("tool", one);
  text += fmt::format("log       {}\n", text::one_line(e.log));
  return text + failures_text(e, look) + rows_text(e, {Outcome::skipped}, look);
}

Result<int> run_test_show(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto digest, registry::complete_evidence_digest(*store, arguments.operands.at(0)));
  TRY(auto e, registry::load_evidence(*store, digest));
  auto sets = e.sets;
  if (!e.set.empty()) sets.push_back(e.set);
  TRY(auto retired, retired_text(*store, sets));
  std::string signer;
  if (e.identity) signer = signer_of(*store, policies_of(*store), "evidence", {"evidence", *digest.sha256()});
  context.out.data(evidence_text(digest.hex(), e, context.out.data_look()) + identity_text(e.identity, signer) +
                   retired);
  TRY(auto record, json::parse({registry::to_json(e), "evidence"}));
  context.out.document({{"evidence", digest}, {"record", record}, {"identity", identity_json(e.identity, signer)}});
  return 0;
}

constexpr std::uint64_t k_log_max = 1u << 30; // what `quarry test` keeps of a suite's output is far below

Result<int> run_test_log(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto digest, registry::complete_evidence_digest(*store, arguments.operands.at(0)));
  TRY(auto e, registry::load_evidence(*store, digest));
  TRY(auto log, store->get(e.log, k_log_max));
  if (!log)
    return fail(ErrorKind::not_found, "G023", fmt::format("{} is missing from {}", e.log, store->describe()),
                "the evidence itself still counts; test again for a new log");
  context.out.bytes(*log);
  context.out.document({{"evidence", digest}, {"log", e.log}, {"url", store->url(e.log)}, {"size", log->size()}});
  return 0;
}

Command test_log_command() {
  return {.path = {"evidence", "log"},
          .summary = "print the log of a test",
          .description = "What the suite printed, as `quarry test` kept it; of a reported record, the report. With "
                         "`--json` its key, URL and size.",
          .operands = {{"DIGEST", "the digest of the evidence, or its first 8 or more digits"}},
          .flags = {store_flag()},
          .examples = {{"quarry evidence log 4f2a91c07d3e --store file:store", "why did it fail?"}},
          .exit_codes = {{3, "the record does not exist, or its log is missing"}, {6, "the record was altered"}},
          .schema = "quarry.evidence-log/1",
          .run = run_test_log};
}

Command test_list_command() {
  return {.path = {"evidence", "list"},
          .summary = "list what was tested, newest first",
          .description = "One line for each record of evidence in the store. An object that is not such a record, or "
                         "was altered, is told as a warning: it counts for nothing.",
          .operands = {},
          .flags = {{"--set", "DIGEST", "only evidence for this set"}, store_flag()},
          .examples = {{"quarry evidence list", "everything that was tested"}},
          .exit_codes = {},
          .schema = "quarry.evidence-list/1",
          .run = run_test_list};
}

Command test_show_command() {
  return {.path = {"evidence", "show"},
          .summary = "show one record of evidence",
          .description = "The files, the machine, the tools and the failures, and who wrote it: `unverified`, unless a "
                         "signer of evidence of a protected channel has signed the record. With `--json` the whole "
                         "record.",
          .operands = {{"DIGEST", "its digest, or the first 8 or more digits"}},
          .flags = {store_flag()},
          .examples = {{"quarry evidence show 4f2a91c07d3e", "what was tested there"}},
          .exit_codes = {{3, "the record does not exist"}, {6, "it was altered"}},
          .schema = "quarry.evidence-show/1",
          .run = run_test_show};
}

} // namespace

std::vector<Command> evidence_commands() {
  return {record_command(), test_list_command(), test_show_command(), test_log_command()};
}

} // namespace quarry::cli
