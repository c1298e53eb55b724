#include "base/text.hpp"
#include "cli/artifacts.hpp"
#include "cli/find.hpp"
#include "cli/next_command.hpp"
#include "run/locator.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

Result<std::size_t> limit_of(const Arguments& arguments) {
  auto number = text::parse_u64(arguments.get("--limit"));
  if (number && *number > 0 && *number <= forge::k_runs_max) return static_cast<std::size_t>(*number);
  return fail(
      ErrorKind::invalid_argument, "Y011",
      fmt::format("--limit must be a number from 1 to {}, not {}", forge::k_runs_max, arguments.get("--limit")));
}

Result<void> check_which(const Arguments& arguments) {
  std::vector<std::string> said;
  for (const auto* flag : {"--run-id", "--commit", "--branch", "--pr"})
    if (!arguments.get(flag).empty()) said.emplace_back(flag);
  if (said.size() > 1)
    return fail(ErrorKind::invalid_argument, "Y011", fmt::format("{} exclude each other", text::join(said, " and ")),
                "use only one of them");
  if (said.empty() && !arguments.has("--latest-good"))
    return fail(ErrorKind::invalid_argument, "Y011", "no run is named",
                "use `--run-id ID`, `--commit SHA`, `--branch NAME`, `--pr N`, or `--latest-good`");
  return {};
}

/// A number, of --repo; or `[pr:]OWNER/REPO#N`.
Result<void> read_pull_request(const std::string& said, artifact::FindRequest& request) {
  if (said.empty() || text::parse_u64(said)) {
    request.pull_request = said;
    return {};
  }
  TRY(auto locator, run::parse_locator(said.starts_with("pr:") ? said : "pr:" + said));
  request.repository = locator.repository;
  request.pull_request = locator.number;
  return {};
}

Result<artifact::FindRequest> find_request_of(const Context& context, const Arguments& arguments) {
  TRY_DO(check_which(arguments));
  artifact::FindRequest request;
  request.repository = repository_of(context, arguments);
  request.run_id = arguments.get("--run-id");
  request.commit = text::lower(arguments.get("--commit"));
  if (!request.commit.empty()) TRY_DO(run::parse_locator("commit:" + request.commit), "while reading --commit");
  request.branch = arguments.get("--branch");
  TRY_DO(read_pull_request(arguments.get("--pr"), request));
  request.good = arguments.has("--latest-good");
  request.workflow = arguments.get("--workflow");
  request.platform = Platform::read(arguments.get("--platform"));
  GroupWords words{arguments.list("--artifact-group"), arguments.list("--amdgpu-target")};
  if (!words.targets.empty() && words.groups.empty())
    return fail(ErrorKind::invalid_argument, "Y011", "--amdgpu-target needs --artifact-group",
                "name the target itself as --artifact-group");
  TRY(request.groups, groups_wanted(context, words));
  request.required = arguments.list("--require");
  TRY(request.limit, limit_of(arguments));
  TRY(request.era, run::parse_era(arguments.get("--era")));
  request.release_type = arguments.find("--release-type").value_or(context.variable("RELEASE_TYPE"));
  request.bucket = arguments.get("--bucket");
  request.store = request.bucket.empty() ? arguments.get("--store") : "";
  return request;
}

std::vector<std::string> targets_of(const artifact::Candidate& candidate) {
  std::set<std::string> targets;
  for (const auto& item : candidate.source.items)
    if (!item.absent) targets.insert(item.name.target);
  return {targets.begin(), targets.end()};
}

Json files_of(const artifact::Candidate& candidate) {
  Json files = Json::array();
  for (const auto& item : candidate.source.items)
    if (!item.absent) files.push_back({{"file", item.file}, {"target", item.name.target}});
  return files;
}

std::string state_of(const forge::Run& run) {
  return run.conclusion.empty() ? run.status : fmt::format("{}, {}", run.status, run.conclusion);
}

Json found_json(const artifact::Candidate& candidate) {
  const auto& run = candidate.run;
  const auto& location = candidate.located.location;
  return {{"run_id", run.facts.id},
          {"html_url", run.html_url},
          {"commit", run.commit},
          {"branch", run.branch},
          {"event", run.event},
          {"workflow", run.workflow},
          {"status", run.status},
          {"conclusion", run.conclusion.empty() ? Json(nullptr) : Json(run.conclusion)},
          {"created_at", run.created_at},
          {"bucket", location.bucket},
          {"external_repo", candidate.located.external_repo},
          {"prefix", candidate.located.prefix},
          {"locator", "run:" + candidate.located.prefix},
          {"store", candidate.place},
          {"s3_uri", location.s3_uri()},
          {"https_url", location.https_url()},
          {"artifacts", candidate.source.items.size()},
          {"files", files_of(candidate)},
          {"targets", targets_of(candidate)}};
}

