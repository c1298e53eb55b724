#include "gate/gate.hpp"

#include "base/text.hpp"
#include "digest/sha256.hpp"
#include "dist/family.hpp"
#include "gate/attempts.hpp"
#include "gate/count.hpp"
#include "gate/expect.hpp"
#include "gate/machines.hpp"
#include "gate/results.hpp"
#include "gate/signed.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <set>

namespace quarry::gate {

namespace {

using registry::EvidenceRecord;
using registry::Outcome;

/// What the records say about one suite on one cell, before the policy's states and waivers.
struct Answer {
  enum class Kind : std::uint8_t { passed, failed, missing } kind = Kind::missing;
  std::string text;
  std::vector<registry::EvidenceDigest> evidence = {}; ///< that decided: one record, or those of all shards
  SuiteStanding standing = {};
  std::optional<Suspect> suspect = {};
  bool taken = false;                          ///< a machine has begun an attempt
  std::optional<quarry::Finding> ignored = {}; ///< a failure that does not count, newer than the pass that does
};

/// ": one result does not say `--framework torch`", or empty.
std::string near_miss_text(const Judging& judging, const Question& question) {
  for (const auto& stored : judging.input.evidence)
    if (auto why = near_miss(stored.record, question); !why.empty()) return ": one result " + why;
  return {};
}

Answer find_missing(const Judging& judging, const Question& question, const Sorted& sorted) {
  Answer answer{Answer::Kind::missing, missing_text(question.suite, sorted)};
  if (sorted.refused.empty()) answer.text += near_miss_text(judging, question);
  auto newest_us = sorted.refused.empty() ? 0 : std::max<std::int64_t>(sorted.refused.front().ended_us, 1);
  auto attempt = attempted(judging.policy, judging.input, question, newest_us);
  answer.standing = {question.suite, attempt.state, attempt.job};
  answer.taken = attempt.taken;
  if (!attempt.why.empty()) answer.text += (answer.text.find(": ") == answer.text.npos ? ": " : "; ") + attempt.why;
  return answer;
}

/// A failure that does not count, and ended after the pass that does: people must not learn of it only by looking.
std::optional<quarry::Finding> ignored_failure(const Judging& judging, const Question& question, const Sorted& sorted,
                                               std::int64_t passed_us) {
  for (const auto& [stored, ended_us, why] : sorted.refused) {
    const auto& record = stored->record;
    auto when_us = ended_us == 0 ? record.ended.us() : ended_us; // 0: of another set, or nobody can say when
    bool newer = when_us == 0 || when_us > passed_us;
    if (!newer || is_pass(record, judging.policy) || !set_aside(judging.policy, record, question.now_us).empty())
      continue;
    return quarry::Finding{
        "G032", Severity::warning, registry::evidence_key(stored->digest),
        fmt::format("{} has not passed there; the result does not count, because it {}", question.suite, why),
        fmt::format("look at it: `quarry evidence show {}`; if the files may be bad, test them again",
                    stored->digest.short_hex())};
  }
  return std::nullopt;
}

/// All results that count have passed, and the policy wants more of them. The cell is held as one without a result.
Answer too_few(Answer answer, std::size_t asked) {
  answer.kind = Answer::Kind::missing;
  answer.standing.state = SuiteState::not_counted;
  answer.taken = true; // so a machine exists
  answer.text += fmt::format("; the policy asks for the last {} results, and {} {}", asked, answer.standing.results.all,
                             answer.standing.results.all == 1 ? "counts" : "count");
  return answer;
}

Answer answer_of(const Judging& judging, const Question& question) {
  const auto& policy = judging.policy;
  auto sorted = sort_evidence(judging, question);
  if (sorted.counted.empty()) return find_missing(judging, question, sorted);
  auto asked = asked_passes(policy, question.rule);
  const auto& decided = deciding(policy, sorted, asked);
  const auto& record = decided.stored->record;
  const auto ended_us = decided.ended_us;
  const bool inherited = decided.inherited;
  auto age = question.now_us - ended_us;
  auto on = inherited
                ? fmt::format("the files of {}, of which these were made", judging.input.derived.at(question.plan.set))
                : std::string("these files");
  std::vector<const EvidenceRecord*> counted;
  for (const auto& one : sorted.counted) {
    if (one.parts.empty()) counted.push_back(&one.stored->record);
    for (const auto* part : one.parts) counted.push_back(&part->record); // each on its machine
  }
  auto results = count_results(policy, sorted);
  Answer answer{Answer::Kind::passed, "", {}, {question.suite, SuiteState::passed, {}, results}, suspect(counted)};
  for (const auto* part : decided.parts) answer.evidence.push_back(part->digest);
  if (decided.parts.empty()) answer.evidence.push_back(decided.stored->digest);
  if (is_pass(record, policy)) {
    answer.text = pass_text(record, {age, on, results});
    if (results.all < asked) return too_few(std::move(answer), asked);
    answer.ignored = ignored_failure(judging, question, sorted, ended_us);
    return answer;
  }
  answer.kind = Answer::Kind::failed;
  answer.text = fmt::format("{}{}, {} ago", failure_text(record), inherited ? " on " + on : "", age_text(age));
  bool hung = record.result == Outcome::timed_out;
  answer.standing.state = hung ? SuiteState::ran_into_deadline : SuiteState::failed;
  if (hung && answer.suspect)
    answer.text += fmt::format(" on {}, which is suspect: it passed on {}", answer.suspect->machine,
                               text::join(answer.suspect->passed_on, " and "));
  return answer;
}

struct Ruling {
  bool held = false, waived = false;
  std::string reason;
  std::optional<registry::WaiverDigest> waiver = {}; ///< that made it ready
  SuiteState state = SuiteState::untested;
};

/// What sets may be tested together with: all files of the release, and what the target shows.
Files allied_files(const Case& input) {
  Files allied;
  for (const auto* subjects : {&input.subjects, &input.present})
    for (const auto& subject : *subjects)
      for (const auto& file : subject.set.files) allied.emplace(file.sha256, file.filename);
  for (const auto& file : input.shown) allied.emplace(file.sha256, file.filename);
  return allied;
}

const SuiteRule* rule_of(const Policy& policy, const std::string& suite) {
  auto found =
      std::find_if(policy.suites.begin(), policy.suites.end(), [&](const SuiteRule& r) { return r.name == suite; });
  return found == policy.suites.end() ? nullptr : &*found;
}

bool in_force(const FamilyFact* fact, std::int64_t now_us) {
  return fact && (!fact->until_us || now_us <= fact->until_us);
}

std::string meaning(const FamilyFact& fact, const Policy& policy) {
  if (!fact.counts_as.empty()) return fact.counts_as;
  if (fact.state == FamilyState::no_runner) return policy.no_runner == NoRunner::waive ? "waive" : "held";
  return policy.expected_failure == ExpectedFailure::waive    ? "waive"
         : policy.expected_failure == ExpectedFailure::strict ? "strict"
                                                              : "held";
}

/// Whether a failure makes a cell ready because it was announced.
bool failure_opens(const Policy& policy, const FamilyFact* fact, std::int64_t now_us) {
  return in_force(fact, now_us) && fact->state == FamilyState::expected_failure && meaning(*fact, policy) != "held";
}

/// What the policy says about families without a machine and failures that were announced.
Ruling apply_fact(const Policy& policy, const Answer& answer, const Question& question) {
  Ruling ruling{answer.kind != Answer::Kind::passed, false, answer.text, {}, answer.standing.state};
  const auto* fact = question.plan.fact;
  if (!in_force(fact, question.now_us)) {
    if (fact && ruling.held && fact->state != FamilyState::tested)
      ruling.reason += fmt::format("; \"{}\" ended {}", fact->reason, sys::rfc3339(fact->until_us).substr(0, 10));
    return ruling;
  }
  auto counts_as = meaning(*fact, policy);
  // A machine that took a job exists, and what became of the job is not excused by its absence. No later record changes
  // that: not that the job was cancelled then, nor that another one waits.
  bool no_runner = fact->state == FamilyState::no_runner && answer.kind == Answer::Kind::missing;
  if (no_runner && answer.taken)
    ruling.reason += fmt::format("; \"{}\" does not excuse it: a machine has taken a job for it", fact->reason);
  if (no_runner && !answer.taken) {
    ruling.state = SuiteState::no_runner;
    ruling.waived = counts_as == "waive";
    ruling.held = !ruling.waived;
    ruling.reason = ruling.held ? fmt::format("{}: {}", answer.text, fact->reason)
                                : fmt::format("not tested, which the policy accepts: {}", fact->reason);
  }
  if (fact->state == FamilyState::expected_failure && answer.kind == Answer::Kind::failed) {
    ruling.state = SuiteState::expected_failure;
    ruling.waived = counts_as != "held";
    ruling.held = !ruling.waived;
    ruling.reason = fmt::format("{} (expected: {})", answer.text, fact->reason);
  }
  if (fact->state == FamilyState::expected_failure && answer.kind == Answer::Kind::passed && counts_as == "strict")
    ruling = {true,
              false,
              fmt::format("{}, although a failure was expected ({}): remove the mark at {}:{}", answer.text,
                          fact->reason, policy.file, fact->line),
              {},
              ruling.state};
  return ruling;
}

/// "2026-12-15 18:00 UTC": the microseconds of an age help nobody.
std::string day_text(const sys::Timestamp& time) {
  return fmt::format("{} {} UTC", time.text().substr(0, 10), time.text().substr(11, 5));
}

void apply_waivers(Ruling& ruling, const Judging& judging, const Question& question) {
  std::string refused;
  for (const auto& stored : judging.input.waivers) {
    const auto& waiver = stored.record;
    auto status = assess(waiver, judging.input.channel, question);
    if (status.standing == Standing::unrelated) continue;
    auto defect = judging.input.revoked.contains(stored.digest) ? "it was revoked" : status.why;
    if (defect.empty()) defect = unsigned_waiver(judging.policy, judging.input.signatures, stored);
    if (defect.empty()) {
      auto asked = waiver.requester.empty() || waiver.requester == waiver.approver
                       ? std::string()
                       : fmt::format(", asked for by {}", waiver.requester);
      auto attached = waiver.attachment
                          ? fmt::format(" [{} {}]", waiver.attachment->name, waiver.attachment->sha256.short_hex())
                          : std::string();
      ruling = {false, true,
                fmt::format("waived by {}{} until {}: {} ({})", waiver.approver, asked, day_text(waiver.expires),
                            waiver.reason + attached, ruling.reason),
                stored.digest, ruling.state};
      return;
    }
    refused += fmt::format("; a waiver by {} does not count: {}", waiver.approver, defect);
  }
  ruling.reason += refused;
}

void add(CellVerdict& verdict, const Ruling& ruling) {
  verdict.reasons.push_back(ruling.reason);
  verdict.waived |= ruling.waived;
  if (ruling.waiver) verdict.waivers.push_back(*ruling.waiver);
  if (ruling.held) verdict.verdict = Decision::held;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The cells of a set; of one that was made of a candidate, with the suites that its own files must have passed.
std::vector<CellPlan> plans_of(const Judging& judging, const Subject& subject) {
  auto plans = plan_cells(judging.policy, subject);
  if (!judging.input.derived.contains(subject.digest)) return plans;
  for (auto& plan : plans)
    if (!plan.suites.empty())
      for (const auto& suite : judging.policy.derived_suites) plan.suites.try_emplace(suite, judging.policy.max_age_us);
  return plans;
}

/// The cells of a set share results.
void add_once(Findings& notes, quarry::Finding note) {
  auto same = [&](const quarry::Finding& known) { return known.place == note.place && known.message == note.message; };
  if (std::none_of(notes.begin(), notes.end(), same)) notes.push_back(std::move(note));
}

CellVerdict judge_cell(const Judging& judging, const CellPlan& plan, Findings& notes) {
  const auto& [policy, input, allied] = judging;
  CellVerdict verdict{plan.cell, plan.set, Decision::ready, false, {}, {}, {}, {}, {}, {}};
  for (const auto* file : plan.files) verdict.files.push_back(file->filename);
  std::sort(verdict.files.begin(), verdict.files.end());
  static const std::string no_suite;
  auto defect = !plan.defect.empty()  ? plan.defect
                : !plan.gap.empty()   ? plan.gap
                : plan.suites.empty() ? fmt::format("no [[require]] of policy {} covers it", policy.name)
                                      : "";
  if (!defect.empty()) {
    Ruling ruling{true, false, defect};
    if (plan.defect.empty())
      apply_waivers(ruling, judging, {policy, plan, no_suite, policy.max_age_us, input.now_us, allied});
    add(verdict, ruling);
  }
  for (const auto& [suite, max_age_us] : plan.suites) {
    Question question{policy, plan, suite, max_age_us, input.now_us, allied, rule_of(policy, suite)};
    question.failure_opens = failure_opens(policy, plan.fact, input.now_us);
    question.inherits = input.derived.contains(plan.set) && !holds(policy.derived_suites, suite);
    auto answer = answer_of(judging, question);
    verdict.evidence.insert(verdict.evidence.end(), answer.evidence.begin(), answer.evidence.end());
    if (answer.suspect) add_once(notes, suspect_finding(*answer.suspect, suite));
    if (answer.ignored) add_once(notes, *answer.ignored);
    auto ruling = apply_fact(policy, answer, question);
    if (ruling.held) apply_waivers(ruling, judging, question);
    if (ruling.held && answer.kind == Answer::Kind::missing) verdict.untested.push_back(suite);
    if (ruling.held && answer.kind == Answer::Kind::failed) verdict.failed.push_back(verdict.evidence.back());
    verdict.suites.push_back({suite, ruling.state, answer.standing.job, answer.standing.results});
    add(verdict, ruling);
  }
  if (verdict.verdict == Decision::held) verdict.waived = false;
  std::sort(verdict.waivers.begin(), verdict.waivers.end());
  verdict.waivers.erase(std::unique(verdict.waivers.begin(), verdict.waivers.end()), verdict.waivers.end());
  return verdict;
}

} // namespace

std::string_view to_string(Decision decision) { return decision == Decision::ready ? "ready" : "held"; }

Verdict judge(const Policy& policy, const Case& input) {
  Verdict verdict;
  verdict.policy = policy.name;
  verdict.policy_digest = policy.digest;
  verdict.openly = policy.openly.words();
  verdict.mode = policy.mode;
  auto allied = allied_files(input);
  Judging judging{policy, input, allied};
  note_early_attempts(input, verdict.notes);
  for (const auto& subject : input.subjects)
    for (const auto& plan : plans_of(judging, subject))
      verdict.cells.push_back(judge_cell(judging, plan, verdict.notes));
  for (const auto& plan : missing_cells(policy, input))
    verdict.cells.push_back(judge_cell(judging, plan, verdict.notes));
  verdict.would_hold = std::any_of(verdict.cells.begin(), verdict.cells.end(),
                                   [](const CellVerdict& c) { return c.verdict == Decision::held; });
  verdict.verdict = verdict.would_hold && policy.mode == Mode::enforce ? Decision::held : Decision::ready;
  return verdict;
}

std::vector<Movable> movable(const Verdict& verdict) {
  std::vector<Movable> sets;
  std::map<registry::SetDigest, std::set<std::pair<Platform, std::string>>> held;
  for (const auto& c : verdict.cells) {
    if (std::none_of(sets.begin(), sets.end(), [&](const Movable& m) { return m.set == c.set; }))
      sets.push_back({c.set, true, {}, {}});
    if (c.verdict == Decision::held) held[c.set].emplace(c.cell.platform, dist::family_key(c.cell.family));
  }
  for (auto& entry : sets) {
    std::set<std::string> files;
    for (const auto& c : verdict.cells) {
      if (c.set != entry.set) continue;
      if (c.verdict == Decision::held) entry.held.push_back(c.cell);
      if (!held[c.set].contains({c.cell.platform, dist::family_key(c.cell.family)}))
        files.insert(c.files.begin(), c.files.end());
    }
    entry.whole = entry.held.empty();
    entry.files.assign(files.begin(), files.end());
  }
  return sets;
}

} // namespace quarry::gate
