#include "cli/set_rules.hpp"

#include "cli/base_index.hpp"
#include "cli/records.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <set>
#include <utility>

namespace quarry::cli {

namespace {
constexpr const char* k_coherence = "data/coherence.toml";
constexpr std::uint64_t k_claims_bytes_max = 1u << 20; // a few hundred lines are usual

Result<closure::Expected> read_expectations(const Context& context, const Arguments& arguments) {
  closure::Expected expected;
  for (const auto& text : arguments.list("--budget")) {
    TRY(auto budget, closure::parse_budget(text));
    expected.budgets.push_back(std::move(budget));
  }
  if (auto file = arguments.find("--claims")) {
    TRY(auto text, sys::read_file(*file, k_claims_bytes_max), "while reading --claims");
    TRY(auto claims, closure::parse_claims({text, *file}));
    expected.claims = std::move(claims);
  }
  if (auto against = arguments.find("--against")) {
    TRY(auto last_good, closure::packages_of(*against, opener_of_store(context, arguments)), "while reading --against");
    expected.last_good = closure::LastGood{std::move(last_good.packages)};
  }
  return expected;
}
} // namespace

Flag allow_missing_flag() {
  return {.name = "--allow-missing",
          .value = "PROJECT",
          .help = "a dependency that people get from elsewhere, such as 'nvidia-*'",
          .repeats = true};
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

closure::OpenStore opener_of_store(const Context& context, const Arguments& arguments) {
  return [&context, place = arguments.get("--store")](
             const std::string& operand) -> Result<std::shared_ptr<store::ObjectReader>> {
    if (place.empty())
      return fail(ErrorKind::invalid_argument, "Q006", fmt::format("{} needs a store to look in", operand),
                  "add `--store file:PATH` or set QUARRY_STORE");
    TRY(auto store, open_store(context, place));
    return std::shared_ptr<store::ObjectReader>(std::move(store));
  };
}

Result<closure::SetRules> read_set_rules(const Context& context, const Arguments& arguments) {
  closure::SetRules rules;
  rules.assumed = arguments.list("--allow-missing");
  TRY(rules.coherence, closure::parse_coherence({context.resources.read(k_coherence).value_or(""), k_coherence}));
  TRY(rules.expected, read_expectations(context, arguments));
  return rules;
}

void set_base(closure::SetRules& rules, BaseIndex* base) {
  rules.base = base ? &base->candidates() : nullptr;
  rules.base_name = base ? base->name() : std::string();
}

Result<Findings> findings_of_claimed_targets(const Context& context, const closure::SetRules& rules,
                                             const Wheels& wheels) {
  const auto& claims = rules.expected.claims;
  if (!claims || claims->targets.empty()) return Findings();
  TRY(auto operands, wheels());
  TRY(auto code, inspect::list_device_code(operands, {context.jobs, temporary_of(context)}));
  std::set<std::string> made;
  for (const auto& file : code.files)
    for (const auto& object : file.contents.objects) made.insert(object.target.str());
  return closure::check_claimed_targets(*claims, made);
}

} // namespace quarry::cli
