#include "base/text.hpp"
#include "cli/compat/stages.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

const Flag k_topology{"--topology", "FILE", "the stages of the build (default: BUILD_TOPOLOGY.toml, here)"};
const Flag k_stage_platform{.name = "--platform",
                            .value = "P",
                            .help = "the run's platform",
                            .choices = {"linux", "windows"},
                            .fallback = "linux",
                            .environment = "THEROCK_PLATFORM"};

// artifact_manager

struct Action {
  std::string name;
  Result<int> (*run)(Context&, const Arguments&);
  std::vector<std::string> flags; ///< besides --topology
};

const std::vector<Action>& actions() {
  static const std::vector<std::string>
      k_place = {"--run-id",       "--platform", "--run-github-repo", "--local-staging-dir", "--store",
                 "--workflow-run", "--era"},
      k_target_flags = {"--amdgpu-families", "--generic-only", "--amdgpu-targets", "--expand-family-to-targets"};
  auto with = [](std::vector<std::string> own, std::initializer_list<const std::vector<std::string>*> others) {
    for (const auto* other : others) own.insert(own.end(), other->begin(), other->end());
    return own;
  };
  static const std::vector<Action> k_actions = {
      {"fetch", fetch_stage,
       with({"--stage", "--output-dir", "--bootstrap", "--flatten", "--no-extract", "--download-cache-dir",
             "--download-concurrency", "--extract-concurrency", "--exclude-components", "--exclude-artifacts",
             "--allow-unverified"},
            {&k_place, &k_target_flags})},
      {"push", push_stage,
       with({"--stage", "--build-dir", "--compression-type", "--compress-concurrency", "--upload-concurrency"},
            {&k_place})},
      {"copy", copy_stages,
       with({"--stage", "--source-run-id", "--source-repository", "--concurrency", "--dry-run"},
            {&k_place, &k_target_flags})},
      {"info", show_stage, {"--stage", "--amdgpu-families"}},
      {"list-stages", list_stages, {}}};
  return k_actions;
}

Result<int> manage_artifacts(Context& context, const Arguments& arguments) {
  const auto& all = actions();
  const auto& said_action = arguments.operands.at(0);
  auto action = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == said_action; });
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.name);
  if (action == all.end()) return usage(said_action + " is not an action", "use one of " + text::join(names, ", "));
  for (const auto& [flag, fallback] : arguments.fallbacks) {
    bool takes = flag == "--topology" || flag == "--era" || !flag.starts_with("--") ||
                 !arguments.values.contains(flag) ||
                 std::find(action->flags.begin(), action->flags.end(), flag) != action->flags.end();
    bool is_of_another = std::any_of(all.begin(), all.end(), [&, name = &flag](const auto& one) {
      return std::find(one.flags.begin(), one.flags.end(), *name) != one.flags.end();
    });
    if (!takes && is_of_another && !arguments.origins.contains(flag))
      return usage(fmt::format("{} has no {}", said_action, flag), "omit it");
  }
  return action->run(context, arguments);
}

std::vector<Flag> manager_flags() {
  return {k_topology,
          {"--stage", "NAME", "the stage; fetch: all unless said; copy: several, with commas"},
          {.name = "--run-id",
           .value = "ID",
           .help = "the run (default: GITHUB_RUN_ID, then local)",
           .environment = "THEROCK_RUN_ID"},
          k_stage_platform,
          {"--run-github-repo", "OWNER/NAME", "the repository of the run (default: GITHUB_REPOSITORY)"},
          {.name = "--local-staging-dir",
           .value = "DIR",
           .help = "this directory instead of a bucket",
           .environment = "THEROCK_LOCAL_STAGING_DIR"},
          {"--amdgpu-families", "LIST", "archives of these families, too, separated by semicolons"},
          {"--generic-only", "", "generic archives only"},
          {"--amdgpu-targets", "A,B", "archives of these targets, too"},
          {"--expand-family-to-targets", "", "also those of the families' targets"},
          {"--output-dir", "DIR", "fetch: the build's directory"},
          {"--bootstrap", "", "fetch: each base directory to its place in the build, with its mark"},
          {"--flatten", "", "fetch: merge all base directories"},
          {"--no-extract", "", "fetch: keep the archives"},
          {"--download-cache-dir", "DIR", "fetch: where --no-extract keeps them"},
          {"--download-concurrency", "N", "fetch: archives on their way at the same time"},
          {"--extract-concurrency", "N", "fetch: threads that read and unpack"},
          {"--exclude-components", "LIST", "fetch: without these components"},
          {"--exclude-artifacts", "LIST", "fetch: without these artifacts"},
          {"--build-dir", "DIR", "push: the build's directory, with artifacts/"},
          {"--compression-type", "TYPE", "push: of the archives", {"zstd", "xz"}, "zstd"},
          {"--compress-concurrency", "N", "push: threads that pack"},
          {"--upload-concurrency", "N", "push: taken, and left to the program"},
          {"--source-run-id", "ID", "copy: the run to copy from"},
          {"--source-repository", "OWNER/NAME", "copy: its repository (default: GITHUB_REPOSITORY)"},
          {"--concurrency", "N", "copy: archives on their way at the same time"},
          {"--dry-run", "", "copy: show what would be copied"},
          k_store,
          k_workflow_run,
          {"--allow-unverified", "", "Quarry only: fetch archives that have no checksum file"},
          k_era};
}

