#include "cli/set_rules.hpp"

#include "cli/records.hpp"
#include "cli/set_packages.hpp"
#include "closure/closure_rules.hpp"
#include "closure/coherence.hpp"
#include "closure/shared_files.hpp"
#include "sys/file.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace quarry::cli {

namespace {
constexpr const char* k_coherence = "data/coherence.toml";
constexpr std::uint64_t k_claims_bytes_max = 1u << 20; // a few hundred lines are usual

Result<content::Rope> rope_of(const PackageBytes& bytes) {
  if (!bytes.store) return content::Rope::file(bytes.path);
  return bytes.store->open(bytes.key);
}
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
  add(closure::check_device_code(set));
  if (rules.last_good) add(closure::check_change(set, *rules.last_good));
  add(closure::check_budgets(set, rules.budgets));
  if (rules.claims) add(closure::check_claims(set, *rules.claims));
  add(std::move(targets.notes));
  return findings;
}

Result<Findings> findings_of_shared_files(const Context& context, const SetPackages& set, const SetRules& rules) {
  std::vector<closure::InstalledFiles> wheels;
  std::vector<const PackageBytes*> bytes; // of each wheel
  for (auto i : closure::wheels_to_compare(set.packages)) {
    const auto& place = set.bytes[i];
    if (!place.store && place.path.empty()) continue;
    wheels.push_back({set.packages[i], {}});
    bytes.push_back(&place);
  }
  TRY_DO(parallel_for(wheels.size(), context.jobs, [&](std::size_t i) -> Result<void> {
    TRY(auto rope, rope_of(*bytes[i]), "while reading " + wheels[i].package.file);
    TRY(wheels[i].files, wheel::owned_files(rope, wheels[i].package.file));
    return {};
  }));
  TRY(auto targets, closure::targets_of(set.packages, rules.pythons, rules.platforms));
  return closure::check_shared_files(wheels, targets.targets);
}

std::vector<Flag> expectation_flags() {
  return {
      {.name = "--against", .value = "LOCATOR", .help = "the last good set: what was lost, shrank, or sorts below it"},
      {.name = "--budget",
       .value = "SIZE",
       .help = "12GB for the whole set, torch=2.5GB for each file of a project",
       .repeats = true},
      {.name = "--claims", .value = "FILE", .help = "what a workflow says that it makes (docs/formats/set-check.md)"}};
}

Result<void> read_expectations(const Context& context, const Arguments& arguments, SetRules& rules) {
  for (const auto& text : arguments.list("--budget")) {
    TRY(auto budget, closure::parse_budget(text));
    rules.budgets.push_back(std::move(budget));
  }
  if (auto file = arguments.find("--claims")) {
    TRY(auto text, sys::read_file(*file, k_claims_bytes_max), "while reading --claims");
    TRY(auto claims, closure::parse_claims({text, *file}));
    rules.claims = std::move(claims);
  }
  if (auto against = arguments.find("--against")) {
    TRY(auto last_good, packages_of(context, *against, arguments.get("--store")), "while reading --against");
    rules.last_good = closure::LastGood{std::move(last_good.packages)};
  }
  return {};
}

Result<Findings> findings_of_claimed_targets(const Context& context, const SetRules& rules, const Wheels& wheels) {
  if (!rules.claims || rules.claims->targets.empty()) return Findings();
  TRY(auto operands, wheels());
  TRY(auto code, inspect::list_device_code(operands, {context.jobs, temporary_of(context)}));
  std::set<std::string> made;
  for (const auto& file : code.files)
    for (const auto& object : file.contents.objects) made.insert(object.target.str());
  return closure::check_claimed_targets(*rules.claims, made);
}

} // namespace quarry::cli
