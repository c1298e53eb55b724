#include "cli/publish_rules.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/asked_targets.hpp"
#include "cli/base_index.hpp"
#include "cli/dry_run.hpp"
#include "cli/families.hpp"
#include "cli/rule_report.hpp"
#include "cli/set_rules.hpp"
#include "cli/wheel_rules.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>

namespace quarry::cli {

namespace {
constexpr std::size_t k_errors_shown = 12;

/// The packages are judged without it then.
Finding unseen_base(const Error& error) {
  return {"Q436", Severity::warning, "base index",
          fmt::format("the base index of the store could not be asked ({}: {}), so dependencies are not looked for",
                      error.code, error.message),
          error.hint.empty() ? "fill it again with `quarry mirror sync`" : error.hint};
}

bool is_about_base(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::not_found || could_not_look(error);
}

std::vector<std::string> wheels_of_plan(const publish::Plan& plan) {
  std::vector<std::string> paths;
  for (const auto& file : plan.files)
    if (file.path.ends_with(".whl")) paths.push_back(file.path);
  return paths;
}

Result<std::vector<inspect::DeviceOperand>> device_operands_of(const publish::Plan& plan) {
  std::vector<inspect::DeviceOperand> operands;
  for (auto& path : wheels_of_plan(plan)) operands.push_back({std::move(path)});
  return operands;
}

struct PlannedPackages {
  const publish::Plan& plan;
  const std::vector<closure::Package>& packages;
};

/// The versions are not compared with what it shows then.
Finding unseen_channel(const std::string& channel, const Error& error) {
  return {"Q421", Severity::note, "channel " + channel,
          fmt::format("the channel could not be read ({}: {}), so versions are not compared with what it shows",
                      error.code, error.message),
          error.hint};
}

/// Versions that sort below those that the channel shows already. With --against, that set is compared instead.
Result<Findings> findings_of_channel(const Context& context, const Arguments& arguments,
                                     const PlannedPackages& planned) {
  if (planned.plan.channel.empty() || arguments.has("--against")) return Findings();
  const auto& channel = planned.plan.channel;
  auto store = opener_of_store(context, arguments)("--channel");
  bool goes_on = store || store.error().kind == ErrorKind::not_found || could_not_look(store.error());
  if (!store && goes_on) return Findings(); // one that is made only now, or P072 says that it could not be looked at
  if (!store) return fail(std::move(store).error());
  auto shown = closure::versions_in_channel(**store, channel, planned.packages);
  if (!shown && could_not_look(shown.error())) return Findings{unseen_channel(channel, shown.error())};
  if (!shown) return fail(std::move(shown).error());
  return *shown ? closure::check_shown_versions(planned.packages, **shown) : Findings();
}

Result<Findings> findings_of_packages(const Context& context, const Arguments& arguments, const publish::Plan& plan,
                                      const inspect::RuleProfile& profile) {
  TRY(auto set, closure::packages_of_plan(plan));
  // A store that is made only now has no base index, and a dry run goes on without the one that it may not look at.
  auto opened = open_base_index(context, arguments.get("--base-index"), arguments.get("--store"));
  auto goes_on = [](const Error& error) { return error.kind == ErrorKind::not_found || could_not_look(error); };
  if (!opened && (arguments.has("--base-index") || !goes_on(opened.error()))) return fail(std::move(opened).error());
  auto base = opened ? std::move(*opened) : nullptr;
  Findings notes;
  if (!opened && could_not_look(opened.error()) && !arguments.has("--dry-run"))
    notes.push_back(unseen_base(opened.error()));
  TRY(auto rules, read_set_rules(context, arguments));
  rules.platforms = arguments.get("--platform");
  set_base(rules, base.get());
  // Nobody was named who has the dependencies. Only a profile that looks into everything asks for all of them; what the
  // build itself should have made is always asked for.
  auto assume_others = [&] {
    if (!profile.wheels)
      std::ranges::move(closure::projects_of_others(set.packages), std::back_inserter(rules.assumed));
  };
  if (!base) assume_others();
  auto findings = closure::check_set(set.packages, rules);
  if (!findings && base && !arguments.has("--base-index") && is_about_base(findings.error())) {
    // Nobody named the base index, so what is wrong with it stops nobody.
    notes.push_back(unseen_base(findings.error()));
    set_base(rules, nullptr);
    assume_others();
    findings = closure::check_set(set.packages, rules);
  }
  if (!findings) return findings;
  TRY(auto order, findings_of_channel(context, arguments, {plan, set.packages}));
  std::ranges::move(order, std::back_inserter(*findings));
  TRY(auto targets, findings_of_claimed_targets(context, rules, [&] { return device_operands_of(plan); }));
  std::ranges::move(targets, std::back_inserter(*findings));
  TRY(auto shared, closure::check_files_of_set(set, rules, context.jobs));
  std::ranges::move(shared, std::back_inserter(*findings));
  std::ranges::move(notes, std::back_inserter(*findings));
  return findings;
}

/// The family that the packages are for: as it was said, else the group of the run if it is one.
Result<inspect::Asked> family_of_plan(const Context& context, const Arguments& arguments) {
  if (arguments.find("--amdgpu-family")) return asked_of(context, arguments);
  auto as_family = arguments;
  as_family.values["--amdgpu-family"] = {arguments.get("--artifact-group")};
  auto asked = arguments.get("--artifact-group").empty() ? Result<inspect::Asked>(inspect::Asked())
                                                         : asked_of(context, as_family);
  return asked ? std::move(*asked) : inspect::Asked();
}

/// A mistyped family would otherwise switch off what the profile was chosen for.
void add_unjudged(const std::vector<InspectedWheel>& wheels, const std::string& group, Findings& notes) {
  auto code = device_code_of(wheels);
  auto with_code = std::ranges::count_if(code.files, [](const auto& file) { return !file.contents.objects.empty(); });
  if (with_code == 0) return;
  notes.push_back({"P122", Severity::warning, group.empty() ? std::string("the run") : group,
                   fmt::format("the device code of {} was not compared with a GPU family: {}",
                               units::things(static_cast<std::uint64_t>(with_code), "file"),
                               group.empty() ? std::string("none was named") : fmt::format("{} names none", group)),
                   "name the families that the wheels are for: --amdgpu-family gfx94X-dcgpu"});
}

Result<Findings> findings_inside(Context& context, const Arguments& arguments, const publish::Plan& plan,
                                 Findings& notes) {
  TRY(auto asked, family_of_plan(context, arguments));
  TRY(auto windows, load_windows_paths(context));
  TRY(auto values, load_metadata_values(context));
  TRY(auto tables, load_tables(context));
  std::vector<FileOperand> operands;
  for (auto& path : wheels_of_plan(plan)) operands.push_back({std::move(path), {}});
  TRY(auto wheels, inspect_wheels(context, tables, {operands}));
  if (asked.targets.empty()) add_unjudged(wheels, arguments.get("--artifact-group"), notes);
  return findings_of_wheels(wheels, tables, {std::move(asked), windows, std::move(values), {}});
}

Unexpected refused(const RuleReport& report, const std::string& profile) {
  std::vector<std::string> lines;
  for (const auto& one : report.findings)
    if (one.severity == Severity::error) lines.push_back(fmt::format("{}: {}: {}", one.code, one.place, one.message));
  auto error = Error::of(ErrorKind::failed, "P091",
                         fmt::format("the rule profile {} calls {} an error", profile,
                                     lines.size() == 1 ? "a finding" : units::things(lines.size(), "finding")))
                   .with_hint("nothing was published; correct what is listed, or accept a finding with --suppressions; "
                              "`quarry set check` and `quarry wheel check` tell how");
  error.details = text::first_lines(std::move(lines), k_errors_shown);
  return fail(std::move(error));
}
} // namespace

std::vector<Flag> publish_rule_flags() {
  std::vector<Flag> flags{
      rule_profile_flag("store"), rule_report_flags().front(), base_index_flag(), allow_missing_flag(), family_flag(),
      families_file_flag()};
  for (auto& flag : expectation_flags()) flags.push_back(std::move(flag));
  return flags;
}

Result<void> add_findings_of_rules(Context& context, const Arguments& arguments, publish::Plan& plan) {
  TRY(auto inputs, rule_inputs_of(context, arguments, {}));
  const auto profile = inputs.profile.value_or(inspect::RuleProfile());
  TRY(auto findings, findings_of_packages(context, arguments, plan, profile));
  Findings notes;
  if (profile.wheels) {
    TRY(auto inside, findings_inside(context, arguments, plan, notes));
    std::ranges::move(inside, std::back_inserter(findings));
  }
  auto looks_for = [&](const std::string& code) { return profile.wheels || closure::is_rule_of_sets(code); };
  TRY(auto report, judged_by_rules(context, std::move(inputs), {std::move(findings), looks_for}));
  if (has_errors(report.findings)) return refused(report, profile.name);
  std::ranges::move(report.findings, std::back_inserter(plan.notes));
  std::ranges::move(notes, std::back_inserter(plan.notes));
  return {};
}

} // namespace quarry::cli
