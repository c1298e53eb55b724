#include "cli/compat/script.hpp"

#include "artifact/name.hpp"
#include "base/text.hpp"
#include "cli/families.hpp"
#include "cli/switches.hpp"
#include "matrix/expand.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

// find_artifacts_for_commit

/// What every question has, whichever groups it is about.
Words question_of(const Arguments& arguments) {
  Words words{"artifact", "find", "--era", arguments.get("--era"), "--platform", arguments.get("--platform")};
  auto workflow = said(arguments, "--workflow").value_or(is_feb(arguments) ? "ci.yml" : "multi_arch_ci.yml");
  words.insert(words.end(), {"--workflow", workflow, "--repo", arguments.get("--repo")});
  for (const auto* flag : {"--commit", "--run-id", "--store"}) pass(words, arguments, flag);
  for (const auto& target : arguments.list("--amdgpu-target")) words.insert(words.end(), {"--amdgpu-target", target});
  for (const auto& expression : arguments.list("--require-artifact"))
    words.insert(words.end(), {"--require", expression});
  if (arguments.has("--require-successful-run")) words.push_back("--latest-good");
  return words;
}

std::string text_of(const std::string& group, const Json& run) {
  auto at = [&](const char* key) { return run[key].is_string() ? run[key].get<std::string>() : std::string("-"); };
  return fmt::format("{}\n  run       {}  {}  {}\n  commit    {}\n  workflow  {}\n  bucket    {}\n  prefix    {}\n"
                     "  place     {}\n  https     {}\n",
                     group, at("run_id"), at("conclusion"), at("html_url"), at("commit"), at("workflow"), at("bucket"),
                     at("prefix"), at("s3_uri"), at("https_url"));
}

/// What one group has: its archives and the generic ones.
Json files_of(const Json& run, const matrix::Families& families, const std::string& group,
              const std::vector<std::string>& more) {
  std::vector<std::string> wanted{group, "generic"};
  wanted.insert(wanted.end(), more.begin(), more.end());
  if (auto targets = matrix::expand_targets(families, {group}))
    wanted.insert(wanted.end(), targets->begin(), targets->end());
  auto fits = [&](const std::string& target) {
    auto of = [](std::string_view one) { return text::lower(artifact::target_base(one)); };
    return std::any_of(wanted.begin(), wanted.end(), [&](const auto& one) { return of(one) == of(target); });
  };
  Json names = Json::array();
  for (const auto& file : run["files"])
    if (fits(file["target"].get<std::string>())) names.push_back(file["file"]);
  return names;
}

/// The fields that the script prints.
Json result_of(const Arguments& arguments, const Json& run, const std::string& group, Json files) {
  auto repository = arguments.get("--repo");
  auto commit = run["commit"].get<std::string>(), place = run["prefix"].get<std::string>() + "/";
  auto external = run["external_repo"].get<std::string>();
  auto bucket = run["bucket"].get<std::string>();
  return {{"git_commit_sha", commit},
          {"git_commit_url", fmt::format("https://github.com/{}/commit/{}", repository, commit)},
          {"github_repository_name", repository},
          {"external_repo", external},
          {"platform", arguments.get("--platform")},
          {"artifact_group", group},
          {"amdgpu_targets", arguments.list("--amdgpu-target")},
          {"workflow_file_name", run["workflow"]},
          {"workflow_run_id", run["run_id"]},
          {"workflow_run_status", run["status"]},
          {"workflow_run_conclusion", run["conclusion"]},
          {"workflow_run_html_url", run["html_url"]},
          {"s3_bucket", bucket},
          {"s3_path", place},
          {"s3_uri", fmt::format("s3://{}/{}", bucket, place)},
          {"s3_index_url", run["https_url"].get<std::string>() + "/index.html"},
          {"artifact_filenames", std::move(files)},
          {"required_artifact_patterns", arguments.list("--require-artifact")},
          {"missing_required_artifact_patterns", Json::array()}};
}

