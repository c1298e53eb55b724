#include "retain/plan.hpp"

#include "base/json.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace quarry::retain {

using registry::Retirement;
using registry::SetDigest;

namespace {

constexpr std::int64_t k_day_us = 24LL * 3600 * 1'000'000;

/// Where its run's outputs lie, without the run: "linux/python/gfx94X-dcgpu". nullopt: it is not the output of a run.
std::optional<std::string> place_in_run(const Entry& entry) {
  const auto& directory = entry.set.directory;
  auto first = directory.find('/');
  if (first == directory.npos) return std::nullopt;
  auto second = directory.find('/', first + 1);
  for (auto end : {first, second}) {
    if (end == directory.npos) continue;
    auto layout = run::Layout::parse(directory.substr(0, end));
    if (layout) return fmt::format("{}{}{}", layout->external_repo(), layout->platform().text(), directory.substr(end));
  }
  return std::nullopt;
}

/// Weeks begin on Mondays; 1970 began on a Thursday.
std::int64_t week_of(std::int64_t us) { return (us / k_day_us + 3) / 7; }

std::set<SetDigest> first_of_each_week(const std::vector<Entry>& entries) {
  using Week = std::tuple<std::string, ReleaseType, std::int64_t>;
  std::map<Week, std::pair<std::int64_t, SetDigest>> first;
  for (const auto& entry : entries) {
    auto place = place_in_run(entry);
    if (!entry.sealed() || !place) continue;
    std::pair sealed{entry.sealed_us, entry.digest};
    auto [known, added] = first.emplace(Week{*place, release_type_of(entry.set), week_of(entry.sealed_us)}, sealed);
    if (!added) known->second = std::min(known->second, sealed);
  }
  std::set<SetDigest> sets;
  for (const auto& [week, sealed] : first) sets.insert(sealed.second);
  return sets;
}

Leaving leaving_of(const Entry& entry, const std::string& rule) {
  return {entry.digest,           entry.set.directory, rule,
          entry.set.files.size(), entry.bytes(),       sys::Timestamp::from_us(entry.sealed_us).text()};
}

/// The last time that somebody wanted it: sealed it, or took it back.
std::int64_t wanted_us(const Entry& entry) {
  return entry.is(Retirement::kept) ? std::max(entry.sealed_us, entry.retired->record.since.us()) : entry.sealed_us;
}

class Planner {
public:
  Planner(const Inventory& inventory, const Rules& rules, std::int64_t now_us)
      : inventory_(inventory), rules_(rules), now_us_(now_us), weekly_(first_of_each_week(inventory.entries)) {}

  void add(const Entry& entry, Plan& plan) const {
    auto named = inventory_.named.find(entry.digest);
    if (!entry.sealed()) return add_retired(entry, named != inventory_.named.end(), plan);
    const auto* rule = rule_for(entry);
    bool old = rule && rule->keep_us && now_us_ - wanted_us(entry) >= *rule->keep_us;
    if (!old)
      ++plan.staying;
    else if (named != inventory_.named.end())
      plan.spared.push_back({entry.digest, named->second + " names it"});
    else
      plan.tombstone.push_back(leaving_of(entry, rule->name));
  }

private:
  const Rule* rule_for(const Entry& entry) const {
    if (!place_in_run(entry)) return nullptr;
    auto type = release_type_of(entry.set);
    for (const auto& rule : rules_.rules) {
      bool fits = rule.release_types.empty() || std::ranges::find(rule.release_types, type) != rule.release_types.end();
      if (fits && (rule.runs == RunKind::any || weekly_.contains(entry.digest))) return &rule;
    }
    return nullptr;
  }

  void add_retired(const Entry& entry, bool named, Plan& plan) const {
    const auto& record = entry.retired->record;
    if (entry.is(Retirement::kept) || (named && entry.is(Retirement::tombstoned)))
      plan.restore.push_back(leaving_of(entry, record.rule));
    else if (entry.is(Retirement::purging) || (entry.is(Retirement::tombstoned) && record.until.us() <= now_us_))
      plan.purge.push_back(leaving_of(entry, record.rule));
  }

  const Inventory& inventory_;
  const Rules& rules_;
  std::int64_t now_us_;
  std::set<SetDigest> weekly_;
};

} // namespace

std::string to_json(const Plan& plan) {
  auto sets = [](const std::vector<Leaving>& leaving) {
    auto list = Json::array();
    for (const auto& each : leaving) list.push_back({{"set", each.set.hex()}, {"rule", each.rule}});
    return list;
  };
  Json json{{"schema", "quarry.retain-plan/1"},  {"rules", plan.rules},       {"grace_us", plan.grace_us},
            {"tombstone", sets(plan.tombstone)}, {"purge", sets(plan.purge)}, {"restore", sets(plan.restore)}};
  return json::text(json);
}

std::uint64_t Entry::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& file : set.files) sum += file.size;
  return sum;
}

Plan make_plan(const Inventory& inventory, const Rules& rules, std::int64_t now_us) {
  Plan plan;
  plan.rules = rules.name;
  plan.grace_us = rules.grace_us;
  plan.notes = inventory.notes;
  Planner planner(inventory, rules, now_us);
  for (const auto& entry : inventory.entries) planner.add(entry, plan);
  auto order = [](const Leaving& l) { return std::tie(l.sealed, l.set); };
  for (auto* list : {&plan.tombstone, &plan.purge, &plan.restore})
    std::ranges::sort(*list, [&](const Leaving& a, const Leaving& b) { return order(a) < order(b); });
  plan.digest = registry::PlanDigest(sha256(to_json(plan)));
  return plan;
}

void spare(Plan& plan, std::vector<Spared> spared) {
  for (auto& each : spared) {
    std::erase_if(plan.tombstone, [&](const Leaving& leaving) { return leaving.set == each.set; });
    plan.spared.push_back(std::move(each));
  }
  plan.digest = registry::PlanDigest(sha256(to_json(plan)));
}

} // namespace quarry::retain
