#include "trial/trial.hpp"

#include "base/redact.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "content/rope.hpp"
#include "dist/family.hpp"
#include "registry/registry.hpp"
#include "sys/file.hpp"
#include "sys/identity.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "trial/chosen.hpp"
#include "trial/device_code.hpp"
#include "trial/evidence.hpp"
#include "trial/kept.hpp"
#include "trial/machine.hpp"
#include "trial/printed.hpp"
#include "trial/report.hpp"
#include "trial/shard.hpp"
#include "trial/subject.hpp"
#include "trial/temporary_directory.hpp"
#include "venv/proof.hpp"
#include "venv/stage.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <memory>

namespace quarry::trial {

namespace {

using registry::EvidenceRecord;
using registry::Outcome;

constexpr std::uint64_t k_output_bytes_max =
    32u << 20; // a test that prints more has a defect; the rest is counted in the log's last line

Result<void> check_targets(const Subject& subject, const TrialOptions& options) {
  static const std::vector<venv::Offered> unknown;
  const auto& offered = subject.source ? subject.source->files : unknown;
  return check_device_code({subject.files, subject.others, subject.packages, offered, options.backend});
}

/// In-tree bytecode is not used: it is not in the wheels, and could say something else than the sources beside it.
/// The home directory is an empty one, unless it is passed: the user's own holds credentials (~/.aws, ~/.netrc).
Result<venv::Variables> test_variables(const TrialOptions& options, const venv::Environment& environment,
                                       const venv::Variables& variables, const std::string& work) {
  auto out = venv::activated_variables(environment, variables, options.passed);
  out["PYTHONPYCACHEPREFIX"] = path::join(work, "bytecode");
  out["PYTHONUNBUFFERED"] = "1"; // what a suite has said when the deadline ends it is in the log
  if (std::find(options.passed.begin(), options.passed.end(), "HOME") == options.passed.end()) {
    out["HOME"] = path::join(work, "home");
    TRY_DO(sys::make_directories(out["HOME"]));
  }
  return out;
}

class LineSplitter {
public:
  LineSplitter(const std::function<void(std::string_view)>& on_line, const redact::Redactor& redactor)
      : on_line_(on_line), redactor_(redactor) {}
  void take(std::string_view chunk) {
    if (!on_line_) return;
    rest_ += chunk;
    for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n')) {
      on_line_(redactor_.apply(rest_.substr(0, end)));
      rest_.erase(0, end + 1);
    }
  }

private:
  const std::function<void(std::string_view)>& on_line_;
  const redact::Redactor& redactor_;
  std::string rest_;
};

Result<sys::ProcessResult> run_suite(const Suite& suite, const TrialOptions& options, const venv::Variables& variables,
                                     const redact::Redactor& redactor) {
  sys::ProcessSpec spec;
  spec.argv = suite.command;
  spec.environment = variables;
  spec.deadline_ms = options.deadline_ms;
  spec.merge_stderr = true;
  spec.ends_descendants = true; // one that stayed could rewrite the evidence that is kept
  spec.capture_bytes_max = k_output_bytes_max;
  LineSplitter lines(options.on_output, redactor);
  spec.on_output = [&](std::string_view chunk) { lines.take(chunk); };
  TRY(auto done, sys::run_process(spec));
  done.out = redactor.apply(std::move(done.out));
  return done;
}

/// `rocm-sdk test` of packages that another tool built may not know --json: argparse refuses it before any test runs.
bool knows_no_report(const Suite& suite, const sys::ProcessResult& done) {
  return suite.packaged && !done.timed_out && done.exit_code == 2 && !sys::exists(suite.report) &&
         done.out.find("unrecognized arguments: --json") != done.out.npos;
}

/// Runs the suite; the packaged one a second time without --json, if it does not know that. Both share the deadline.
Result<sys::ProcessResult> run_as_it_knows(Suite& suite, const TrialOptions& options, const venv::Variables& variables,
                                           const redact::Redactor& redactor) {
  TRY(auto done, run_suite(suite, options, variables, redactor));
  if (!knows_no_report(suite, done)) return done;
  if (options.on_note) options.on_note("report      these packages' rocm-sdk writes none: read what its tests print");
  suite.printed = true;
  suite.command.resize(2); // rocm-sdk test
  auto again = options;
  again.deadline_ms -= std::min(options.deadline_ms - 1, static_cast<std::uint64_t>(done.seconds * 1000));
  return run_suite(suite, again, variables, redactor);
}

Report one_row(const std::string& name, Outcome::Kind outcome, const std::string& message, double seconds) {
  Report report;
  report.add({name, outcome, message, seconds});
  return report;
}

std::optional<sys::FileIdentity> report_now(const Suite& suite) {
  auto file = sys::File::open_read(suite.report);
  if (!file) return std::nullopt;
  auto identity = sys::identity_of(*file);
  return identity ? std::optional(*identity) : std::nullopt;
}

/// A report of an earlier run must not speak for this one. It is the user's file, so it is not removed either.
bool is_stale(const Suite& suite) { return suite.old_report && report_now(suite) == suite.old_report; }

Report unreadable_report(const Suite& suite, const std::string& why) {
  return one_row("report", Outcome::error, why + (suite.printed ? "; `quarry explain X030` says what can be read" : ""),
                 0);
}

Report read_printed(const Suite& suite, const sys::ProcessResult& done) {
  if (done.dropped_bytes)
    return unreadable_report(suite, fmt::format("{} printed more than {}, and its result is behind that",
                                                suite.command[0], units::bytes(k_output_bytes_max)));
  auto report = parse_unittest_output(done.out, done.exit_code);
  return report ? std::move(*report) : unreadable_report(suite, report.error().message);
}

/// What the suite reported; a report that is missing or cannot be believed becomes one row that says so.
Report read_report(const Suite& suite, const sys::ProcessResult& done) {
  if (suite.printed) return read_printed(suite, done);
  if (suite.report.empty()) {
    auto message = done.exit_code == 0 ? "" : fmt::format("exit code {}", done.exit_code);
    return one_row("command", done.exit_code == 0 ? Outcome::passed : Outcome::failed, message, done.seconds);
  }
  if (!sys::exists(suite.report))
    return unreadable_report(suite, fmt::format("{} wrote no report (exit code {})", suite.command[0], done.exit_code));
  if (is_stale(suite))
    return one_row("report", Outcome::error,
                   fmt::format("{} wrote no report (exit code {}): {} was there before and has not changed",
                               suite.command[0], done.exit_code, suite.report),
                   0);
  auto text = sys::read_file(suite.report, k_report_bytes_max);
  if (!text) return one_row("report", Outcome::error, text.error().message, 0);
  auto report = suite.packaged ? parse_rocm_sdk_report({*text, suite.report}) : parse_junit({*text, suite.report});
  if (!report) return one_row("report", Outcome::error, report.error().message, 0);
  return std::move(*report);
}

std::string stopped_text(const TrialOptions& options) {
  return fmt::format("stopped by the deadline of {}", units::seconds(static_cast<double>(options.deadline_ms) / 1000));
}

/// The tests that had ended before, if the suite's report says which, and one row that says why there are no more.
Report stopped(Report report, const Suite& suite, const sys::ProcessResult& done, const TrialOptions& options) {
  auto message = stopped_text(options) + "; --deadline D allows more";
  bool nothing = suite.report.empty() || !sys::exists(suite.report) || is_stale(suite);
  if (nothing) return one_row("deadline", Outcome::error, message, done.seconds);
  report.add({"deadline", Outcome::error, std::move(message), done.seconds});
  return report;
}

/// Exit code and report must agree; the worse of the two is believed.
Outcome result_of(Report& report, const sys::ProcessResult& done) {
  if (done.timed_out) return Outcome::timed_out;
  if (report.errors) return Outcome::error;
  if (report.failed) return Outcome::failed;
  if (done.exit_code != 0)
    report.add({"exit code", Outcome::error,
                fmt::format("the report shows no failure, and the exit code is {}", done.exit_code), 0});
  else if (report.passed == 0)
    report.add({"exit code", Outcome::error, "no test has passed", 0});
  return report.errors ? Outcome::error : Outcome::passed;
}

std::string log_text(const Suite& suite, const sys::ProcessResult& done, const TrialOptions& options) {
  auto text = done.out;
  if (suite.printed)
    text = "[`rocm-sdk test` of these packages does not know --json: what it prints without it is read]\n" + text;
  if (done.dropped_bytes) text += fmt::format("\n[{} more bytes were not kept]\n", done.dropped_bytes);
  if (done.timed_out) text += fmt::format("\n[{}]\n", stopped_text(options));
  return text;
}

void describe_tools(const TrialOptions& options, const venv::Environment& environment, const Subject& subject,
                    EvidenceRecord& evidence) {
  evidence.tools["quarry"] = options.quarry_version;
  evidence.tools["python"] = environment.version;
  evidence.tools["source"] = redact::without_credentials(subject.description); // a receipt may be an older program's
  for (const auto& other : subject.others) evidence.tools["with " + other.project] = other.version;
  std::erase_if(evidence.tools, [](const auto& tool) { return tool.second.empty(); });
}

int exit_code_of(const Outcome& result) {
  return result == Outcome::passed ? 0 : result == Outcome::timed_out ? 124 : 1;
}

} // namespace

