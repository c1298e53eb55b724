#include "run/github.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::run {

namespace {
Unexpected unlike(std::string_view what, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "L021", fmt::format("{} {}", what, why),
              "save what `gh api repos/OWNER/NAME/actions/runs/ID` prints");
}

Result<std::string> full_name(const Json& repository, std::string_view what, std::string_view key) {
  if (!repository.is_object() || !repository.contains("full_name") || !repository["full_name"].is_string())
    return unlike(what, fmt::format("has no {}.full_name", key));
  auto name = repository["full_name"].get<std::string>();
  TRY_DO(check_repository(name), fmt::format("while reading {} of {}", key, what));
  return name;
}

Result<std::string> id_of(const Json& run, std::string_view what) {
  if (!run.contains("id")) return std::string();
  if (run["id"].is_number_unsigned()) return std::to_string(run["id"].get<std::uint64_t>());
  return unlike(what, "has an id that is not a whole number");
}

Result<std::optional<std::int64_t>> updated_at(const Json& run, std::string_view what) {
  if (!run.contains("updated_at")) return std::optional<std::int64_t>();
  if (!run["updated_at"].is_string()) return unlike(what, "has an updated_at that is not a time");
  auto time = run["updated_at"].get<std::string>();
  if (time.ends_with("+00:00")) time = time.substr(0, time.size() - 6) + "Z"; // how Python writes UTC
  auto parsed = sys::parse_rfc3339(time);
  if (!parsed) return unlike(what, fmt::format("has an updated_at that is not a time: {:?}", time));
  return std::optional(*parsed);
}

Result<bool> truth(const std::string& text) {
  auto lower = text::lower(text::trim(text));
  if (lower == "true" || lower == "1") return true;
  if (lower.empty() || lower == "false" || lower == "0") return false;
  return fail(ErrorKind::invalid_argument, "L025",
              fmt::format("IS_PR_FROM_FORK is {:?}, neither true nor false", text.substr(0, 100)),
              "set it to true or false");
}
} // namespace

Result<WorkflowRun> parse_workflow_run(NamedText named) {
  const auto json = named.text;
  const std::string what(named.name);
  TRY(auto run, json::parse({json, what}));
  if (!run.is_object()) return unlike(what, "is not a workflow-run object");
  if (!run.contains("head_repository")) return unlike(what, "has no head_repository, as GitHub's workflow runs have");
  WorkflowRun parsed;
  TRY(parsed.id, id_of(run, what));
  TRY(parsed.updated_at_us, updated_at(run, what));
  if (run.contains("repository")) {
    TRY(parsed.repository, full_name(run["repository"], what, "repository"));
  }
  if (run["head_repository"].is_null()) return parsed;
  TRY(parsed.head_repository, full_name(run["head_repository"], what, "head_repository"));
  return parsed;
}

std::string release_type_of(const ReleaseRun& run, Era era) {
  if (!run.workflow.starts_with("multi_arch_release") && !run.workflow.starts_with("release_")) return {};
  const auto& known = release_types(era);
  // Without a run name the title is that of a commit or pull request: "Repair the nightly build (again)".
  bool has_run_name = run.event != "push" && !run.event.starts_with("pull_request");
  auto open = run.title.find('('), close = run.title.find(')', std::min(open, run.title.size()));
  if (has_run_name && close != run.title.npos)
    for (const auto& word : text::split_any(run.title.substr(open + 1, close - open - 1), ", "))
      if (std::ranges::find(known, word) != known.end()) return word;
  return run.event == "schedule" ? "nightly" : "dev";
}

Result<bool> is_fork_event(NamedText named) {
  const auto json = named.text;
  const std::string what(named.name);
  TRY(auto event, json::parse({json, what}));
  const Json* at = &event;
  for (auto key : {"pull_request", "head", "repo"}) {
    if (!at->is_object() || !at->contains(key))
      return unlike(what, "has no pull_request.head.repo, as the payload of a pull request has");
    at = &(*at)[key];
  }
  if (at->is_null()) return true;
  if (!at->is_object() || !at->contains("fork") || !(*at)["fork"].is_boolean())
    return unlike(what, "has no pull_request.head.repo.fork");
  return (*at)["fork"].get<bool>();
}

Result<EventFacts> parse_event(NamedText named) {
  const std::string what(named.name);
  TRY(auto event, json::parse({named.text, what}));
  if (!event.is_object()) return unlike(what, "is not the payload of an event");
  EventFacts facts;
  if (event.contains("before") && event["before"].is_string()) {
    auto commit = event["before"].get<std::string>();
    facts.before = commit.find_first_not_of('0') == commit.npos ? "" : commit; // GitHub's zeros: there was none
  }
  if (!event.contains("pull_request") || !event["pull_request"].is_object()) return facts;
  const auto& request = event["pull_request"];
  if (!request.contains("labels")) return facts;
  if (!request["labels"].is_array()) return unlike(what, "has pull_request.labels that are not a list");
  for (const auto& label : request["labels"]) {
    TRY(auto name, json::string_at({label, what}, "name"));
    facts.labels.push_back(text::lower(name));
  }
  return facts;
}

bool may_be_of_fork(std::string_view event_name) { return event_name == "pull_request"; }

Result<bool> is_fork(const JobFacts& facts, Era era) {
  if (era == Era::feb) return truth(facts.is_pr_from_fork);
  bool said = false;
  if (era == Era::quarry) {
    TRY(said, truth(facts.is_pr_from_fork));
  }
  if (!may_be_of_fork(facts.event_name)) return said;
  if (facts.event_payload) {
    TRY(auto from_event, is_fork_event({*facts.event_payload, "the event's payload"}));
    return said || from_event;
  }
  if (era == Era::quarry && !text::trim(facts.is_pr_from_fork).empty()) return said;
  return fail(ErrorKind::invalid_argument, "L025",
              fmt::format("the event is {} and nothing says whether it comes from a fork", facts.event_name),
              "set GITHUB_EVENT_PATH as GitHub does, or name the run's object with --workflow-run");
}

} // namespace quarry::run
