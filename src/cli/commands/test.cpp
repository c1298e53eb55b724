#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/keys.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "registry/registry.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "trial/foreign.hpp"
#include "trial/kept.hpp"
#include "trial/trial.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

using registry::EvidenceRecord;
using registry::Outcome;

constexpr std::size_t k_failures_shown = 20;

std::string counts_text(const EvidenceRecord& e) {
  auto text = fmt::format("{} passed", e.passed);
  if (e.failed) text += fmt::format(", {} failed", e.failed);
  if (e.errors) text += ", " + units::things(e.errors, "error");
  if (e.skipped) text += fmt::format(", {} skipped", e.skipped);
  return text;
}

// What a reader must know before taking the record for what it is.
std::string_view standing(const EvidenceRecord& e) {
  if (!e.sealed) return "  unsealed";
  return e.reported.empty() ? "" : "  reported";
}

Json test_summary(const EvidenceRecord& e, const std::string& digest) {
  return {{"evidence", digest},
          {"result", e.result},
          {"suite", e.suite},
          {"cell", cell_json(e.cell)},
          {"counts", {{"passed", e.passed}, {"failed", e.failed}, {"skipped", e.skipped}, {"errors", e.errors}}},
          {"set", e.set},
          {"sets", e.sets},
          {"sealed", e.sealed},
          {"reported", e.reported},
          {"started", e.started},
          {"ended", e.ended},
          {"log", e.log}};
}

Json subjects_json(const EvidenceRecord& e) {
  Json list = Json::array();
  for (const auto& subject : e.subjects)
    list.push_back({{"filename", subject.filename}, {"sha256", subject.sha256.hex()}});
  return list;
}

Tone outcome_tone_of(const Outcome& result) { return result == Outcome::passed ? Tone::good : Tone::bad; }

/// The tests of these outcomes, a line each with the first line of their message.
std::string rows_text(const EvidenceRecord& e, const std::vector<Outcome>& outcomes, Look look) {
  std::vector<std::string> lines;
  for (const auto& row : e.rows) {
    if (std::find(outcomes.begin(), outcomes.end(), row.outcome) == outcomes.end()) continue;
    auto message = text::lines(row.message);
    auto word = row.outcome == Outcome::failed    ? painted("FAILED", Tone::bad, look.color)
                : row.outcome == Outcome::skipped ? std::string("skipped")
                                                  : painted("ERROR ", Tone::bad, look.color);
    lines.push_back(fmt::format("  {}  {}{}", word, row.name, message.empty() ? "" : ": " + message[0]));
  }
  return first_rows(std::move(lines), k_failures_shown);
}

std::string failures_text(const EvidenceRecord& e, Look look) {
  return rows_text(e, {Outcome::failed, Outcome::error}, look);
}

// test

Result<trial::TrialOptions> trial_options(Context& context, const Arguments& arguments) {
  trial::TrialOptions options;
  options.directory = arguments.get("--venv");
  options.locator = arguments.find("--from").value_or("");
  options.family = arguments.find("--family").value_or("");
  options.framework = arguments.find("--framework").value_or("");
  options.backend = arguments.get("--backend") == "cpu" ? "cpu" : "";
  options.suite = arguments.find("--suite").value_or("");
  options.command = arguments.rest;
  if (options.command.empty() && !options.suite.empty() && options.suite != trial::k_packaged_suite) {
    TRY(options.definition, trial::find_suite(context.resources, options.suite));
    if (options.definition) options.suite = options.definition->name;
  }
  if (options.suite.find_first_of(" \t\n") != options.suite.npos)
    return fail(ErrorKind::invalid_argument, "C006",
                fmt::format("--suite must be a name without blanks, not {:?}", options.suite),
                "policies and waivers name suites, such as rocm-sdk or smoke-tests");
  TRY(options.passed, passed_variables(arguments));
  options.junit = arguments.find("--junit").value_or("");
  if (!options.junit.empty() && options.command.empty())
    return fail(ErrorKind::invalid_argument, "X006", "--junit names the report of a command, and no command is given",
                "give the command after --, such as -- pytest --junit-xml=r.xml");
  auto deadline = units::parse_duration_ms(arguments.get("--deadline"));
  if (!deadline || *deadline == 0)
    return fail(ErrorKind::invalid_argument, "X007",
                fmt::format("\"{}\" is not a duration", arguments.get("--deadline")), "write it as 90s, 15m or 2h");
  options.deadline_ms = *deadline;
  if (options.definition) {
    if (options.definition->deadline_ms != 0 && !arguments.has("--deadline"))
      options.deadline_ms = options.definition->deadline_ms;
    if (options.definition->cpu) options.backend = "cpu";
  }
  options.keep_only = arguments.has("--keep");
  if (options.keep_only) {
    options.keep_in = arguments.get("--keep");
    TRY_DO(sys::make_directories(options.keep_in));
  }
  options.workers = context.jobs;
  options.quarry_version = program_version();
  options.on_note = [&context](std::string_view line) { context.out.note(line); };
  options.on_output = [&context](std::string_view line) { context.out.note(fmt::format("  {}", line)); };
  return options;
}