Result<TrialOutcome> run_trial(const TrialOptions& options, store::ObjectStore& store, const venv::Variables& variables,
                               const sys::Clock& clock) {
  TRY(auto environment, venv::open_environment(options.directory));
  TRY(auto work, TemporaryDirectory::create(environment.directory));
  TRY(auto subject, find_subject(options, environment, store));
  TRY(auto family, family_of(subject.files, options.family));
  TRY_DO(check_framework(subject.files, options.framework));
  TRY_DO(check_targets(subject, options));
  auto machine = machine_facts(variables);
  if (options.definition && options.definition->gpu && !machine.contains("gpu_targets"))
    return fail(ErrorKind::unsupported, "X028",
                fmt::format("suite {} needs a GPU, and this machine has none that it can open", options.suite),
                "run it where `quarry doctor` shows one; nothing was recorded");
  TRY(auto suite, choose_suite(options, environment, subject.files, work.path()));
  // Asks the server what it supports, so that a refusal comes before the suite runs and not after it.
  if (!options.keep_only) TRY_DO(store.conditional_writes(), "before the suite is run");
  if (options.on_note)
    options.on_note(fmt::format("testing     {} of {}{}", units::things(subject.files.size(), "file"),
                                subject.description, subject.sealed ? "" : ", an unsealed source"));
  if (!suite.packaged && !suite.report.empty()) suite.old_report = report_now(suite);

  TrialOutcome outcome;
  auto& evidence = outcome.evidence;
  evidence.started = sys::Timestamp::from_us(clock.now_us());
  // The store may be public. Actions masks what a job prints, and not what it stores.
  redact::Redactor redactor(variables);
  TRY(auto suite_variables, test_variables(options, environment, variables, work.path()));
  if (options.shard) add_shard(*options.shard, suite_variables);
  TRY(auto done, run_as_it_knows(suite, options, suite_variables, redactor));
  evidence.ended = sys::Timestamp::from_us(clock.now_us());
  TRY_DO(prove_again(subject, environment, options.workers), "after the suite had run; nothing is recorded");

  auto report = read_report(suite, done);
  if (done.timed_out) report = stopped(std::move(report), suite, done, options);
  for (auto& row : report.rows) {
    row.name = redactor.apply(std::move(row.name));
    row.message = redactor.apply(std::move(row.message));
  }
  if (!done.timed_out && suite.min_passed > 1 && !report.failed && !report.errors &&
      report.passed < static_cast<std::uint64_t>(suite.min_passed))
    report.add(
        {"min_passed", Outcome::error,
         fmt::format("{} passed, and the suite needs {}", units::things(report.passed, "test"), suite.min_passed), 0});
  evidence.result = result_of(report, done);
  take_report(std::move(report), evidence);
  evidence.cell = {Platform::linux, family, environment.minor(), options.framework, options.backend};
  evidence.suite = suite.name;
  evidence.suite_digest = suite.digest;
  if (suite.printed) evidence.tools["report"] = "what unittest printed";
  evidence.machine = std::move(machine);
  evidence.subjects = subjects_of(subject.files);
  evidence.sealed = subject.sealed;
  evidence.identity = options.identity;
  evidence.shard = options.shard;
  if (subject.sets.size() == 1)
    evidence.set = subject.sets.front();
  else
    evidence.sets = subject.sets;
  describe_tools(options, environment, subject, evidence);
  auto log = log_text(suite, done, options);
  evidence.log = log_key(log);
  if (options.keep_only) {
    TRY(outcome.kept, keep_evidence(options.keep_in, evidence, log));
    outcome.digest = registry::digest_of(evidence);
  } else {
    TRY(outcome.digest, store_or_keep(store, options.keep_in, evidence, log));
  }
  outcome.exit_code = exit_code_of(evidence.result);
  return outcome;
}

} // namespace quarry::trial