std::string found_text(const artifact::Candidate& candidate) {
  const auto& run = candidate.run;
  return fmt::format("run        {}  {}  {}\n", run.facts.id, state_of(run), run.html_url) +
         fmt::format("built      {}  {} of {}  {}\n", run.commit.substr(0, 12), run.event, run.branch, run.workflow) +
         fmt::format("artifacts  {}  for {}\n", candidate.source.items.size(),
                     text::join(targets_of(candidate), ", ")) +
         fmt::format("place      {}\n", candidate.source.description);
}

Result<int> run_find(Context& context, const Arguments& arguments) {
  TRY(auto request, find_request_of(context, arguments));
  TRY(auto result, find_artifacts(context, request));
  if (!result.found) return fail(artifact::nothing_found(request, result));
  Json passed_over = Json::array();
  for (const auto& candidate : result.passed_over) {
    context.out.note(
        fmt::format("note: run {} ({}) {}", candidate.run.facts.id, state_of(candidate.run), candidate.lacks));
    passed_over.push_back({{"run_id", candidate.run.facts.id},
                           {"html_url", candidate.run.html_url},
                           {"conclusion", candidate.run.conclusion},
                           {"lacks", candidate.lacks}});
  }
  const auto& found = *result.found;
  context.out.data(found_text(found));
  context.out.document({{"repository", request.repository},
                        {"platform", request.platform},
                        {"groups", arguments.list("--artifact-group")},
                        {"run", found_json(found)},
                        {"passed_over", passed_over}});
  context.out.note("next: " + NextCommand(context, "artifact fetch")
                                  .set("--from", "run:" + found.located.prefix)
                                  .set("--store", found.place)
                                  .set("--output-dir", "artifacts")
                                  .text());
  return 0;
}

} // namespace

Command artifact_find_command() {
  return {
      .path = {"artifact", "find"},
      .summary = "the newest run that has certain artifacts",
      .description =
          "Asks GitHub for the runs of a commit, branch or pull request, or for one run, newest first, and looks into "
          "the place of "
          "each until one has what is wanted: an artifact for every `--artifact-group` (of the family or one of its "
          "targets) and for every `--require`. It reports what newer runs are missing.\n\n"
          "The token is GH_TOKEN, else GITHUB_TOKEN, else what `gh auth token` says, else none; GITHUB_API_URL names "
          "another server. Buckets are chosen as `quarry run locate` does, and read without a signature when nothing "
          "names credentials; `--store` says another place. The artifacts of a release workflow's run "
          "(`multi_arch_release*.yml`, in February `release_*.yml`) lie in the bucket of its release type, which the "
          "run's name says: \"Multi-Arch Release (nightly)\".",
      .operands = {},
      .flags = {{"--run-id", "ID", "this run"},
                {"--commit", "SHA", "runs of this commit, at least 7 digits of it"},
                {"--branch", "NAME", "runs of this branch"},
                {"--pr", "N", "runs of this pull request's newest commit that have ended; or OWNER/REPO#N"},
                {"--latest-good", "", "only runs that succeeded; alone: of the default branch"},
                {"--repo", "OWNER/NAME", "the repository of the run (default: GITHUB_REPOSITORY, then ROCm/TheRock)"},
                {"--workflow", "FILE", "only runs of this workflow, such as ci.yml"},
                {"--platform", "P", "the run's platform", {"linux", "windows"}, "linux"},
                {.name = "--artifact-group",
                 .value = "G",
                 .help = "a family or target that must have an artifact of its own",
                 .repeats = true},
                {.name = "--amdgpu-target",
                 .value = "T",
                 .help = "an artifact of this target counts for each group, too",
                 .repeats = true},
                {.name = "--require",
                 .value = "REGEX",
                 .help = "there must be an artifact whose name matches this",
                 .repeats = true},
                {"--limit", "N", "how many runs to look at", {}, "50"},
                {"--store", "LOCATOR", "look here instead of today's bucket", {}, {}, "QUARRY_STORE"},
                {"--bucket", "NAME", "this bucket, whatever the rules say"},
                {"--release-type", "TYPE", "as for `run locate` (default: RELEASE_TYPE, then the run's own)"},
                {"--era", "ERA", "the rules for buckets", {"quarry", "feb", "aug"}, "quarry"}},
      .examples = {{"quarry artifact find --commit 0123abcd --artifact-group gfx94X-dcgpu", "what a commit's CI left"},
                   {"quarry artifact find --latest-good --branch main --artifact-group gfx94X-dcgpu --json",
                    "for a script"}},
      .exit_codes = {{3, "no such run, or none that has it"},
                     {4, "the token is refused, or may not read this"},
                     {5, "GitHub's limit of requests is reached, or it does not answer"}},
      .schema = "quarry.artifact-find/1",
      .run = run_find};
}

} // namespace quarry::cli