void say_recorded(Context& context, const EvidenceRecord& evidence, const std::string& digest, const std::string& store,
                  std::string_view schema) {
  context.out.data(failures_text(evidence, context.out.data_look()));
  context.out.data(fmt::format("evidence    {}\nlog         {}\n", digest, evidence.log));
  auto document = test_summary(evidence, digest);
  document["schema"] = schema;
  document["subjects"] = subjects_json(evidence);
  context.out.document(document);
  if (evidence.result != Outcome::passed)
    context.out.note("next: " +
                     NextCommand(context, "evidence log").operand(digest.substr(0, 12)).set("--store", store).text());
}

Result<int> run_test(Context& context, const Arguments& arguments) {
  TRY(auto options, trial_options(context, arguments));
  TRY(auto key, signing_key(arguments));
  if (options.keep_only && arguments.has("--sign"))
    return fail(ErrorKind::invalid_argument, "X008", "--keep and --sign exclude each other",
                "sign it when it is stored: `quarry evidence record --kept FILE --sign KEY`");
  TRY(auto store, options.keep_only ? open_store(context, arguments.get("--store"))
                                    : open_store_to_write(context, arguments.get("--store")));
  TRY(auto outcome, trial::run_trial(options, *store, context.environment, context.clock));
  const auto& e = outcome.evidence;
  auto result = painted(e.result.text(), outcome_tone_of(e.result), context.out.data_look().color);
  context.out.data(fmt::format("{}  {} on {}  {}{}\n", result, e.suite, cell_text(e.cell), counts_text(e),
                               e.sealed ? "" : "  (unsealed source: no gate will accept it)"));
  if (options.keep_only) context.out.note("kept        " + outcome.kept);
  if (!options.keep_only) TRY_DO(sign_record(context, *store, {"evidence", *outcome.digest.sha256()}, key));
  say_recorded(context, e, outcome.digest.hex(), arguments.get("--store"), "quarry.test/1");
  return outcome.exit_code;
}

Command test_command() {
  return {
      .path = {"test"},
      .summary = "test an environment and record the result as evidence",
      .description =
          "Proves first that the environment holds the files of its set and nothing else among them, then runs "
          "`rocm-sdk test`, the suite that `--suite` names (docs/formats/suite.md), or any command after `--`, under a "
          "deadline in a process group of its own; then proves it "
          "again. The result is written to the store as evidence for exactly the files that are installed: their "
          "sha256, the machine, the tools, every test's outcome and the log. With `--keep` nothing is written to the "
          "store: a job that runs tests needs no token, and another one stores what it kept.\n\n"
          "The suite gets the variables that it needs to run (PATH, LANG, those that choose GPUs, proxies and "
          "certificates) and those of `--pass-env`, and an empty home directory unless HOME is passed. It gets no "
          "variable that holds a credential, and values of the job's secrets are replaced in the log.\n\n"
          "An environment needs the receipt of `quarry venv install`; without one, `--from` says what its files must "
          "be.",
      .operands = {},
      .flags = {{"--venv", "DIR", "the environment", {}, {}, {}, true},
                {"--from", "LOCATOR", "what the installed files must be, instead of the receipt"},
                {"--family", "F", "the GPU family tested; else that of the installed libraries"},
                {"--framework", "NAME", "the framework tested, such as torch: one of the installed projects"},
                {"--backend",
                 "B",
                 "where the tests compute: a result of cpu counts for no GPU family",
                 {"gpu", "cpu"},
                 "gpu"},
                {"--suite", "NAME|FILE",
                 "rocm-sdk, a suite that is defined (`quarry suite list`), or what a command after -- is to be called"},
                {"--junit", "FILE",
                 "the JUnit report that the command writes; a file that it leaves unchanged counts as none"},
                {"--deadline", "D", "after this the suite is killed", {}, "1h"},
                {"--keep", "DIR", "keep the evidence there as files for `quarry evidence record --kept`"},
                pass_env_flag(),
                sign_flag(),
                store_flag()},
      .takes_rest = true,
      .examples = {{"quarry test --venv .venv", "the tests inside the packages"},
                   {"quarry test --venv .venv --suite rocm-smoke", "a suite that is defined in data/suites"},
                   {"quarry test --venv .venv --suite smoke --junit r.xml -- pytest --junit-xml=r.xml tests",
                    "tests of your own"}},
      .exit_codes = {{0, "passed"},
                     {1, "failed; there is evidence of it"},
                     {3, "no receipt, or its set is not in the store"},
                     {6, "the environment was altered; there is no evidence"},
                     {124, "the deadline passed; there is evidence of it"}},
      .schema = "quarry.test/1",
      .run = run_test};
}

