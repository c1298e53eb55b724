#include "cli/artifacts.hpp"
#include "cli/commands.hpp"

#include "base/text.hpp"
#include "run/github.hpp"
#include "run/location.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Unexpected contradiction(const std::string& flag, const std::string& said, const std::string& found) {
  return fail(ErrorKind::invalid_argument, "L028",
              fmt::format("{} says {}, but the workflow run is of {}", flag, said, found),
              "name the run once, or make both agree");
}

Result<run::WorkflowRun> read_workflow_run(const std::string& file, const std::string& run_id) {
  TRY(auto text, sys::read_file(file, run::k_github_document_max), "while reading --workflow-run");
  TRY(auto found, run::parse_workflow_run({text, file}));
  if (!found.id.empty() && found.id != run_id) return contradiction("--run-id", run_id, "run " + found.id);
  return found;
}

/// --repo, else the run's own, else the job's, else TheRock's. The run's spelling is GitHub's.
Result<std::string> repository_of(const Context& context, const Arguments& arguments,
                                  const std::optional<run::WorkflowRun>& known) {
  auto said = arguments.get("--repo");
  auto from_run = known ? known->repository : std::string();
  if (!said.empty() && !from_run.empty() && !run::same_repository(said, from_run))
    return contradiction("--repo", said, from_run);
  if (!from_run.empty()) return from_run;
  if (!said.empty()) return said;
  auto from_job = context.variable("GITHUB_REPOSITORY");
  return from_job.empty() ? std::string(run::k_home_repository) : from_job;
}

Result<bool> fork_of_job(const Context& context, run::Era era) {
  run::JobFacts facts{context.variable("GITHUB_EVENT_NAME"), std::nullopt, context.variable("IS_PR_FROM_FORK")};
  auto path = context.variable("GITHUB_EVENT_PATH");
  if (era != run::Era::feb && run::may_be_of_fork(facts.event_name) && !path.empty()) {
    TRY(facts.event_payload, sys::read_file(path, run::k_github_document_max), "while reading GITHUB_EVENT_PATH");
  }
  return run::is_fork(facts, era);
}

/// An empty variable is not set; an empty word on the command line is somebody's mistake.
Result<std::string> release_type_of(const Context& context, const Arguments& arguments) {
  auto said = arguments.find("--release-type");
  if (!said) return context.variable("RELEASE_TYPE");
  if (!said->empty()) return *said;
  return fail(ErrorKind::invalid_argument, "L023", "--release-type is empty",
              "omit it, or choose one of: " + text::join(run::release_types(run::Era::aug), ", "));
}

Result<run::Origin> origin_of(const Context& context, const Arguments& arguments, run::Era era) {
  run::Origin origin;
  std::optional<run::WorkflowRun> known;
  if (auto file = arguments.find("--workflow-run")) {
    TRY(known, read_workflow_run(*file, arguments.get("--run-id")));
  }
  TRY(origin.repository, repository_of(context, arguments, known));
  TRY_DO(run::check_repository(origin.repository), "while reading --repo or GITHUB_REPOSITORY");
  TRY(origin.release_type, release_type_of(context, arguments));
  if (!known) {
    TRY(origin.fork, fork_of_job(context, era));
    return origin;
  }
  origin.fork = known->head_repository.empty() || !run::same_repository(known->head_repository, origin.repository);
  origin.updated_at_us = known->updated_at_us;
  if (era == run::Era::feb && !known->updated_at_us)
    return fail(ErrorKind::invalid_argument, "L021",
                fmt::format("{} has no updated_at, by which February chose buckets", arguments.get("--workflow-run")),
                "save what `gh api repos/OWNER/NAME/actions/runs/ID` prints");
  return origin;
}

Result<run::Wanted> run_wanted_of(const Arguments& arguments, run::Era era) {
  run::Wanted wanted;
  wanted.run = {"", arguments.get("--run-id"), Platform::read(arguments.get("--platform"))};
  TRY(wanted.output, run::parse_output(arguments.get("--kind")));
  wanted.group = arguments.get("--artifact-group");
  wanted.name = arguments.get("--name");
  wanted.era = era;
  wanted.bucket = arguments.get("--bucket");
  return wanted;
}

