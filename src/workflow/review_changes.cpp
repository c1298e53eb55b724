// What a change does: defaults raised in one file of several, variants and their cost, lost fallbacks, linked runs.
#include "workflow/review_parts.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <set>

namespace quarry::workflow {

namespace {
using ChangeKind = Change::Kind;
using What = Change::What;

void add(Review& review, Located finding) { review.findings.push_back({std::move(finding), "new"}); }

/// Places of the new state where the input still has the old default.
std::vector<std::string> left_behind(const Repository& after, const Change& change) {
  std::vector<std::string> places;
  for (const auto& file : after.files)
    for (const auto* entry : {&file->call, &file->dispatch}) {
      const auto* input = *entry ? (*entry)->find(change.name) : nullptr;
      if (input && input->fallback == change.before) places.push_back(fmt::format("{}:{}", file->path, input->at.line));
    }
  return places;
}

void check_defaults(const Sides& sides, Review& review) {
  std::map<std::string, std::size_t> raised;
  for (const auto& change : review.changes.list) {
    if (change.kind != ChangeKind::input || change.detail != "default" || change.before.empty()) continue;
    auto places = left_behind(sides.after, change);
    if (places.empty()) {
      ++raised[fmt::format("default of `{}` goes from `{}` to `{}`", change.name, change.before, change.after)];
      continue;
    }
    add(review, {change.file, change.at, "Y164", Severity::warning,
                 fmt::format("default of input `{}` goes from `{}` to `{}` here and stays `{}` in {}", change.name,
                             change.before, change.after, change.before, text::first(places, k_names_shown)),
                 "raise all of them together, or say why they differ"});
  }
  for (const auto& [what, count] : raised)
    review.right.push_back(fmt::format("{} in {}; no place keeps the old one", what, units::things(count, "place")));
}

/// "50-72 minutes each", "minutes unknown".
std::string cost_of(const Growth& growth, const std::vector<RecordedTime>& builds) {
  if (builds.empty()) return "minutes unknown: give logs of a run by --run";
  auto less = [](const RecordedTime& a, const RecordedTime& b) { return a.minutes < b.minutes; };
  auto low = std::min_element(builds.begin(), builds.end(), less)->minutes;
  auto high = std::max_element(builds.begin(), builds.end(), less)->minutes;
  double added = 0;
  std::size_t measured = 0;
  for (const auto& build : builds)
    for (const auto& value : growth.new_values)
      if (build.variant.find(value) != std::string::npos) {
        added += build.minutes;
        ++measured;
        break;
      }
  auto span = std::lround(low) == std::lround(high) ? fmt::format("{:.0f} minutes each", low)
                                                    : fmt::format("{:.0f}-{:.0f} minutes each", low, high);
  if (measured < growth.after - growth.before) return span + " by the given logs";
  return fmt::format("{}, {:.0f} minutes added by the new ones", span, added);
}

void praise_matrix(const Job& job, Review& review) {
  const auto* strategy = job.strategy();
  if (strategy && strategy->text_at("fail-fast") == "false")
    review.right.push_back(
        fmt::format("job `{}`: `fail-fast: false`, so that one variant does not cancel the others", job.id));
}

void check_growth(const Sides& sides, Review& review) {
  for (const auto& growth : review.changes.growths) {
    if (growth.after < growth.before) continue;
    add(review,
        {growth.file, growth.at, "Y165", Severity::warning,
         fmt::format("the matrix of job `{}` goes from {} to {} combinations (x{:g}): {}", growth.job, growth.before,
                     growth.after, std::round(10.0 * static_cast<double>(growth.after) / growth.before) / 10,
                     cost_of(growth, sides.options.builds)),
         "share between the variants what does not depend on them, or run the new ones less often"});
    const auto* file = sides.after.find(growth.file);
    if (const auto* job = file ? file->job(growth.job) : nullptr) praise_matrix(*job, review);
  }
  for (const auto& change : review.changes.list) {
    const auto* file = sides.after.find(change.file);
    bool comes = change.kind == ChangeKind::job && change.what == Change::What::added;
    const auto* job = comes && file ? file->job(change.name) : nullptr;
    if (job && job->matrix()) praise_matrix(*job, review);
  }
}

void check_fallbacks(Review& review) {
  for (const auto& change : review.changes.list)
    if (change.kind == ChangeKind::fallback)
      add(review, {change.file, change.at, "Y167", Severity::warning,
                   fmt::format("the ref of {} was `{}` and is `{}`: an empty text now means the default branch",
                               change.name.empty() ? "this repository" : change.name, text::trim(change.before),
                               text::trim(change.after)),
                   "keep a fallback, or fail when the value is empty"});
}

/// One way to start a workflow: the event, and what its key holds.
struct Event {
  std::string name;
  const Node* filter = nullptr; ///< nullptr where the event is a word alone
};

std::vector<Event> events_of(const File& file) {
  std::vector<Event> events;
  const auto* on = file.root.find("on");
  if (!on) return events;
  if (on->is_scalar()) events.push_back({on->text});
  for (const auto& item : on->items) events.push_back({item.text});
  for (const auto& member : on->members) events.push_back({member.key, &member.value});
  return events;
}

/// Whether some changed file passes `paths` and `paths-ignore`: the last pattern that matches decides.
bool takes_paths(const Node& filter, const History& history) {
  const auto *wanted = filter.find("paths"), *ignored = filter.find("paths-ignore");
  auto matches = [](const Node& patterns, const std::string& path) {
    bool found = false;
    for (const auto& pattern : patterns.items) {
      bool negated = pattern.text.starts_with('!');
      if (text::glob_match(pattern.text.substr(negated ? 1 : 0), path)) found = !negated;
    }
    return found;
  };
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return (!wanted || matches(*wanted, file.path)) && !(ignored && matches(*ignored, file.path));
  });
}

