#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/rule_report.hpp"
#include "cli/set_packages.hpp"
#include "cli/set_rules.hpp"
#include "inspect/device_code.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_claims_bytes_max = 1u << 20; // a few hundred lines are usual

/// What all operands hold together, each file once.
Result<SetPackages> packages_of_all(const Context& context, const Arguments& arguments) {
  SetPackages all;
  std::set<std::string> seen;
  for (const auto& operand : arguments.operands) {
    TRY(auto one, packages_of(context, operand, arguments.get("--store")));
    for (auto& package : one.packages)
      if (seen.insert(package.file).second) all.packages.push_back(std::move(package));
    all.paths.insert(all.paths.end(), one.paths.begin(), one.paths.end());
    all.all_here = all.all_here && one.all_here;
  }
  return all;
}

Result<SetRules> rules_of_arguments(const Context& context, const Arguments& arguments) {
  SetRules rules;
  rules.pythons = arguments.get("--python");
  rules.platforms = arguments.find("--platform");
  rules.assumed = arguments.list("--allow-missing");
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
  return rules;
}

/// The targets of the device code in the wheels, which are looked into only if somebody claims a target.
Result<Findings> findings_of_targets(Context& context, const SetPackages& set, const closure::Claims& claims) {
  if (claims.targets.empty()) return Findings();
  if (!set.all_here)
    return fail(ErrorKind::unsupported, "Q435",
                "the wheels are in a store far away, and their device code is not looked for there",
                "check the directory before it is published, or leave `targets` out of the claims");
  TRY(auto code, inspect::list_device_code(set.paths, {context.jobs, temporary_of(context)}));
  std::set<std::string> made;
  for (const auto& file : code.files)
    for (const auto& object : file.contents.objects) made.insert(object.target.str());
  return closure::check_claimed_targets(claims, made);
}

Json packages_json(const std::vector<closure::Package>& packages) {
  Json out = Json::array();
  for (const auto& package : packages)
    out.push_back({{"filename", package.file},
                   {"project", package.project},
                   {"version", package.version.str()},
                   {"size", package.size},
                   {"requirements_known", package.requirements_known}});
  return out;
}

Result<int> run_set_check(Context& context, const Arguments& arguments) {
  TRY(auto rules, rules_of_arguments(context, arguments));
  TRY(auto set, packages_of_all(context, arguments));
  TRY(auto base, open_base_index(context, arguments.get("--base-index"), arguments.get("--store")));
  rules.base = base.get();
  TRY(auto findings, findings_of_set(context, set.packages, rules));
  if (rules.claims) {
    TRY(auto targets, findings_of_targets(context, set, *rules.claims));
    findings.insert(findings.end(), targets.begin(), targets.end());
  }
  TRY(auto report, judged_by_rules(context, arguments, std::move(findings)));
  Json document = {{"schema", "quarry.set-check/1"},
                   {"packages", packages_json(set.packages)},
                   {"base_index", base ? Json(base->name()) : Json(nullptr)}};
  TRY_DO(print_rule_report(context, arguments, report,
                           {"quarry set check", units::things(set.packages.size(), "package")}, std::move(document)));
  return has_errors(report.findings) ? traits(ErrorKind::failed).exit_code : 0;
}

std::vector<Flag> set_check_flags() {
  std::vector<Flag> flags{
      {.name = "--store",
       .value = "LOCATOR",
       .help = "the store that sets, runs and channels are in",
       .environment = "QUARRY_STORE"},
      {.name = "--python",
       .value = "LIST",
       .help = "Pythons that it is installed on, such as 3.10,3.12 (default: as the tags say)"},
      {.name = "--platform", .value = "LIST", .help = "linux, windows or both (default: as the tags say)"},
      base_index_flag(),
      allow_missing_flag(),
      {.name = "--against", .value = "LOCATOR", .help = "the last good set: what was lost, shrank, or sorts below it"},
      {.name = "--budget",
       .value = "SIZE",
       .help = "12GB for the whole set, torch=2.5GB for each file of a project",
       .repeats = true},
      {.name = "--claims", .value = "FILE", .help = "what a workflow says that it makes (docs/formats/set-check.md)"},
      rule_profile_flag("")};
  for (auto& flag : rule_report_flags()) flags.push_back(std::move(flag));
  return flags;
}
} // namespace

Command set_check_command() {
  return {
      .path = {"set", "check"},
      .summary = "look for what would fail when the packages of a set are installed together",
      .description =
          "Reads METADATA of each package of the sets or directories, which count as one set. Then, for each Python "
          "and platform:\n\n"
          "- closure: each requirement of each package, with each of its extras, must have a version that fits all who "
          "ask, in the set or in the base index (codes Q401 to Q408). What the set has is never taken from the base "
          "index. Quarry's own resolver searches; no installer is run;\n"
          "- coherence: packages that only work together when one build made them have the same version, or the same "
          "part behind `+` (Q411, Q412; data/coherence.toml);\n"
          "- with `--against`, the last good set: versions that installers would take for older (`+rocm10` sorts below "
          "`+rocm7`), files that are missing, files that lost a fifth of their size (Q421, Q423, Q424);\n"
          "- with `--budget`, sizes (Q422);\n"
          "- with `--claims`, the files, Pythons and GPU targets that a workflow said it would make (Q431 to Q433).\n\n"
          "Without `--profile`, findings are as severe as `quarry explain CODE` says. `--profile` names a rule "
          "profile: "
          "`store` is what `publish` asks, `release` what people should get. Rule profiles have nothing to do with the "
          "compression profiles of `sdk build`.\n\n"
          "Only METADATA is read: a set of 10 GB takes as long as one of 10 MB. Claimed targets are the exception; for "
          "them the wheels are looked into.",
      .operands = {{"LOCATOR", "a directory of packages, or set:DIGEST, run:ID, channel:NAME", true, true}},
      .flags = set_check_flags(),
      .examples = {{"quarry set check dist --base-index https://pypi.org/simple",
                    "can everything in the directory be installed with what PyPI has?"},
                   {"quarry set check run:42-linux --store file:store --against channel:stable --profile release",
                    "may this run become the next release?"},
                   {"quarry set check dist --format github --suppressions rules/accepted.toml",
                    "in a GitHub job: annotations, and all findings in the step summary"}},
      .exit_codes = {{1, "a finding is an error"},
                     {2, "a file of rules, claims or suppressions, or a flag, is invalid"},
                     {3, "a directory, set or base index does not exist"},
                     {5, "the base index cannot be reached"},
                     {6, "a package or record is broken"}},
      .schema = "quarry.set-check/1",
      .run = run_set_check};
}

} // namespace quarry::cli
