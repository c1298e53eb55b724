#include "gate/attempts.hpp"

#include "dist/family.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::gate {

namespace {

using registry::AttemptRecord;
using registry::AttemptState;
using registry::Cell;

bool is_about(const AttemptRecord& attempt, const Question& question) {
  const auto &cell = question.plan.cell, &have = attempt.cell;
  bool python = cell.python.empty() || have.python.empty() || cell.python == have.python;
  // A framework that is built for all families is tested on any of them.
  bool family = (cell.family.empty() && !cell.framework.empty()) ||
                dist::family_key(cell.family) == dist::family_key(have.family);
  bool of_set = std::find(attempt.sets.begin(), attempt.sets.end(), question.plan.set) != attempt.sets.end();
  return of_set && attempt.suite == question.suite && cell.platform == have.platform && family && python &&
         cell.framework == have.framework && cell.backend == have.backend;
}

/// Clocks of a job's machines differ: of two records at one time the later state is the newer.
bool is_newer(const AttemptRecord& a, const AttemptRecord& b) {
  auto rank = [](const AttemptRecord& r) {
    return r.state == AttemptState::queued ? 0 : r.state == AttemptState::started ? 1 : 2;
  };
  if (a.job == b.job && rank(a) != rank(b)) return rank(a) > rank(b);
  return a.time.us() > b.time.us();
}

/// Whether only a machine that has the job can have brought it there.
bool by_machine(const AttemptState& state) {
  return state == AttemptState::started || state == AttemptState::ended || state == AttemptState::timed_out;
}

struct Meaning {
  SuiteState state;
  std::string why;
};

Meaning waiting(const Policy& policy, const AttemptRecord& attempt, std::int64_t age_us) {
  if (attempt.runner.empty()) return {SuiteState::no_runner, "its job names no machine"};
  if (age_us <= policy.patience.queue_us)
    return {SuiteState::waiting, fmt::format("its job has waited {} for {}", age_text(age_us), attempt.runner)};
  return {SuiteState::queued_too_long,
          fmt::format("no machine has taken its job for {} (it waits for {}; the policy expects one within {})",
                      age_text(age_us), attempt.runner, age_text(policy.patience.queue_us))};
}

Meaning running(const Policy& policy, std::int64_t age_us) {
  if (age_us <= policy.patience.run_us)
    return {SuiteState::running, fmt::format("its job has run for {}", age_text(age_us))};
  return {SuiteState::no_result, fmt::format("its job began {} ago and left no result", age_text(age_us))};
}

Meaning meaning_of(const Policy& policy, const AttemptRecord& attempt, std::int64_t age_us) {
  const auto& state = attempt.state;
  if (state == AttemptState::queued) return waiting(policy, attempt, age_us);
  if (state == AttemptState::started) return running(policy, age_us);
  auto ago = age_text(age_us);
  if (state == AttemptState::skipped) return {SuiteState::skipped, fmt::format("its job was skipped {} ago", ago)};
  if (state == AttemptState::cancelled)
    return {SuiteState::cancelled, fmt::format("its job was cancelled {} ago", ago)};
  if (state == AttemptState::timed_out)
    return {SuiteState::timed_out, fmt::format("its job ran into its time limit {} ago", ago)};
  if (state == AttemptState::ended)
    return {SuiteState::no_result, fmt::format("its job ended {} ago and left no result", ago)};
  return {SuiteState::untested, fmt::format("its job is in the unknown state \"{}\"", state.text())};
}

} // namespace

bool is_early(const AttemptRecord& attempt, std::int64_t now_us) {
  return attempt.time.us() > now_us + k_clock_skew_us;
}

void note_early_attempts(const Case& input, Findings& notes) {
  for (const auto& attempt : input.attempts)
    if (is_early(attempt, input.now_us))
      notes.push_back({"G031", Severity::warning, attempt.job,
                       fmt::format("the record that its job was {} is from the future ({}), and counts for nothing",
                                   attempt.state, attempt.time),
                       "look at the clock of the machine that wrote it"});
}

Attempted attempted(const Policy& policy, const Case& input, const Question& question, std::int64_t newest_result_us) {
  const AttemptRecord* newest = nullptr;
  bool taken = false;
  for (const auto& attempt : input.attempts) {
    if (!is_about(attempt, question) || is_early(attempt, question.now_us)) continue;
    taken |= by_machine(attempt.state);
    if (!newest || is_newer(attempt, *newest)) newest = &attempt;
  }
  if (!newest) return {newest_result_us ? SuiteState::not_counted : SuiteState::untested, {}, {}};
  // The job's last record is written when it has ended, after its result.
  bool ended = newest->state == AttemptState::ended;
  auto slack = ended ? policy.patience.run_us : 0;
  if (newest_result_us && newest->time.us() <= newest_result_us + slack)
    return {SuiteState::not_counted, {}, {}, taken};
  auto meaning = meaning_of(policy, *newest, question.now_us - newest->time.us());
  return {meaning.state, fmt::format("{}: {}", meaning.why, newest->job), newest->job, taken};
}

std::string_view to_string(SuiteState state) {
  static constexpr std::string_view k_words[] = {
      "passed",    "failed",  "ran_into_deadline", "expected_failure", "waiting",   "queued_too_long", "running",
      "no_result", "skipped", "cancelled",         "timed_out",        "no_runner", "not_counted",     "untested"};
  static_assert(std::size(k_words) == static_cast<std::size_t>(SuiteState::untested) + 1);
  return k_words[static_cast<std::size_t>(state)];
}

} // namespace quarry::gate
