#include "base/one_line.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/evidence.hpp"
#include "cli/identity.hpp"
#include "cli/keys.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/version.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "trial/shard.hpp"
#include "trial/trial.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {

/// The run of a shard is that of the job, where GitHub says which.
Result<void> choose_shard(const Arguments& arguments, trial::TrialOptions& options) {
  if (!arguments.has("--shard")) {
    if (!arguments.has("--run")) return {};
    return fail(ErrorKind::invalid_argument, "X029", "--run says of which run a shard is, and no shard is named",
                "name it, such as --shard 2/4, or omit --run");
  }
  if (!options.definition)
    return fail(ErrorKind::invalid_argument, "X029", "--shard needs a suite whose definition has shards",
                "`quarry suite list` shows the definitions; docs/formats/suite.md says how to write one");
  auto run = options.identity ? options.identity->run : std::string();
  TRY(options.shard,
      trial::shard_of(*options.definition, {arguments.get("--shard"), arguments.find("--run").value_or(run)}));
  return {};
}

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
  options.identity = identity_of(context);
  TRY_DO(choose_shard(arguments, options));
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
  options.on_output = [&context](std::string_view line) { context.out.note("  " + text::one_line(line)); };
  return options;
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
  context.out.data(fmt::format("{}  {} on {}  {}{}\n", result, suite_text(e), cell_text(e.cell), counts_text(e),
                               e.sealed ? "" : "  (unsealed source: no gate will accept it)"));
  if (options.keep_only) context.out.note("kept        " + outcome.kept);
  if (!options.keep_only) {
    TRY_DO(sign_record(context, *store, {"evidence", *outcome.digest.sha256()}, key));
    warn_of_clock(context, *store, e, outcome.digest);
  }
  say_recorded(context, {e, outcome.digest.hex(), arguments.get("--store"), "quarry.test/1"});
  return outcome.exit_code;
}

Command test_command() {
  return {
      .path = {"test"},
      .summary = "test an environment and record the result as evidence",
      .description =
          "Proves first that the environment holds the files of its set and nothing else among them, then runs "
          "`rocm-sdk test`, the suite that `--suite` names (docs/formats/suite.md), or any command after `--`, under a "
          "deadline in a process group of its own; ends every process that it started; then proves it again. The "
          "result is written to the store as evidence for exactly the files that are installed: their "
          "sha256, the machine, the tools, every test's outcome and the log. If several jobs share a suite, each runs "
          "a part with `--shard`, and a gate counts them when all have passed. With `--keep` nothing is written to the "
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
                {"--shard", "I/N", "run this part of the suite, whose definition says `shards = N`"},
                {"--run", "NAME",
                 "what all shards of one run are given; in a job of GitHub the page of its run, if this is absent"},
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
                   {"quarry test --venv .venv --suite full --shard 2/4 --run \"$SLURM_ARRAY_JOB_ID\"",
                    "the second of four jobs that share a suite"},
                   {"quarry test --venv .venv --suite smoke --junit r.xml -- pytest --junit-xml=r.xml tests",
                    "tests of your own"}},
      .exit_codes = {{0, "passed"},
                     {1, "failed; there is evidence of it"},
                     {3, "no receipt, or its set is not in the store"},
                     {6, "the environment was altered; nothing is recorded"},
                     {12, "a process of the suite could not be ended; nothing is recorded"},
                     {124, "the deadline passed; there is evidence of it"}},
      .schema = "quarry.test/1",
      .run = run_test};
}

} // namespace

std::vector<Command> test_commands() {
  std::vector<Command> commands{test_command(), test_report_command(), expect_command()};
  for (auto& command : evidence_commands()) commands.push_back(std::move(command));
  return commands;
}

} // namespace quarry::cli
