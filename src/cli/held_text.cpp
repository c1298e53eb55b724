#include "cli/next_command.hpp"
#include "cli/verdict.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "dist/family.hpp"
#include "gate/signers.hpp"
#include "pages/install_words.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {

constexpr std::int64_t k_hour_us = 3600ll * 1'000'000, k_waiver_us = 7 * 24 * k_hour_us;

bool is_held(const gate::CellVerdict& cell) { return cell.verdict == gate::Decision::held; }
/// A waiver takes a risk; it does not bring the packages that are not there.
bool can_be_waived(const gate::CellVerdict& cell) { return is_held(cell) && !cell.not_installable; }

/// What to install for a result about the cell: device code of other GPUs would make it one about them, too.
std::string packages_of(const registry::SetRecord& set, const std::string& family) {
  std::vector<std::string> targets;
  for (const auto& file : set.files)
    if (auto target = dist::target_of_device_code(file.project);
        !target.empty() && (target == family || dist::belongs({target, family})))
      targets.push_back(target);
  return pages::requirement_for(set, targets); // the whole line is quoted where it is printed
}

/// The same with the framework that the cell is about, if it is in this set beside `rocm`.
std::string packages_of(const registry::SetRecord& set, const registry::Cell& cell) {
  auto packages = packages_of(set, cell.family);
  auto is_in = [&](std::string_view project) {
    return std::ranges::any_of(set.files, [&](const registry::FileRecord& file) { return file.project == project; });
  };
  auto framework = dist::family_key(cell.framework); // as projects are written
  bool is_left_out = !framework.empty() && is_in(dist::k_sdk_project) && is_in(framework);
  return is_left_out ? packages + " " + cell.framework : packages;
}

/// The job that is about to bring what the cell lacks; empty if nobody knows of one.
std::string job_under_way(const gate::CellVerdict& cell) {
  for (const auto& suite : cell.suites)
    if (suite.suite == cell.untested.front() &&
        (suite.state == gate::SuiteState::waiting || suite.state == gate::SuiteState::running))
      return suite.job;
  return {};
}

/// A cell without its evidence.
struct Untested {
  const gate::CellVerdict& cell;
  const registry::SetRecord& set;
  const gate::Policy& policy;
};

/// Whether `quarry test` runs the suite by its definition, which names the commands. With a command of the user's own
/// the result would not be of this suite.
bool is_defined(const gate::Policy& policy, const std::string& suite) {
  auto rule = std::ranges::find(policy.suites, suite, &gate::SuiteRule::name);
  return suite == "rocm-sdk" || (rule != policy.suites.end() && !rule->digests.empty());
}

/// How the cell gets its evidence: installed and tested here, or by the report of a machine without Quarry.
std::string test_lines(const Context& context, const Arguments& arguments, const Untested& untested) {
  const auto& [cell, set, policy] = untested;
  bool wants_signature = std::ranges::any_of(policy.signers, &gate::Signer::evidence);
  auto from = "set:" + cell.set.short_hex();
  if (cell.cell.platform == Platform::windows) {
    NextCommand record(context, "evidence record");
    record.set("--store", arguments.get("--store")).set("--from-report", "report.json").set("--from", from);
    if (!cell.cell.framework.empty()) record.set("--framework", cell.cell.framework);
    return fmt::format("Test it: install it on a Windows machine, run `rocm-sdk test --json report.json` there, then\n"
                       "  {}\n",
                       record.signed_if(wants_signature).text());
  }
  NextCommand install(context, "venv install"), test(context, "test");
  install.operand(".venv").set("--from", from).set("--packages", packages_of(set, cell.cell));
  install.set("--store", arguments.get("--store"));
  if (!cell.cell.python.empty()) install.set("--python", cell.cell.python.substr(0, cell.cell.python.find('+')));
  test.set("--venv", ".venv").set("--store", arguments.get("--store"));
  if (!cell.cell.family.empty()) test.set("--family", cell.cell.family);
  if (!cell.cell.framework.empty()) test.set("--framework", cell.cell.framework);
  if (!cell.cell.backend.empty()) test.set("--backend", cell.cell.backend);
  auto suite = cell.untested.front();
  if (suite != "rocm-sdk") test.set("--suite", suite);
  test.signed_if(wants_signature);
  return fmt::format("Test it:\n  {}\n  {}{}\n", install.text(), test.text(),
                     is_defined(policy, suite) ? "" : " -- COMMAND");
}

std::string waiver_expiry(const gate::Policy& policy) {
  auto hours = std::min(k_waiver_us, policy.waiver_max_age_us) / k_hour_us;
  return hours % 24 ? fmt::format("{}h", std::max<std::int64_t>(hours, 1)) : fmt::format("{}d", hours / 24);
}

