// Jobs and steps, where, how long and what they run: how two states of a file differ.
#include "base/text.hpp"
#include "workflow/changes_parts.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <set>

namespace quarry::workflow {

namespace {
using ChangeKind = Change::Kind;
using What = Change::What;

/// GitHub runs 1,000 steps of a job. Beyond it, steps are compared by their order, so that a file which is made for it
/// does not hold the review up.
constexpr std::size_t k_pairs_max = 1'000 * 1'000;

/// Steps of the old state by the index of the new one: the same name and contents, else the same name, else the same
/// contents, else the same action, else, for scripts without a name, their order.
std::vector<const Step*> partners_of(const Job& before, const Job& after) {
  std::vector<const Step*> found(after.steps.size());
  if (before.steps.size() * after.steps.size() > k_pairs_max) {
    for (std::size_t i = 0; i < std::min(before.steps.size(), found.size()); ++i) found[i] = &before.steps[i];
    return found;
  }
  std::set<const Step*> taken;
  auto pair_up = [&](auto fits) {
    for (std::size_t i = 0; i < after.steps.size(); ++i)
      for (const auto& old : before.steps) {
        if (found[i] || taken.contains(&old) || !fits(old, after.steps[i])) continue;
        found[i] = &old;
        taken.insert(&old);
      }
  };
  auto is_named = [](const Step& step) {
    return step.node->find("name") || step.node->find("id") || !step.uses.empty();
  };
  auto same_name_as = [&](const Step& a, const Step& b) { return is_named(a) && is_named(b) && a.label == b.label; };
  auto same_contents = [](const Step& a, const Step& b) {
    return a.uses == b.uses && (a.run ? a.run->text : "") == (b.run ? b.run->text : "");
  };
  pair_up([&](const Step& a, const Step& b) { return same_name_as(a, b) && same_contents(a, b); });
  pair_up(same_name_as);
  pair_up(same_contents);
  auto action_of = [](const Step& step) { return step.uses.substr(0, step.uses.find('@')); };
  pair_up([&](const Step& a, const Step& b) { return !a.uses.empty() && action_of(a) == action_of(b); });
  pair_up([&](const Step& a, const Step& b) { return !is_named(a) && !is_named(b); });
  return found;
}

constexpr std::array<std::string_view, 8> k_job_keys = {"runs-on", "if",        "continue-on-error", "environment",
                                                        "needs",   "container", "concurrency",       "services"};
constexpr std::array<std::string_view, 4> k_step_keys = {"if", "continue-on-error", "shell", "working-directory"};

class Settings {
public:
  Settings(const File& before, const File& after, Recorder& recorder)
      : before_(before), after_(after), recorder_(recorder) {}

  void compare() {
    if (!after_.action) keys(before_.root, after_.root, {"concurrency"}, {"the workflow", {1, 1}});
    members(before_.root, after_.root, "env", {"the workflow", {1, 1}});
    for (const auto& job : after_.jobs) {
      Spot spot{after_.action ? "" : fmt::format("job `{}`", job.id), job.at};
      const auto* was = before_.job(job.id);
      if (was)
        compare_job(*was, job, spot);
      else
        recorder_.add(ChangeKind::job, What::added, job.at, job.id);
    }
    for (const auto& job : before_.jobs)
      if (!after_.job(job.id)) recorder_.add(ChangeKind::job, What::removed, {1, 1}, job.id).unsaid = Severity::warning;
  }

private:
  template <std::size_t N>
  void keys(const Node& before, const Node& after, const std::array<std::string_view, N>& names, const Spot& spot) {
    for (auto name : names) key(before, after, name, spot);
  }
  void keys(const Node& before, const Node& after, std::initializer_list<std::string_view> names, const Spot& spot) {
    for (auto name : names) key(before, after, name, spot);
  }