// evidence

Result<trial::Recorded> record_report(Context& context, const Arguments& arguments, store::ObjectStore& store) {
  trial::RecordOptions options;
  options.report = arguments.get("--from-report");
  options.locator = arguments.get("--from");
  options.family = arguments.find("--family").value_or("");
  options.quarry_version = program_version();
  TRY(auto scratch, Scratch::make(context));
  options.directory = scratch.path();
  options.workers = context.jobs;
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
  TRY(auto done, kept ? trial::record_kept(*kept, {arguments.get("--from"), arguments.get("--family")}, *store)
                      : record_report(context, arguments, *store));
  const auto& e = done.evidence;
  auto result = painted(e.result.text(), outcome_tone_of(e.result), context.out.data_look().color);
  context.out.data(fmt::format("{}  {} on {}  {}\n", result, e.suite, cell_text(e.cell), counts_text(e)));
  if (!kept) context.out.data(fmt::format("reported    by {}; quarry did not run there\n", e.machine.at("host")));
  TRY_DO(sign_record(context, *store, {"evidence", *done.digest.sha256()}, key));
  say_recorded(context, e, done.digest.hex(), arguments.get("--store"), "quarry.evidence-record/1");
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
              "with `--keep`. With `--from` and `--family` it must be about these sets and this family.",
          .operands = {},
          .flags = {{"--from-report", "FILE", "the report"},
                    {"--from", "LOCATOR", "the sealed set that was installed there: run:, set: or channel:"},
                    {"--family", "F", "the GPU family tested; else that of the installed libraries"},
                    {"--kept", "FILE", "instead of a report: the .json file that `quarry test` kept"},
                    sign_flag(),
                    store_flag()},
          .examples = {{"quarry evidence record --from-report report.json --from run:42-windows",
                        "what a Windows job has tested"}},
          .exit_codes = {{1, "recorded, and it did not pass"},
                         {3, "the set is not in the store"},
                         {6, "the report is about other files, or cannot be believed; nothing was recorded"}},
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
                    e.suite,
                    cell_text(e.cell),
                    counts_text(e) + std::string(standing(e))});
  }
  context.out.data(table({k_text, k_text, k_text, k_name, k_name, k_text}, rows, context.out.data_look()));
  if (records.empty()) context.out.note("there is no evidence in " + store->describe());
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
                          painted(e.result.text(), outcome_tone_of(e.result), look.color), e.suite, cell_text(e.cell),
                          counts_text(e), e.started, e.ended, sets_text(e), e.sealed ? "" : "  (unsealed source)");
  if (!e.reported.empty())
    text += fmt::format("reported  {}: quarry did not run there, and takes its word\n", e.reported);
  for (const auto& subject : e.subjects)
    text += fmt::format("file      {}  {}\n", subject.sha256.short_hex(), subject.filename);
  for (const auto& [key, value] : e.machine) text += fmt::format("machine   {:<12}  {}\n", key, value);
  for (const auto& [key, value] : e.tools) text += fmt::format("tool      {:<12}  {}\n", key, value);
  text += fmt::format("log       {}\n", e.log);
  return text + failures_text(e, look) + rows_text(e, {Outcome::skipped}, look);
}

Result<int> run_test_show(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto digest, registry::complete_evidence_digest(*store, arguments.operands.at(0)));
  TRY(auto e, registry::load_evidence(*store, digest));
  auto sets = e.sets;
  if (!e.set.empty()) sets.push_back(e.set);
  TRY(auto retired, retired_text(*store, sets));
  context.out.data(evidence_text(digest.hex(), e, context.out.data_look()) + retired);
  TRY(auto record, json::parse({registry::to_json(e), "evidence"}));
  context.out.document({{"evidence", digest}, {"record", record}});
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
  context.out.data(*log);
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
          .description = "The files, the machine, the tools and the failures; with `--json` the whole record.",
          .operands = {{"DIGEST", "its digest, or the first 8 or more digits"}},
          .flags = {store_flag()},
          .examples = {{"quarry evidence show 4f2a91c07d3e", "what was tested there"}},
          .exit_codes = {{3, "the record does not exist"}, {6, "it was altered"}},
          .schema = "quarry.evidence-show/1",
          .run = run_test_show};
}

} // namespace

std::vector<Command> test_commands() {
  return {test_command(),      test_report_command(), expect_command(),  record_command(),
          test_list_command(), test_show_command(),   test_log_command()};
}

} // namespace quarry::cli
