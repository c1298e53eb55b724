// A policy as the text whose digest a channel is bound to.
#include "gate/policy.hpp"

#include "base/json.hpp"
#include "gate/policy_machines.hpp"
#include "gate/signers.hpp"
#include "sys/clock.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::gate {

std::string EmptyExtra::text() const { return fmt::format("{}[{}]", project, extra); }

namespace {

std::string minutes(std::int64_t age_us) { return fmt::format("{}m", age_us / 60'000'000); }

Json states_json(const Policy& policy) {
  Json json{{"no_runner", policy.no_runner == NoRunner::held ? "held" : "waive"},
            {"expected_failure", policy.expected_failure == ExpectedFailure::held    ? "held"
                                 : policy.expected_failure == ExpectedFailure::waive ? "waive"
                                                                                     : "strict"},
            {"skipped_counts_as", policy.skipped == Skipped::passed ? "passed" : "failed"},
            {"flaky", policy.flaky == Flaky::latest ? "latest" : "any_failure_holds"}};
  if (policy.last_n_pass != 1) json["last_n_pass"] = policy.last_n_pass;
  return json;
}

Json requirement_json(const Requirement& rule) {
  Json json{
      {"platforms", rule.platforms}, {"families", rule.families}, {"pythons", rule.pythons}, {"suites", rule.suites}};
  if (rule.frameworks != std::vector<std::string>{""}) json["frameworks"] = rule.frameworks;
  if (rule.max_age_us) json["max_age"] = minutes(rule.max_age_us);
  if (!rule.backend.empty()) json["backend"] = rule.backend;
  return json;
}

Json suite_json(const SuiteRule& rule) {
  Json json{{"name", rule.name}, {"min_passed", rule.min_passed}};
  if (!rule.digests.empty()) json["digest"] = rule.digests;
  if (rule.packaged) json["packaged"] = true;
  if (rule.gpu) json["gpu"] = true;
  if (rule.reported) json["reported"] = "accept";
  if (rule.last_n_pass) json["last_n_pass"] = rule.last_n_pass;
  return json;
}

Json signer_json(const Signer& signer) {
  Json json{{"name", signer.name}, {"key", signer.key}, {"signs", Json::array()}};
  if (signer.evidence) json["signs"].push_back("evidence");
  if (signer.waivers) json["signs"].push_back("waivers");
  if (signer.verdicts) json["signs"].push_back("verdicts");
  if (signer.moves.size() == k_signed_moves.size())
    json["signs"].push_back(k_every_move);
  else
    for (const auto& move : signer.moves) json["signs"].push_back(move);
  if (!signer.revoked.empty()) json["revoked"] = signer.revoked;
  return json;
}

Json family_json(const FamilyFact& fact) {
  Json json{{"platforms", fact.platforms},
            {"families", fact.families},
            {"state", fact.state == FamilyState::tested      ? "tested"
                      : fact.state == FamilyState::no_runner ? "no_runner"
                                                             : "expected_failure"}};
  if (!fact.counts_as.empty()) json["counts_as"] = fact.counts_as;
  if (!fact.reason.empty()) json["reason"] = fact.reason;
  if (fact.until_us) json["until"] = sys::rfc3339(fact.until_us);
  return json;
}

} // namespace

std::string canonical_json(const Policy& policy) {
  auto rules = Json::array(), families = Json::array();
  for (const auto& rule : policy.requirements) rules.push_back(requirement_json(rule));
  for (const auto& fact : policy.families) families.push_back(family_json(fact));
  Json json{{"schema", "quarry.policy/1"},
            {"name", policy.name},
            {"mode", policy.mode == Mode::enforce ? "enforce" : "report_only"},
            {"max_age", minutes(policy.max_age_us)},
            {"waiver_max_age", minutes(policy.waiver_max_age_us)},
            {"approvers", policy.approvers},
            {"family_projects", policy.family_projects},
            {"states", states_json(policy)},
            {"require", rules}};
  if (!families.empty()) json["family"] = families;
  for (const auto& rule : policy.suites) json["suite"].push_back(suite_json(rule));
  machines_json(policy, json);
  for (const auto& signer : policy.signers) json["signer"].push_back(signer_json(signer));
  if (policy.requester != Requester::anybody)
    json["waiver_requester"] = policy.requester == Requester::approver ? "approver" : "another";
  for (const auto& empty : policy.empty_extras) json["empty_extras"].push_back(empty.text());
  if (!policy.derived_suites.empty()) {
    json["derived"] = "accept";
    json["derived_suites"] = policy.derived_suites;
  }
  if (auto words = policy.openly.words(); !words.empty()) json["openly"] = words;
  const auto& expect = policy.expectation;
  if (!expect.platforms.empty()) json["expect"]["platforms"] = expect.platforms;
  for (const auto& [key, names] :
       {std::pair("families", &expect.families), std::pair("pythons", &expect.pythons),
        std::pair("projects", &expect.projects), std::pair("frameworks", &expect.frameworks)})
    if (!names->empty()) json["expect"][key] = *names;
  return json::text(json);
}

} // namespace quarry::gate