bool counts_for_waivers(const gate::Signer& signer) { return signer.waivers && signer.revoked.empty(); }

/// Who can waive: where waivers need a signature, somebody with a key. Empty if nobody can.
std::string approver_of(const gate::Policy& policy, bool signs) {
  for (const auto& name : policy.approvers) {
    auto has_key = [&](const gate::Signer& signer) { return counts_for_waivers(signer) && signer.name == name; };
    if (!signs || std::any_of(policy.signers.begin(), policy.signers.end(), has_key)) return name;
  }
  return {};
}

std::string waive_line(const Context& context, const Arguments& arguments, const gate::Policy& policy,
                       const gate::CellVerdict& cell) {
  if (policy.approvers.empty()) return fmt::format("Policy {} has no approvers: nothing can be waived.\n", policy.name);
  bool signs = std::any_of(policy.signers.begin(), policy.signers.end(), [](const auto& s) { return s.waivers; });
  auto approver = approver_of(policy, signs);
  if (approver.empty())
    return fmt::format("No approver of policy {} has a key that counts: nothing can be waived.\n", policy.name);
  NextCommand waive(context, "waive");
  waive.flags_of(arguments).drop("--dry-run");
  const std::pair<const char*, std::string> scope[] = {{"--platform", std::string(cell.cell.platform.text())},
                                                       {"--family", cell.cell.family},
                                                       {"--python", cell.cell.python},
                                                       {"--framework", cell.cell.framework}};
  for (const auto& [flag, value] : scope)
    if (!value.empty()) waive.set(flag, value);
  if (cell.set.empty())
    waive.set("--any-set"); // what no set brings
  else
    waive.set("--set", "set:" + cell.set.short_hex());
  waive.set("--approver", approver);
  if (signs) waive.set("--sign", "KEY");
  waive.set("--expires", waiver_expiry(policy)).set("--reason", "REASON");
  return fmt::format("To promote anyway (needs an approver, expires):\n  {}\n", waive.text());
}

} // namespace

std::string ready_text(const Context& context, const Arguments& arguments, const std::vector<Held>& channels) {
  auto is_signed = [](const Held& held) { return gate::wants_signed_moves(held.policy); };
  NextCommand promote(context, "promote");
  promote.flags_of(arguments).drop("--execute").signed_if(std::ranges::any_of(channels, is_signed));
  auto asked = promote.text();
  promote.set("--cells", "ready");
  auto moves = [](const Held& held) {
    auto movable = gate::movable(held.verdict);
    return std::ranges::any_of(movable, [](const auto& one) { return !one.files.empty(); }) &&
           (!held.ready_moves || held.ready_moves());
  };
  if (promote.text() == asked || std::ranges::none_of(channels, moves)) return {};
  return fmt::format("Promote what is ready:\n  {}\n", promote.text());
}

std::string held_text(const Context& context, const Arguments& arguments, const Held& held) {
  const auto& cells = held.verdict.cells;
  auto count = std::count_if(cells.begin(), cells.end(), is_held);
  if (!count) return {};
  auto text = fmt::format("{} of {} cells {} not ready.\n", count, cells.size(), count == 1 ? "is" : "are");
  for (const auto& cell : cells) {
    auto of_cell = [&](const gate::Subject& s) { return s.digest == cell.set; };
    auto subject = std::find_if(held.subjects.begin(), held.subjects.end(), of_cell);
    if (cell.untested.empty() || subject == held.subjects.end()) continue;
    auto job = job_under_way(cell);
    text += job.empty() ? test_lines(context, arguments, {cell, subject->set, held.policy})
                        : fmt::format("Wait for its job:\n  {}\n", text::one_line(job));
    break; // the others are tested alike
  }
  auto failed = std::find_if(cells.begin(), cells.end(), [](const auto& c) { return !c.failed.empty(); });
  if (failed != cells.end()) {
    NextCommand show(context, "evidence log");
    show.operand(failed->failed.front().short_hex()).set("--store", arguments.get("--store"));
    text += fmt::format("See what failed:\n  {}\n", show.text());
  }
  if (!held.is_of_pattern) text += ready_text(context, arguments, {held});
  auto waivable = std::find_if(cells.begin(), cells.end(), can_be_waived);
  if (count > 1)
    text += fmt::format("{} more {} a line HELD above (`--json` lists all); test or waive {} alike.\n", count - 1,
                        count == 2 ? "cell is held, with" : "cells are held, each with", count == 2 ? "it" : "them");
  if (waivable == cells.end())
    return text + "What is held could not be installed there. Move all of it together, or list the extras that may be "
                  "empty in the policy (`empty_extras`).\n";
  return text + waive_line(context, arguments, held.policy, *waivable);
}

} // namespace quarry::cli