Result<int> find_artifacts(Context& context, const Arguments& arguments) {
  auto groups = arguments.list("--artifact-group");
  bool commit = said(arguments, "--commit").has_value(), run_id = said(arguments, "--run-id").has_value();
  if (commit == run_id)
    return usage(commit ? "--commit and --run-id exclude each other" : "--commit is missing", "use only one of them");
  if (groups.empty()) return usage("--artifact-group is missing", "name the groups that are wanted");
  if (is_feb(arguments) && groups.size() > 1)
    return usage("February's script takes one --artifact-group", "call it once for each, or use --era aug");
  auto targets = arguments.list("--amdgpu-target");
  if (!targets.empty() && groups.size() > 1)
    return usage("--amdgpu-target is for one --artifact-group", "call it once for each group");
  TRY(auto families, load_families(context, ""));
  // Either one run for all of them, or for each the newest run that has it.
  std::vector<std::vector<std::string>> asked;
  if (arguments.has("--require-single-run"))
    asked.push_back(groups);
  else
    for (const auto& group : groups) asked.push_back({group});
  Json found = Json::array();
  for (const auto& together : asked) {
    auto words = question_of(arguments);
    for (const auto& group : together) words.insert(words.end(), {"--artifact-group", group});
    TRY(auto answer, ask_words(context, words), "while looking for " + text::join(together, ", "));
    for (const auto& group : together) {
      context.out.data(text_of(group, answer["run"]));
      found.push_back(result_of(arguments, answer["run"], group, files_of(answer["run"], families, group, targets)));
    }
  }
  context.out.document({{"status", "found"}, {"results", found}});
  return 0;
}

Script find_script() {
  Flag groups{.name = "--artifact-group", .value = "G", .help = "the groups that are wanted (February: one)"};
  groups.repeats = groups.many = true;
  Flag targets{.name = "--amdgpu-target", .value = "T", .help = "an archive of this target counts for the group, too"};
  targets.repeats = true;
  Flag required{.name = "--require-artifact", .value = "REGEX", .help = "the run must have such an artifact"};
  required.repeats = true;
  return {.name = "find_artifacts_for_commit",
          .summary = "find the artifacts of a commit, compatible with TheRock's script",
          .description =
              "Asks `quarry artifact find` for each group: the newest run of the commit that has an artifact of that "
              "family, or of one of its targets. Generic ones alone prove nothing, nor does a page.\n\n"
              "A group that no run has is an error, also when another one was found.",
          .operands = {},
          .flags = {{"--commit", "SHA", "the commit"},
                    {"--repo", "OWNER/NAME", "the repository of the workflow", {}, "ROCm/TheRock"},
                    {"--workflow", "FILE", "which workflow (default: multi_arch_ci.yml, in February ci.yml)"},
                    {"--platform", "P", "the run's platform", {"linux", "windows"}, "linux"},
                    groups,
                    targets,
                    {"--run-id", "ID", "this run instead of a commit's"},
                    required,
                    {"--require-single-run", "", "one run must have all groups"},
                    {"--require-successful-run", "", "only runs that succeeded"},
                    k_store,
                    k_era},
          .refused = {},
          .only_feb = {},
          .only_aug = {"--amdgpu-target", "--run-id", "--require-artifact", "--require-single-run",
                       "--require-successful-run"},
          .examples = {{"quarry compat find_artifacts_for_commit --commit 0123abcd --artifact-group gfx94X-dcgpu",
                        "the newest run of the commit that has them"}},
          .exit_codes = {{3, "no run has them"},
                         {4, "GitHub refuses the token"},
                         {5, "GitHub's limit of requests is reached, or it does not answer"}},
          .schema = "quarry.compat-find/1",
          .run = find_artifacts};
}

// post_build_upload

bool is_true(const std::string& text) {
  auto lower = text::lower(text);
  return lower == "true" || lower == "1" || lower == "yes" || lower == "on" || lower == "y" || lower == "t";
}

