#include "gate/agreement.hpp"

#include "base/text.hpp"
#include "gate/family.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::gate {

namespace {
bool covers_place(const FamilyFact& fact, const matrix::Family& family, const matrix::Place& place) {
  return covers(fact.platforms, place.platform.text()) && covers(fact.families, family.name);
}

std::string place_of(const Policy& policy, const FamilyFact& fact) {
  return fmt::format("{}:{}: family", policy.file, fact.line);
}

void check_place(const Policy& policy, const matrix::Family& family, const matrix::Place& place, Findings& found) {
  auto fact = std::find_if(policy.families.begin(), policy.families.end(),
                           [&](const FamilyFact& f) { return covers_place(f, family, place); });
  bool known = fact != policy.families.end(), has_runner = place.find("test") != nullptr;
  if (has_runner && known && fact->state == FamilyState::no_runner)
    found.push_back({"G021", Severity::warning, place_of(policy, *fact),
                     fmt::format("says no_runner of {} on {}, which has one", family.name, place.platform),
                     "remove the entry, so that its tests count"});
  if (!has_runner && !known)
    found.push_back(
        {"G022", Severity::note, policy.file,
         fmt::format("{} on {} has no runner: it is held for want of evidence", family.name, place.platform),
         "add a [[family]] with state no_runner and the reason, which the verdict then tells"});
}
} // namespace

Findings compare_with_families(const Policy& policy, const matrix::Families& families) {
  Findings found;
  for (const auto& fact : policy.families) {
    bool used = std::any_of(families.families.begin(), families.families.end(), [&](const matrix::Family& family) {
      return std::any_of(family.places.begin(), family.places.end(),
                         [&](const matrix::Place& place) { return covers_place(fact, family, place); });
    });
    if (!used)
      found.push_back({"G020", Severity::warning, place_of(policy, fact),
                       fmt::format("{} covers no family of {}", text::join(fact.families, ", "), families.name),
                       "correct the name, or remove the entry"});
  }
  for (const auto& family : families.families)
    for (const auto& place : family.places) check_place(policy, family, place, found);
  return found;
}

} // namespace quarry::gate
