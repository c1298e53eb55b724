#include "matrix/check.hpp"

#include "base/text.hpp"
#include "matrix/expand.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::matrix {

namespace {
std::string place_of(const Families& families, const Family& family, const Place& place) {
  return fmt::format("{}:{}: family.{}.{}", families.file, place.line, family.key, place.platform);
}

void check_place(const Families& families, const Family& family, const Place& place, Findings& found) {
  auto where = place_of(families, family, place);
  if (!place.find("test"))
    found.push_back({"F021", Severity::note, where, "has no test runner: gates hold it until somebody takes the risk",
                     "add runners.test, or a waiver for each release"});
  else if (place.fetch.empty())
    found.push_back({"F020", Severity::warning, where, "has a test runner, but tests would fetch no target's artifacts",
                     "add fetch"});
  bool exception = !place.expected_failure.empty() || place.release_untested;
  if (exception && place.reason.empty())
    found.push_back({"F022", Severity::note, where,
                     place.release_untested ? "is released untested and does not say why"
                                            : "is expected to fail and does not say why",
                     "add reason, so that somebody can end the exception"});
}

/// Everything that a platform could run at once.
void check_size(const Families& families, const Platform& platform, Findings& found) {
  if (!families.variants.contains(platform)) return;
  auto all = expand(families, {text::join(families.tiers, ","), platform, {}, {"all"}, ""});
  if (!all) return;
  if (auto matrix = github_matrix(*all); !matrix)
    found.push_back({"F023", Severity::error, families.file,
                     fmt::format("all families and variants of {}: {}", platform, matrix.error().message),
                     matrix.error().hint});
}

void check_targets(const Families& families, Findings& found) {
  std::set<std::string> held;
  for (const auto& family : families.families)
    for (auto& target : families.targets_of(family.name)) held.insert(target);
  for (const auto& target : families.targets)
    if (!held.contains(target.name))
      found.push_back({"F024", Severity::note, families.file,
                       fmt::format("target {} is in no family that is built", target.name), ""});
}
} // namespace

Findings check_families(const Families& families) {
  Findings found;
  for (const auto& family : families.families)
    for (const auto& place : family.places) check_place(families, family, place, found);
  check_targets(families, found);
  for (const auto& platform : Platform::all()) check_size(families, platform, found);
  return found;
}

} // namespace quarry::matrix