/// Whether a push to any branch starts a workflow with this filter: it names neither branches nor tags, or it has a
/// pattern for all branches. (A pull request pushes no tag.)
bool takes_branch(const Node& filter) {
  const auto* branches = filter.find("branches");
  if (!branches) return !filter.find("tags");
  return std::any_of(branches->items.begin(), branches->items.end(),
                     [](const Node& item) { return item.text == "**" || item.text == "*"; });
}

/// Whether the pull request itself starts the workflow as it changes it: pull_request_target runs the base's file.
bool starts_by_request(const Event& event, const History& history) {
  bool request = event.name == "pull_request";
  if (!request && event.name != "push") return false;
  if (!event.filter || !event.filter->is_mapping()) return true;
  return (request || takes_branch(*event.filter)) && takes_paths(*event.filter, history);
}

/// The workflows that the pull request runs, directly or by calls.
std::set<std::string> run_by_request(const Repository& after, const History& history) {
  std::set<std::string> found;
  std::vector<const File*> open;
  auto add = [&](const File* file) {
    if (file && found.insert(file->path).second) open.push_back(file);
  };
  for (const auto& file : after.files) {
    auto events = events_of(*file);
    if (std::any_of(events.begin(), events.end(),
                    [&](const Event& event) { return starts_by_request(event, history); }))
      add(file.get());
  }
  while (!open.empty()) {
    const auto* file = open.back();
    open.pop_back();
    for (const auto& call : file->calls)
      if (call.kind == Call::Kind::workflow) add(after.find(call.file));
  }
  return found;
}

/// How runs of a changed workflow start: "manual dispatch of a.yml", "call of a.yml by b.yml".
struct TriggerPath {
  std::string text;
  bool by_request = false; ///< the pull request starts it by itself
};

std::vector<TriggerPath> trigger_paths(const Sides& sides, const Review& review, const File& file) {
  std::vector<TriggerPath> paths;
  auto run = run_by_request(sides.after, review.history);
  for (const auto& event : events_of(file)) {
    bool manual = event.name == "workflow_dispatch";
    // A manual run without inputs, or a push to main, runs what the pull request already ran.
    bool same = run.contains(file.path) && (!manual || !file.dispatch || file.dispatch->inputs.empty());
    if (event.name != "workflow_call")
      paths.push_back(
          {manual ? "manual dispatch of " + file.basename() : fmt::format("{} starts {}", event.name, file.basename()),
           same});
  }
  for (const auto& caller : sides.after.files) {
    std::set<Call::Kind> kinds;
    for (const auto& call : caller->calls)
      if (call.file == file.path && kinds.insert(call.kind).second)
        paths.push_back({fmt::format("{} of {} by {}", call.kind == Call::Kind::dispatch ? "dispatch" : "call",
                                     file.basename(), caller->basename()),
                         run.contains(caller->path) && call.kind != Call::Kind::dispatch});
  }
  return paths;
}

std::vector<const File*> changed_workflows(const Sides& sides, const Review& review) {
  std::vector<const File*> found;
  for (const auto& file : sides.after.files)
    if (!file->action && file->readable && review.history.find(file->path)) found.push_back(file.get());
  return found;
}

/// The runs that a text links: `…/actions/runs/NUMBER`, each once.
std::set<std::string> linked_runs(std::string_view text) {
  constexpr std::string_view k_runs = "/actions/runs/";
  std::set<std::string> found;
  for (auto at = text.find(k_runs); at != text.npos; at = text.find(k_runs, at + 1)) {
    auto number = text.substr(at + k_runs.size());
    number = number.substr(0, number.find_first_not_of("0123456789"));
    if (!number.empty()) found.insert(std::string(number));
  }
  return found;
}

void check_runs(const Sides& sides, Review& review) {
  std::vector<std::string> paths;
  const File* first = nullptr;
  for (const auto* file : changed_workflows(sides, review)) {
    first = first ? first : file;
    for (auto& path : trigger_paths(sides, review, *file))
      if (!path.by_request) paths.push_back(std::move(path.text));
  }
  const auto& description = sides.options.description;
  if (paths.empty() || !description) return;
  if (sides.options.has_runs) {
    review.right.push_back("logs or test reports of a run are given");
    return;
  }
  auto runs = linked_runs(*description).size();
  if (runs >= paths.size()) {
    review.right.push_back(fmt::format("the description links {}", units::things(runs, "run")));
    review.not_looked_at.push_back("which trigger path the linked runs took: " + text::first(paths, 3));
  } else {
    add(review, {first->path,
                 {1, 1},
                 "Y166",
                 runs == 0 ? Severity::error : Severity::note, // one run may have taken several paths
                 fmt::format("{} for {}: {}", runs == 0 ? "no run is linked" : units::things(runs, "linked run"),
                             units::things(paths.size(), "trigger path"), text::first(paths, 8)),
                 runs == 0 ? "start each once and link the runs in the description"
                           : "link a run for each, or say which paths a linked run took"});
  }
}

