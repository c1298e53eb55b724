#include "base/units.hpp"
#include "cli/base_index.hpp"
#include "cli/commands.hpp"
#include "cli/rule_report.hpp"
#include "cli/set_rules.hpp"
#include "cli/shared_flags.hpp"
#include "inspect/set_rules.hpp"
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
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

/// Wheels that compete: their names tell it, so it costs nothing to say it before a release, too.
Findings competing(const std::vector<closure::Package>& packages) {
  std::vector<inspect::Competitor> wheels;
  for (const auto& package : packages)
    if (auto name = dist::WheelName::parse(package.file); package.tags && name)
      wheels.push_back({package.file, package.file, std::move(*name), {}});
  return inspect::check_set(wheels);
}

/// The wheels, to be looked into. One request for each that is in a store far away.
Result<std::vector<inspect::DeviceOperand>> wheels_of_set(const closure::SetPackages& set) {
  std::vector<inspect::DeviceOperand> wheels;
  for (std::size_t i = 0; i < set.packages.size(); ++i) {
    const auto& bytes = set.bytes[i];
    if (!set.packages[i].tags) continue;
    if (!bytes.store) {
      wheels.push_back({bytes.path});
      continue;
    }
    TRY(auto rope, closure::open_package(bytes), "while reading " + bytes.key);
    wheels.push_back({bytes.store->url(bytes.key), std::move(rope), true});
  }
  return wheels;
}

Result<int> run_set_check(Context& context, const Arguments& arguments) {
  TRY(auto rules, read_set_rules(context, arguments));
  rules.pythons = arguments.get("--python");
  rules.platforms = arguments.find("--platform");
  TRY(auto inputs, rule_inputs_of(context, arguments, "quarry.set-check/1"));
  TRY(auto set, closure::packages_of_all(arguments.operands, opener_of_store(context, arguments)));
  TRY(auto base, open_base_index(context, arguments.get("--base-index"), arguments.get("--store")));
  set_base(rules, base.get());
  TRY(auto findings, closure::check_set(set.packages, rules));
  TRY(auto targets, findings_of_claimed_targets(context, rules, [&] { return wheels_of_set(set); }));
  std::ranges::move(targets, std::back_inserter(findings));
  TRY(auto shared, closure::check_files_of_set(set, rules, context.jobs));
  std::ranges::move(shared, std::back_inserter(findings));
  std::ranges::move(set.findings, std::back_inserter(findings));
  std::ranges::move(competing(set.packages), std::back_inserter(findings));
  TRY(auto report, judged_by_rules(context, std::move(inputs), {std::move(findings), closure::is_rule_of_sets}));
  Json document = {{"packages", packages_json(set.packages)},
                   {"base_index", base ? Json(base->name()) : Json(nullptr)}};
  TRY_DO(print_rule_report(context, arguments, report,
                           {"quarry set check", units::things(set.packages.size(), "package")}, std::move(document)));
  return has_errors(report.findings) ? traits(ErrorKind::failed).exit_code : 0;
}

std::vector<Flag> set_check_flags() {
  std::vector<Flag> flags{
      store_of_sets_flag(),
      {.name = "--python",
       .value = "LIST",
       .help = "Pythons that it is installed on, such as 3.10,3.12 (default: as the tags say)"},
      {.name = "--platform", .value = "LIST", .help = "linux, windows or both (default: as the tags say)"},
      base_index_flag(),
      allow_missing_flag(),
      rule_profile_flag("")};
  for (auto& flag : expectation_flags()) flags.push_back(std::move(flag));
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
          "part behind `+` (Q411, Q412; data/coherence.toml), and `rocm` knows the target of each package of device "
          "code (Q413);\n"
          "- with `--against`, the last good set: versions that installers would take for older (`+rocm10` sorts below "
          "`+rocm7`), files that are missing, files that lost a fifth of their size (Q421, Q423, Q424);\n"
          "- with `--budget`, sizes (Q422);\n"
          "- with `--claims`, the files, Pythons and GPU targets that a workflow said it would make (Q431 to Q433);\n"
          "- one file name with different bytes in two operands (Q437);\n"
          "- wheels of two projects that install one file (Q438);\n"
          "- wheels that compete for one installer: which one is installed (Q241, Q242).\n\n"
          "Without `--profile`, findings are as severe as `quarry explain CODE` says. `--profile` names a rule "
          "profile: `store` is what `publish` asks, `release` what people should get. Rule profiles have nothing to do "
          "with the compression profiles of `sdk build`.\n\n"
          "Only METADATA and the wheels' lists of files are read: a set of 10 GB takes as long as one of 10 MB. For "
          "claimed targets the wheels are looked into as well, as `quarry gpu list` does: those in a bucket or on a "
          "web server by ranges.",
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