Script manager_script() {
  return {.name = "artifact_manager",
          .summary = "artifacts between the stages of a build, as TheRock's script moves them",
          .description =
              "ACTION is fetch, push, copy, info or list-stages. Which artifacts a stage takes and makes is in "
              "BUILD_TOPOLOGY.toml of the sources that are built.\n\nfetch runs `quarry artifact fetch` for what goes "
              "into the stage; push packs what the build made of it, and runs `quarry run upload`; copy takes what "
              "stages made in another run, on the server where both stores are of one service. An archive's name never "
              "gets other bytes.",
          .operands = {{"ACTION", "fetch, push, copy, info or list-stages"}},
          .flags = manager_flags(),
          .refused = {{{"--compression-level", "N", ""},
                       "the level is fixed, so that one tree gives the same archive everywhere",
                       "omit it"}},
          .only_feb = {},
          .only_aug = {"--expand-family-to-targets", "--run-github-repo", "--download-cache-dir",
                       "--exclude-components", "--exclude-artifacts", "--source-run-id", "--source-repository",
                       "--concurrency", "--dry-run"},
          .examples = {{"quarry compat artifact_manager fetch --stage math-libs --run-id 42 --output-dir build "
                        "--amdgpu-families gfx94X-dcgpu --bootstrap --store file:store",
                        "what a stage needs, where its build looks for it"},
                       {"quarry compat artifact_manager push --stage math-libs --run-id 42 --build-dir build --store "
                        "file:store",
                        "what it made"}},
          .exit_codes = {{3, "nothing there that fits, or no such stage"},
                         {6, "an archive is damaged or has no checksum file"},
                         {7, "an archive of that name has other bytes"}},
          .schema = "quarry.compat-stages/1",
          .run = manage_artifacts};
}

// post_stage_upload

constexpr const char* k_manifest_stage = "compiler-runtime"; // whose build makes the list of sources

Result<int> post_stage_upload(Context& context, const Arguments& arguments) {
  auto run_id = said(arguments, "--run-id");
  if (!run_id) return usage("--run-id is missing", "name the run, or set GITHUB_RUN_ID");
  auto build = arguments.get("--build-dir");
  if (!sys::is_directory(build)) {
    context.out.note(fmt::format("note: there is no {}: the job ended before its build began", build));
    context.out.document({{"dry_run", false}, {"files", Json::array()}});
    return 0;
  }
  auto store = arguments.get("--store");
  if (auto directory = said(arguments, "--output-dir")) store = "file:" + *directory;
  TRY(auto place, place_of(context, arguments, {*run_id, arguments.get("--platform"), "", store}));
  place.environment.erase("QUARRY_S3_ANONYMOUS"); // nobody uploads unsigned
  auto stage = arguments.get("--stage");
  Words words{"run",          "upload",       build,
              "--store",      place.store,    "--run-id",
              *run_id,        "--platform",   arguments.get("--platform"),
              "--stage",      stage,          "--no-artifacts",
              "--ninja-logs", "--ccache-logs"};
  if (stage != k_manifest_stage) words.emplace_back("--no-manifests");
  pass(words, arguments, "--amdgpu-family", "--artifact-group");
  if (!place.external_repo.empty()) words.insert(words.end(), {"--external-repo", place.external_repo});
  if (arguments.has("--dry-run")) words.emplace_back("--dry-run");
  auto inner = at(context, place);
  return run_words(inner, words);
}

Script stage_upload_script() {
  auto platform = k_stage_platform;
  platform.environment.clear();
  return {.name = "post_stage_upload",
          .summary = "the logs of a build's stage into its run's place, as TheRock's script uploads them",
          .description =
              "Runs `quarry run upload` for logs alone: `logs/STAGE/`, or `logs/STAGE/FAMILY/` for a stage that is "
              "built once for each family. The stage compiler-runtime has the list of sources, too. A build that was "
              "never begun left nothing to upload: that is exit code 0.",
          .operands = {},
          .flags = {{.name = "--run-id", .value = "ID", .help = "the run", .environment = "GITHUB_RUN_ID"},
                    platform,
                    {.name = "--stage", .value = "NAME", .help = "the stage", .required = true},
                    {.name = "--build-dir",
                     .value = "DIR",
                     .help = "the build's directory",
                     .fallback = "build",
                     .environment = "BUILD_DIR"},
                    {"--amdgpu-family", "F", "the family of a stage that is built for each"},
                    {"--output-dir", "DIR", "upload into this directory instead of the bucket"},
                    {"--dry-run", "", "print what would be uploaded"},
                    k_store,
                    k_era},
          .refused = {{{"--compression-level", "N", ""},
                       "the level is fixed, so that the same logs give the same archive",
                       "omit it"}},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat post_stage_upload --stage math-libs --amdgpu-family gfx1151 --build-dir build "
                        "--run-id 42 --store file:store",
                        "after a stage, also when it failed"}},
          .exit_codes = {{4, "credentials are missing"}},
          .schema = "quarry.run-upload/1",
          .run = post_stage_upload};
}

} // namespace

std::vector<Command> stage_scripts() { return {command_of(manager_script()), command_of(stage_upload_script())}; }

} // namespace quarry::cli::compat