/// An input that a call stopped passing because the target has a matrix key of that name.
void check_moved_to_matrix(const Sides& sides, Review& review) {
  for (const auto& change : review.changes.list) {
    const auto* caller = sides.after.find(change.file);
    if (change.kind != ChangeKind::argument || change.what != What::removed || !caller) continue;
    for (const auto& call : caller->calls) {
      const auto* target = sides.after.find(call.file);
      if (!target || target->input(change.name) || call.find(change.name)) continue;
      for (const auto& job : target->jobs) {
        const auto* matrix = job.matrix();
        if (matrix && matrix->find(change.name))
          review.right.push_back(fmt::format("`{}` is not passed to {} any more: the matrix of job `{}` has it",
                                             change.name, call.target, job.id));
      }
    }
  }
}

/// Whether the finding is about what a call or a dispatch passes.
bool is_about_calls(std::string_view code) {
  constexpr std::string_view k_codes[] = {codes::text_for_typed_input,   codes::input_not_forwarded,
                                          codes::unknown_dispatch_input, codes::dispatch_cannot_start,
                                          codes::not_an_option,          codes::required_input_missing,
                                          codes::input_left_to_default,  codes::dispatch_without_ref};
  return std::ranges::find(k_codes, code) != std::end(k_codes);
}

/// Whether a call passes what its target wants, and nothing else. Findings leave calls to actionlint, so the sentence
/// about what was found right has to look by itself.
bool fits(const Repository& repository, const Call& call) {
  const auto* target = repository.find(call.file);
  if (!target || !target->readable || call.inputs_unknown || call.unknown) return false;
  const auto& entry = call.kind == Call::Kind::dispatch ? target->dispatch : target->call;
  if (!entry) return false;
  bool known = std::ranges::all_of(call.arguments, [&](const Argument& one) { return entry->find(one.name); });
  return known && std::ranges::all_of(entry->inputs, [&](const Input& input) {
           return !input.required || input.fallback || call.find(input.name);
         });
}

/// Calls and dispatches in this repository that a changed workflow makes or that start one.
bool all_fit(const Repository& repository, const std::set<std::string>& changed) {
  for (const auto& file : repository.files)
    for (const auto& call : file->calls) {
      bool concerned = !call.file.empty() && (changed.contains(file->path) || changed.contains(call.file));
      if (concerned && call.kind != Call::Kind::action && !fits(repository, call)) return false;
    }
  return true;
}

void check_forwarding(const Sides& sides, Review& review) {
  std::size_t calls = 0;
  std::set<std::string> changed;
  for (const auto* file : changed_workflows(sides, review)) {
    calls += static_cast<std::size_t>(
        std::count_if(file->calls.begin(), file->calls.end(), [](const Call& call) { return !call.file.empty(); }));
    changed.insert(file->path);
  }
  for (const auto& one : review.findings)
    if (changed.contains(one.located.file) && is_about_calls(one.located.code)) return;
  if (calls > 0 && all_fit(sides.after, changed))
    review.right.push_back(
        fmt::format("{} from the changed workflows: no input became missing, unknown or not forwarded",
                    calls == 1 ? "1 call or dispatch" : fmt::format("{} calls and dispatches", calls)));
}

std::string dispatch_command(const File& file) {
  auto command = fmt::format("gh workflow run {} --ref BRANCH", file.basename());
  for (const auto& input : file.dispatch->inputs)
    if (input.required && !input.fallback) command += fmt::format(" -f {}=…", input.name);
  return command;
}
} // namespace

void review_changes(const Sides& sides, Review& review) {
  check_defaults(sides, review);
  check_growth(sides, review);
  check_fallbacks(review);
  check_runs(sides, review);
  check_moved_to_matrix(sides, review);
  check_forwarding(sides, review);
}

void plan_tests(const Sides& sides, Review& review) {
  for (const auto* file : changed_workflows(sides, review)) {
    auto command = file->dispatch ? dispatch_command(*file) : std::string();
    for (const auto& [path, by_request] : trigger_paths(sides, review, *file))
      review.test_plan.push_back(path.starts_with("manual") ? fmt::format("{}: `{}`", path, command)
                                 : by_request               ? path + " (the pull request starts it)"
                                                            : path);
  }
  for (const auto& growth : review.changes.growths)
    if (!growth.new_values.empty())
      review.test_plan.push_back(
          fmt::format("the new variants of job `{}`: {}", growth.job, text::first(growth.new_values, 12)));
}

} // namespace quarry::workflow
