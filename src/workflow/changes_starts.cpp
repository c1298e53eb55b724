// What starts a workflow and what its token may do: how two states of a file differ.
#include "workflow/changes_parts.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <set>

namespace quarry::workflow {

namespace {
using ChangeKind = Change::Kind;
using What = Change::What;

// triggers

/// What stands behind each event of `on`; nullptr where the event is a word alone.
std::map<std::string, const Node*> events_by_name(const File& file) {
  std::map<std::string, const Node*> events;
  const auto* on = file.action ? nullptr : file.root.find("on");
  if (!on) return events;
  if (on->is_scalar()) events[on->text] = nullptr;
  for (const auto& item : on->items) events[item.text] = nullptr;
  for (const auto& member : on->members) events[member.key] = &member.value;
  return events;
}

/// Such events run with the secrets and the token of the repository on what anybody sends.
bool runs_for_strangers(std::string_view event) {
  static constexpr std::array<std::string_view, 3> k_events = {"pull_request_target", "workflow_run", "issue_comment"};
  return std::ranges::find(k_events, event) != k_events.end();
}

// permissions

/// Access by scope. A text such as `read-all` has the scope "all".
using Access = std::map<std::string, std::string>;

/// nullopt where nothing is said: the repository's setting decides.
std::optional<Access> access_of(const Node* permissions) {
  if (!permissions) return std::nullopt;
  Access access;
  if (permissions->is_scalar() && !permissions->text.empty()) access["all"] = permissions->text;
  for (const auto& member : permissions->members) access[member.key] = member.value.text;
  return access;
}

int rank_of(std::string_view access) {
  if (access.starts_with("write")) return 2;
  return access.starts_with("read") ? 1 : 0;
}

std::string scope_in(const Access& access, const std::string& scope) {
  if (auto found = access.find(scope); found != access.end()) return found->second;
  return access.contains("all") ? access.at("all") : std::string("none");
}

/// What the token may do more, at most: 2 to write, 1 to read, 0 nothing. What the repository's setting grants is not
/// known; it is never to write an identity token, and it may be to write all else.
int gained_rank(const std::optional<Access>& before, const std::optional<Access>& after) {
  if (!after) return before && !before->empty() && rank_of(scope_in(*before, "all")) == 2 ? 0 : 2;
  if (!before) return rank_of(scope_in(*after, "id-token")) == 2 ? 2 : 0;
  int gained = 0;
  for (const auto& [scope, granted] : *after) {
    auto was = rank_of(scope_in(*before, scope)), is = rank_of(granted);
    if (is > was) gained = std::max(gained, is);
  }
  return gained;
}

Severity unsaid_of(int gained) {
  return gained == 2 ? Severity::error : gained == 1 ? Severity::warning : Severity::note;
}

class Starts {
public:
  Starts(const File& before, const File& after, Recorder& recorder)
      : before_(before), after_(after), recorder_(recorder) {}

  void compare() {
    triggers();
    permissions(before_.root.find("permissions"), after_.root.find("permissions"), {"the workflow", {1, 1}});
    for (const auto& job : after_.jobs)
      if (!after_.action) job_permissions(before_.job(job.id), job, {fmt::format("job `{}`", job.id), job.at});
  }

private:
  void triggers() {
    auto old = events_by_name(before_), now = events_by_name(after_);
    const auto* on = after_.root.find("on");
    for (const auto& [event, filter] : now) {
      auto was = old.find(event);
      Spot spot{"", filter ? filter->at : on->at};
      if (was == old.end())
        recorder_.add(ChangeKind::trigger, What::added, spot.at, event).unsaid =
            runs_for_strangers(event) ? Severity::error : Severity::note;
      else
        filters(event, was->second, filter, spot);
    }
    for (const auto& [event, filter] : old)
      if (!now.contains(event))
        recorder_.add(ChangeKind::trigger, What::removed, on ? on->at : Position{1, 1}, event).unsaid =
            Severity::warning;
  }

  /// The rows of a schedule; the branches, paths, tags and types of other events. Inputs have kinds of their own.
  void filters(const std::string& event, const Node* before, const Node* after, const Spot& spot) {
    static const Node k_none;
    const auto& old = before ? *before : k_none;
    const auto& now = after ? *after : k_none;
    auto compare_one = [&](const std::string& detail, const std::string& was, const std::string& is) {
      if (auto* change = recorder_.value(ChangeKind::trigger, event, spot, {was, is})) {
        change->detail = detail;
        change->unsaid = Severity::warning;
      }
    };
    if (old.is_sequence() || now.is_sequence()) compare_one("rows", values_of(old), values_of(now));
    std::set<std::string> names;
    for (const auto* node : {&old, &now})
      for (const auto& member : node->members) names.insert(member.key);
    for (const auto& name : names) {
      if (name == "inputs" || name == "outputs" || name == "secrets") continue;
      const auto *was = old.find(name), *is = now.find(name);
      compare_one(name, was ? values_of(*was) : "", is ? values_of(*is) : "");
    }
  }

  void job_permissions(const Job* before, const Job& after, const Spot& spot) {
    const auto *was = before ? before->node->find("permissions") : nullptr, *is = after.node->find("permissions");
    if (!was && !is) return; // what the workflow says is compared there
    auto known = recorder_.count();
    permissions(was ? was : before_.root.find("permissions"), is ? is : after_.root.find("permissions"), spot);
    if (!before) recorder_.keep_gains(known);
  }

  void permissions(const Node* before, const Node* after, const Spot& spot) {
    auto old = access_of(before), now = access_of(after);
    if (old == now) return;
    Spot here{spot.where, after ? after->at : spot.at};
    bool one_by_one = old && now && !old->contains("all") && !now->contains("all");
    if (!one_by_one) {
      auto* change =
          recorder_.value(ChangeKind::permission, "all", here,
                          {before ? flow_text(*before) : "not stated", after ? flow_text(*after) : "not stated"});
      if (change) change->unsaid = unsaid_of(gained_rank(old, now));
      return;
    }
    std::set<std::string> scopes;
    for (const auto* access : {&*old, &*now})
      for (const auto& [scope, granted] : *access) scopes.insert(scope);
    for (const auto& scope : scopes) {
      auto was = scope_in(*old, scope), is = scope_in(*now, scope);
      auto* change = recorder_.value(ChangeKind::permission, scope, here, {was, is});
      if (change && rank_of(is) > rank_of(was)) change->unsaid = unsaid_of(rank_of(is));
    }
  }

  const File& before_;
  const File& after_;
  Recorder& recorder_;
};
} // namespace

void compare_starts(const File& before, const File& after, Recorder& recorder) {
  Starts(before, after, recorder).compare();
}

} // namespace quarry::workflow