  /// nullptr if both are equal, or are mappings: their members are compared one by one.
  Change* key(const Node& before, const Node& after, std::string_view name, const Spot& spot) {
    const auto *was = before.find(name), *is = after.find(name);
    if (was && is && was->is_mapping() && is->is_mapping()) {
      members(before, after, std::string(name), spot);
      return nullptr;
    }
    Spot here{spot.where, is ? is->at : spot.at};
    auto* change = recorder_.value(ChangeKind::setting, std::string(name), here,
                                   {was ? flow_text(*was) : "", is ? flow_text(*is) : ""});
    if (change && name == "continue-on-error" && change->after != "false" && is) change->unsaid = Severity::warning;
    return change;
  }

  /// The members of `env`, `with` and other mappings.
  void members(const Node& before, const Node& after, const std::string& part, const Spot& spot) {
    static const Node k_none;
    const auto *was = before.find(part), *is = after.find(part);
    const auto& old = was ? *was : k_none;
    const auto& now = is ? *is : k_none;
    for (const auto& member : now.members) {
      const auto* same = old.find(member.key);
      recorder_.value(ChangeKind::setting, part + "." + member.key, {spot.where, member.at},
                      {same ? flow_text(*same) : "", flow_text(member.value)});
    }
    for (const auto& member : old.members)
      if (!now.find(member.key))
        recorder_.value(ChangeKind::setting, part + "." + member.key, spot, {flow_text(member.value), ""});
  }

  void compare_job(const Job& before, const Job& after, const Spot& spot) {
    keys(*before.node, *after.node, k_job_keys, spot);
    members(*before.node, *after.node, "env", spot);
    auto* deadline = key(*before.node, *after.node, "timeout-minutes", spot);
    bool steps_have =
        std::ranges::all_of(after.steps, [](const Step& one) { return one.node->find("timeout-minutes"); });
    if (deadline && deadline->what == What::removed && !steps_have) deadline->unsaid = Severity::error;
    auto pairs = partners_of(before, after);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i])
        compare_step(*pairs[i], after.steps[i], spot);
      else
        step(What::added, after.steps[i], spot);
    }
    std::set<const Step*> kept(pairs.begin(), pairs.end());
    for (const auto& old : before.steps)
      if (!kept.contains(&old)) step(What::removed, old, {spot.where, after.at});
  }

  void step(What what, const Step& one, const Spot& spot) {
    auto& change = recorder_.add(ChangeKind::step, what, what == What::added ? one.at : spot.at, one.label);
    change.where = spot.where;
    (what == What::added ? change.after : change.before) = one.run ? one.run->text : one.uses;
    if (what == What::removed) change.unsaid = Severity::warning;
  }

  void compare_step(const Step& before, const Step& after, const Spot& spot) {
    Spot here{(spot.where.empty() ? "" : spot.where + ", ") + fmt::format("step `{}`", after.label), after.at};
    keys(*before.node, *after.node, k_step_keys, here);
    bool calls = before.uses.starts_with("./") || after.uses.starts_with("./"); // compared as calls
    if (!calls) key(*before.node, *after.node, "uses", here);
    key(*before.node, *after.node, "timeout-minutes", here);
    members(*before.node, *after.node, "env", here);
    bool hands_inputs = std::ranges::any_of(after_.calls, [&](const Call& call) {
      return call.step >= 0 && call.at.line >= after.at.line &&
             &after_.jobs[static_cast<std::size_t>(call.job)].steps[static_cast<std::size_t>(call.step)] == &after;
    });
    if (!hands_inputs) members(*before.node, *after.node, "with", here); // those are arguments of the call
    if (before.run && after.run && script_lines(before.run->text) != script_lines(after.run->text)) {
      auto& change = recorder_.add(ChangeKind::command, What::changed, after.run->at, after.label);
      change.where = spot.where;
      change.before = text::join(script_lines(before.run->text), "\n");
      change.after = text::join(script_lines(after.run->text), "\n");
    }
  }

  const File& before_;
  const File& after_;
  Recorder& recorder_;
};
} // namespace

void compare_settings(const File& before, const File& after, Recorder& recorder) {
  Settings(before, after, recorder).compare();
}

} // namespace quarry::workflow