Result<int> post_build_upload(Context& context, const Arguments& arguments) {
  auto group = said(arguments, "--artifact-group");
  if (!group) return usage("--artifact-group is missing", "name the group, or set ARTIFACT_GROUP");
  TRY(bool upload, switched(arguments, "--upload", is_true(context.variable("CI"))));
  auto run_id = said(arguments, "--run-id");
  if (upload && !run_id) return usage("--run-id is missing", "name the run, or use --no-upload");
  auto store = arguments.get("--store");
  if (auto directory = arguments.find("--output-dir")) store = "file:" + *directory; // the same keys, on a disk
  TRY(auto place, place_of(context, arguments, {run_id.value_or("local"), arguments.get("--platform"), "", store}));
  place.environment.erase("QUARRY_S3_ANONYMOUS"); // nobody uploads unsigned
  Words words{"run",
              "upload",
              arguments.get("--build-dir"),
              "--store",
              place.store,
              "--run-id",
              run_id.value_or("local"),
              "--platform",
              arguments.get("--platform"),
              "--artifact-group",
              *group,
              "--layout",
              arguments.get("--era"),
              "--ninja-logs"};
  // Since then each stage sends its own archives (artifact_manager push).
  if (!is_feb(arguments)) words.insert(words.end(), {"--no-artifacts", "--ccache-logs"});
  if (!place.external_repo.empty()) words.insert(words.end(), {"--external-repo", place.external_repo});
  auto status = said(arguments, "--job-status").value_or("success");
  if (status != "success") words.emplace_back("--build-failed");
  if (status != "success" && is_feb(arguments)) words.emplace_back("--no-artifacts");
  if (!upload || arguments.has("--dry-run")) words.push_back("--dry-run");
  auto inner = at(context, place);
  return run_words(inner, words);
}

Script run_upload_script() {
  std::vector<Flag> flags = {
      {.name = "--artifact-group", .value = "G", .help = "the run's group", .environment = "ARTIFACT_GROUP"},
      {.name = "--build-dir",
       .value = "DIR",
       .help = "the build's directory",
       .fallback = "build",
       .environment = "BUILD_DIR"},
      {"--run-id", "ID", "the run"},
      {"--job-status", "STATUS", "of the job; anything but success is a failed build: logs and manifests only"}};
  for (auto& flag : both_ways("--upload", "upload (default: when CI is true)")) flags.push_back(std::move(flag));
  flags.push_back({"--output-dir", "DIR", "upload into this directory instead of the bucket"});
  flags.push_back({"--dry-run", "", "print what would be uploaded"});
  flags.insert(flags.end(),
               {{"--platform", "P", "Quarry only: the run's platform", {"linux", "windows"}, "linux"}, k_store, k_era});
  return {
      .name = "post_build_upload",
      .summary = "a build's logs and manifest into its run's place, as TheRock's script uploads them",
      .description =
          "Runs `quarry run upload` into today's bucket. Logs have a page and types that browsers show; an upload "
          "that fails is an error. GITHUB_STEP_SUMMARY gets the links. In February's form the artifacts go up, too; "
          "since then `artifact_manager push` sends them.",
      .operands = {},
      .flags = std::move(flags),
      .refused = {},
      .only_feb = {},
      .only_aug = {"--output-dir", "--dry-run"},
      .examples = {{"quarry compat post_build_upload --artifact-group gfx94X-dcgpu --build-dir build --run-id 42 "
                    "--upload --store file:store",
                    "after a build"}},
      .exit_codes = {{3, "no build directory; February: a build that succeeded left no artifacts"},
                     {6, "an archive is not what its checksum file says"},
                     {7, "an archive of that name has other bytes"}},
      .schema = "quarry.run-upload/1",
      .run = post_build_upload};
}

} // namespace

std::vector<Command> run_scripts() { return {command_of(find_script()), command_of(run_upload_script())}; }

} // namespace quarry::cli::compat
