#include "cli/set_rules.hpp"

#include "closure/closure_rules.hpp"
#include "closure/coherence.hpp"
#include <iterator>
#include <utility>

namespace quarry::cli {

namespace {
constexpr const char* k_coherence = "data/coherence.toml";
} // namespace

Flag allow_missing_flag() {
  return {.name = "--allow-missing",
          .value = "PROJECT",
          .help = "a dependency that people get from elsewhere, such as 'nvidia-*'",
          .repeats = true};
}

Result<Findings> findings_of_set(const Context& context, const std::vector<closure::Package>& set,
                                 const SetRules& rules) {
  TRY(auto groups, closure::parse_coherence({context.resources.read(k_coherence).value_or(""), k_coherence}));
  TRY(auto targets, closure::targets_of(set, rules.pythons, rules.platforms));
  closure::ClosureQuestion question{std::move(targets.targets), nullptr, {}, rules.assumed};
  if (rules.base) {
    question.base = &rules.base->candidates();
    question.base_name = rules.base->name();
  }
  TRY(auto findings, closure::check_closure(set, question));
  auto add = [&](Findings more) { std::ranges::move(more, std::back_inserter(findings)); };
  add(closure::check_coherence(set, groups));
  if (rules.last_good) add(closure::check_change(set, *rules.last_good));
  add(closure::check_budgets(set, rules.budgets));
  if (rules.claims) add(closure::check_claims(set, *rules.claims));
  add(std::move(targets.notes));
  return findings;
}

} // namespace quarry::cli
