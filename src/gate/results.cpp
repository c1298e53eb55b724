#include "gate/results.hpp"

#include "gate/shards.hpp"
#include "gate/signed.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::gate {

namespace {
using registry::EvidenceRecord;
using registry::Outcome;

constexpr std::size_t k_refused_shown = 3; // reasons are read by people; the newest refused records tell most
} // namespace

bool is_pass(const EvidenceRecord& e, const Policy& policy) {
  return e.result == Outcome::passed && (policy.skipped == Skipped::passed || e.skipped == 0);
}

void put_in_order(const Policy& policy, Sorted& sorted) {
  std::stable_sort(sorted.counted.begin(), sorted.counted.end(), [&](const Counted& a, const Counted& b) {
    return a.ended_us != b.ended_us ? a.ended_us < b.ended_us
                                    : is_pass(a.stored->record, policy) && !is_pass(b.stored->record, policy);
  });
  std::stable_sort(sorted.refused.begin(), sorted.refused.end(),
                   [](const Refused& a, const Refused& b) { return a.ended_us > b.ended_us; });
}

Sorted sort_evidence(const Judging& judging, const Question& question) {
  const auto& policy = judging.policy;
  Sorted sorted;
  auto look = [&](const registry::Stored<EvidenceRecord>& stored, bool inherited) {
    auto known = judging.input.stored_us.find(stored.digest);
    auto status = assess(stored.record, question, known == judging.input.stored_us.end() ? 0 : known->second);
    bool may_open = stored.record.result == Outcome::passed || question.failure_opens;
    if (status.standing == Standing::counts && may_open) {
      status.why = unsigned_evidence(policy, judging.input.signatures, stored);
      if (!status.why.empty()) status.standing = Standing::refused;
    }
    if (status.standing == Standing::counts) sorted.counted.push_back({&stored, status.ended_us, inherited});
    if (status.standing == Standing::refused) sorted.refused.push_back({&stored, status.ended_us, status.why});
  };
  for (const auto& stored : judging.input.evidence) look(stored, false);
  if (question.inherits)
    for (const auto& stored : judging.input.inherited) look(stored, true);
  put_in_order(policy, sorted);
  join_shards(question, sorted);
  return sorted;
}

std::size_t asked_passes(const Policy& policy, const SuiteRule* rule) {
  return static_cast<std::size_t>(rule && rule->last_n_pass ? rule->last_n_pass : policy.last_n_pass);
}

const Counted& deciding(const Policy& policy, const Sorted& sorted, std::size_t asked) {
  auto looked_at = policy.flaky == Flaky::any_failure_holds ? sorted.counted.size() : asked;
  for (auto at = sorted.counted.rbegin(); at != sorted.counted.rend() && looked_at; ++at, --looked_at)
    if (!is_pass(at->stored->record, policy)) return *at;
  return sorted.counted.back();
}

ResultCount count_results(const Policy& policy, const Sorted& sorted) {
  auto passed = std::count_if(sorted.counted.begin(), sorted.counted.end(),
                              [&](const Counted& one) { return is_pass(one.stored->record, policy); });
  return {static_cast<std::size_t>(passed), sorted.counted.size()};
}

std::string missing_text(const std::string& suite, const Sorted& sorted) {
  if (sorted.refused.empty()) return fmt::format("no evidence of {}", suite);
  auto text = fmt::format("{} has not passed on these files", suite);
  std::set<std::string> said;
  for (const auto& [stored, ended, why] : sorted.refused) {
    if (said.size() == k_refused_shown) break;
    if (said.insert(why).second) text += fmt::format("{} result {}", said.size() == 1 ? ": one" : "; another", why);
  }
  return text;
}

std::string failure_text(const EvidenceRecord& e) {
  if (e.result == Outcome::timed_out) return fmt::format("{} ran into its deadline", e.suite);
  if (e.result == Outcome::passed)
    return fmt::format("{} skipped {} of {}, and the policy counts that as failed", e.suite, e.skipped,
                       e.passed + e.skipped);
  auto total = e.passed + e.failed + e.skipped + e.errors;
  auto first = std::find_if(e.rows.begin(), e.rows.end(),
                            [](const auto& r) { return r.outcome == Outcome::failed || r.outcome == Outcome::error; });
  return fmt::format("{} failed {} of {}{}", e.suite, e.failed + e.errors, total,
                     first == e.rows.end() ? "" : ": " + first->name);
}

std::string pass_text(const EvidenceRecord& e, const PassedOn& passed) {
  auto host = e.machine.find("host");
  auto gpu = e.machine.find("gpu");
  bool no_gpu = gpu != e.machine.end() && gpu->second == "none"; // what was skipped there is what needs a GPU
  auto skipped = e.skipped ? fmt::format(", {} skipped{}", e.skipped, no_gpu ? ": no GPU" : "") : "";
  const auto& [of_them_passed, all] = passed.results;
  auto attempts = of_them_passed == all ? "" : fmt::format("; {} of {} results within its age", of_them_passed, all);
  return fmt::format("{} passed on {} {} ago ({}{} passed{}{})", e.suite, passed.on, age_text(passed.age_us),
                     host == e.machine.end() ? "" : host->second + ", ", e.passed, skipped, attempts);
}

} // namespace quarry::gate