std::string run_text_of(const run::Located& located, const std::string& local) {
  const auto& place = located.location;
  return fmt::format("bucket  {}\nprefix  {}\nkey     {}\ns3      {}\nhttps   {}\nlocal   {}\nwhy     {}\n",
                     place.bucket, located.prefix, place.key, place.s3_uri(), place.https_url(), local,
                     text::join(located.reasons, "; "));
}

Result<int> run_locate(Context& context, const Arguments& arguments) {
  TRY(auto era, run::parse_era(arguments.get("--era")));
  TRY(auto origin, origin_of(context, arguments, era));
  TRY(auto wanted, run_wanted_of(arguments, era));
  TRY(auto located, run::locate(origin, wanted));
  auto local = located.location.local_path(arguments.get("--local-dir"));
  context.out.data(run_text_of(located, local));
  context.out.document({{"bucket", located.location.bucket},
                        {"external_repo", located.external_repo},
                        {"prefix", located.prefix},
                        {"key", located.location.key},
                        {"s3_uri", located.location.s3_uri()},
                        {"https_url", located.location.https_url()},
                        {"local_path", local},
                        {"repository", origin.repository},
                        {"fork", origin.fork},
                        {"release_type", origin.release_type.empty() ? "ci" : origin.release_type},
                        {"era", run::to_string(era)},
                        {"kind", arguments.get("--kind")},
                        {"decided_by", located.reasons}});
  return 0;
}

Command locate_command() {
  return {
      .path = {"run", "locate"},
      .summary = "where the outputs of a run live",
      .description =
          "Computes bucket and key of one output of a CI run, and says which facts decided. Nothing is looked up on "
          "the "
          "network and nothing has to exist.\n\nWhat is not given is taken from the job: GITHUB_REPOSITORY, "
          "RELEASE_TYPE, "
          "IS_PR_FROM_FORK, GITHUB_EVENT_NAME with GITHUB_EVENT_PATH. An empty variable counts as not set. For a run "
          "of "
          "another job give --workflow-run: whether it was a fork's is in there, not in this job.\n\n--era feb and aug "
          "answer as TheRock's scripts of February and August 2026 do; without it the buckets are those of August and "
          "the package directories are ours (docs/formats/run-layout.md).",
      .operands = {},
      .flags = {{"--run-id", "ID", "the run", {}, {}, {}, true},
                {"--platform", "P", "the run's platform", {"linux", "windows"}, {}, {}, true},
                {"--kind", "KIND", "which output", run::output_names(), "run"},
                {"--name", "NAME", "a file or path below the output's directory"},
                {"--artifact-group", "GROUP", "the group below logs, manifests and packages, such as gfx94X-dcgpu"},
                {"--repo", "OWNER/NAME", "the repository of the run (default: GITHUB_REPOSITORY, then ROCm/TheRock)"},
                {"--release-type", "TYPE",
                 "ci, dev, nightly, prerelease, dev-bkc, nightly-bkc (default: RELEASE_TYPE, then ci)"},
                {"--workflow-run", "FILE", "GitHub's workflow-run object of the run, as JSON"},
                {"--bucket", "NAME", "this bucket, whatever the rules say"},
                {"--era", "ERA", "the rules of", {"quarry", "feb", "aug"}, "quarry"},
                {"--local-dir", "DIR", "where the local path begins; one directory takes the place of one bucket"}},
      .examples = {{"quarry run locate --run-id 19680190301 --platform linux --kind python-index --artifact-group "
                    "gfx94X-dcgpu",
                    "the index of a run's packages"},
                   {"quarry run locate --run-id 42 --platform linux --workflow-run run.json --era aug --json",
                    "a run of a fork, for a script"}},
      .exit_codes = {{2, "a fact is malformed, contradictory or missing"}, {3, "that era keeps no such output"}},
      .schema = "quarry.run-location/1",
      .run = run_locate};
}

} // namespace

std::vector<Command> run_commands() { return {locate_command(), run_upload_command()}; }

} // namespace quarry::cli
