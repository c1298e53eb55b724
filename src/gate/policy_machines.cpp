#include "gate/policy_machines.hpp"

#include "base/text.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::gate {

namespace {

constexpr std::int64_t k_last_n_pass_max = 100; // more would hold everything: a result needs a machine for an hour
constexpr std::int64_t k_patience_unit_us = 60'000'000; // ages are written in minutes

Result<void> read_set_aside(TomlTable& table, const Policy& policy, SetAside& into) {
  TRY_DO(table.text("name", into.name, true));
  TRY_DO(table.text("reason", into.reason, true));
  std::string until;
  TRY_DO(table.text("until", until, true));
  if (text::trim(into.name).empty()) return table.error("name", "is empty");
  if (text::trim(into.reason).empty()) return table.error("reason", "is empty: say why, for the people who read it");
  for (const auto& known : policy.machines)
    if (known.name == into.name) return table.error("name", fmt::format("\"{}\" is set aside already", into.name));
  auto end = parse_until(until);
  if (!end) return table.error("until", end.error().message);
  into.until_us = *end;
  return {};
}

Result<void> read_limit(TomlTable& table, const std::string& key, std::int64_t& into) {
  std::string value;
  TRY_DO(table.text(key, value));
  if (!table.has(key)) return {};
  auto age = parse_age(value);
  if (!age) return table.error(key, age.error().message);
  into = *age;
  return {};
}

std::string limit_text(std::int64_t age_us) { return fmt::format("{}m", age_us / k_patience_unit_us); }

} // namespace

Result<void> read_machines(TomlTable& root, Policy& policy) {
  TRY_DO(root.tables("machine", [&](TomlTable& table) -> Result<void> {
    SetAside machine;
    TRY_DO(read_set_aside(table, policy, machine));
    policy.machines.push_back(std::move(machine));
    return {};
  }));
  return root.table("attempts", [&](TomlTable& table) -> Result<void> {
    TRY_DO(read_limit(table, "queue_limit", policy.patience.queue_us));
    return read_limit(table, "run_limit", policy.patience.run_us);
  });
}

Result<void> read_backend(TomlTable& table, Requirement& into) {
  std::string backend = "gpu";
  TRY_DO(table.choice("backend", backend, {"gpu", "cpu"}));
  into.backend = backend == "cpu" ? "cpu" : "";
  bool any = std::find(into.families.begin(), into.families.end(), "*") != into.families.end();
  if (into.backend.empty() || any) return {};
  return table.error("backend", "\"cpu\" counts for no GPU family: families must be [\"*\"]");
}

Result<void> read_reported(TomlTable& table, SuiteRule& into) {
  std::string reported = "refuse";
  TRY_DO(table.choice("reported", reported, {"refuse", "accept"}));
  into.reported = reported == "accept";
  if (into.reported && !into.gpu) return table.error("reported", "has no meaning without gpu = true");
  return {};
}

Result<void> read_last_n_pass(TomlTable& table, std::int64_t& into) {
  TRY_DO(table.integer("last_n_pass", into));
  if (table.has("last_n_pass") && (into < 1 || into > k_last_n_pass_max))
    return table.error("last_n_pass", fmt::format("must be from 1 to {}", k_last_n_pass_max));
  return {};
}

Result<void> check_reported(const TomlTable& root, const Policy& policy) {
  bool asked = std::any_of(policy.suites.begin(), policy.suites.end(), [](const SuiteRule& r) { return r.reported; });
  bool stands = std::any_of(policy.signers.begin(), policy.signers.end(),
                            [](const Signer& s) { return s.evidence && s.revoked.empty(); });
  if (!asked || stands) return {};
  return root.error("suite", "reported = \"accept\" needs a [[signer]] of evidence: nobody would stand for the report");
}

void machines_json(const Policy& policy, Json& json) {
  for (const auto& machine : policy.machines)
    json["machine"].push_back(
        {{"name", machine.name}, {"reason", machine.reason}, {"until", sys::rfc3339(machine.until_us)}});
  const auto& patience = policy.patience;
  if (patience.queue_us != Patience::k_default_us) json["attempts"]["queue_limit"] = limit_text(patience.queue_us);
  if (patience.run_us != Patience::k_default_us) json["attempts"]["run_limit"] = limit_text(patience.run_us);
}

} // namespace quarry::gate
