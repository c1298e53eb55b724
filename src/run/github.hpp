#pragma once
// What GitHub says about a run: the workflow-run object of its REST API, the payload of an event, the variables of a
// job. Pure; the caller reads files and variables. Sources: docs.github.com "REST API endpoints for workflow runs",
// "Webhook events and payloads". Errors: L021 (not such a document), L025 (cannot tell whether it is a fork).
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "run/bucket.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::run {

constexpr std::uint64_t k_github_document_max = 32u << 20; ///< GitHub sends no payload above 25 MB

/// The fields that matter here of GitHub's workflow-run object.
struct WorkflowRun {
  std::string id;              ///< decimal; empty when the document has none
  std::string repository;      ///< full name; empty when the document has none
  std::string head_repository; ///< full name; empty: the fork has been deleted
  std::optional<std::int64_t> updated_at_us;
};
/// `what` names the document in errors. A missing `head_repository` is an error, null means deleted.
Result<WorkflowRun> parse_workflow_run(NamedText named);

/// What says which release a run made.
struct ReleaseRun {
  std::string_view workflow; ///< file name
  std::string_view title;    ///< GitHub's `display_title`: the workflow's `run-name`
  std::string_view event;
};
/// The release type of a run of TheRock's release workflows: `multi_arch_release*.yml` and February's `release_*.yml`.
/// Their run names say it in parentheses ("Multi-Arch Release (dev) | Linux: gfx94x"); the title of a push or pull
/// request is not looked at. A run whose name does not say it is a nightly release on a schedule, and else a dev
/// release, the only one that people may start. Empty for other workflows. Pure.
std::string release_type_of(const ReleaseRun& run, Era era);

/// Whether the pull request of an event's payload comes from a fork; a deleted repository was one.
Result<bool> is_fork_event(NamedText named);

struct EventFacts {
  std::vector<std::string> labels;   ///< of its pull request, in lower case
  std::optional<std::string> before; ///< of a push: the commit that the branch pointed to; empty: it is new
};
Result<EventFacts> parse_event(NamedText named);

/// What a job's variables say, as values.
struct JobFacts {
  std::string event_name;                   ///< GITHUB_EVENT_NAME
  std::optional<std::string> event_payload; ///< content of GITHUB_EVENT_PATH, when there is one
  std::string is_pr_from_fork;              ///< IS_PR_FROM_FORK
};
/// Whether a run of this event belongs to a fork if its pull request comes from one. A run of pull_request_target does
/// not: GitHub runs it in the base repository, with that repository's token, so its outputs are that repository's.
bool may_be_of_fork(std::string_view event_name);
/// feb looks at IS_PR_FROM_FORK, aug at the event, ours at both: one that says fork is enough. L025 when a pull
/// request's origin is not told, or the variable is neither true nor false.
Result<bool> is_fork(const JobFacts& facts, Era era);

} // namespace quarry::run
