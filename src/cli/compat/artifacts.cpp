#include "artifact/name.hpp"
#include "base/text.hpp"
#include "cli/compat/components.hpp"
#include "cli/compat/script.hpp"
#include "cli/families.hpp"
#include "cli/switches.hpp"
#include "matrix/expand.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli::compat {

namespace {

using Targets = std::vector<std::string>;

const Flag k_run_id{"--run-id", "ID", "the run"};
const Flag k_repository{"--run-github-repo", "OWNER/NAME", "the repository of the run (default: GITHUB_REPOSITORY)"};
const Flag k_targets{"--amdgpu-targets", "A,B", "archives of these targets, too"};
const Flag k_unverified{"--allow-unverified", "", "Quarry only: accept archives that have no checksum file"};
const Flag k_platform{"--platform", "P", "the run's platform", {"linux", "windows"}, "linux"};

/// What the run holds: names and targets.
struct Holdings {
  std::vector<std::string> names;
  std::set<std::string> targets;
  bool has_target(const std::string& target) const {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const auto& held) { return artifact::target_base(held) == artifact::target_base(target); });
  }
};

Result<Holdings> holdings_of(Context& context, const Place& place) {
  TRY(auto document, ask_words(context, {"artifact", "list", place.locator(), "--store", place.store}));
  Holdings held;
  for (const auto& artifact : document["artifacts"]) {
    held.names.push_back(artifact["artifact"].get<std::string>());
    held.targets.insert(artifact["target"].get<std::string>());
  }
  return held;
}

/// A run whose archives are split by target has none for the group: it is left out where targets are asked for that
/// are there. A target that was asked for by name must be there.
void add_targets(Context& context, Words& words, const Holdings& held, const std::string& group,
                 const Targets& targets) {
  bool some = std::any_of(targets.begin(), targets.end(), [&](const auto& t) { return held.has_target(t); });
  if (!group.empty() && (!some || held.has_target(group)))
    words.insert(words.end(), {"--artifact-group", group});
  else if (!group.empty())
    context.out.note(fmt::format("note: no archive is for the group {}; those of its targets are taken", group));
  if (!targets.empty()) words.insert(words.end(), {"--amdgpu-targets", text::join(targets, ",")});
}

Words fetch_from(const Place& place, const std::string& output) {
  return {"artifact", "fetch", "--from", place.locator(), "--store", place.store, "--output-dir", output};
}

/// An empty expression matches every name, so the others beside it do not matter: `"${{ inputs.artifacts }}"` of a
/// workflow whose input was not given.
void add_includes(Words& words, const std::vector<std::string>& includes) {
  if (std::find(includes.begin(), includes.end(), "") != includes.end()) return;
  words.push_back("--"); // an expression may begin with a dash
  words.insert(words.end(), includes.begin(), includes.end());
}

// fetch_artifacts

Result<unsigned> concurrency(const Context& context, const Arguments& arguments, const std::string& flag) {
  auto value = said(arguments, flag);
  if (!value) return context.jobs;
  auto number = text::parse_u64(*value);
  if (number && *number > 0 && *number <= 1024) return static_cast<unsigned>(*number);
  return usage(fmt::format("{} must be a number from 1 to 1024, not {}", flag, *value), "omit it");
}

Result<Words> postprocessing(const Arguments& arguments) {
  Words words;
  for (const auto* form : {"--no-extract", "--extract", "--flatten"})
    if (arguments.has(form)) words.push_back(form);
  if (words.size() > 1)
    return usage(fmt::format("{} exclude each other", text::join(words, " and ")), "use only one of them");
  if (words == Words{"--extract"}) words.clear(); // as it is anyway
  return words;
}

Result<int> fetch_artifacts(Context& context, const Arguments& arguments) {
  auto group = said(arguments, "--artifact-group").value_or("");
  if (is_feb(arguments) && group.empty()) return usage("--artifact-group is missing", "name the run's group");
  TRY(auto form, postprocessing(arguments));
  TRY(auto dry_run, switched(arguments, "--dry-run"));
  TRY(auto downloads, concurrency(context, arguments, "--download-concurrency"));
  TRY(auto jobs, concurrency(context, arguments, "--extract-concurrency"));
  TRY(auto place, place_of(context, arguments,
                           {arguments.get("--run-id"), arguments.get("--platform"), "", arguments.get("--store")}));
  auto inner = at(context, place);
  inner.jobs = jobs;
  auto words = fetch_from(place, arguments.get("--output-dir"));
  auto targets = text::split_any(arguments.get("--amdgpu-targets"), ",; ");
  if (!group.empty() || !targets.empty()) {
    TRY(auto held, holdings_of(inner, place));
    add_targets(context, words, held, group, targets);
  }
  for (const auto& expression : arguments.list("--exclude")) words.insert(words.end(), {"--exclude", expression});
  words.insert(words.end(), form.begin(), form.end());
  constexpr unsigned k_transfers_max = 64; // of `artifact fetch`
  if (said(arguments, "--download-concurrency"))
    words.insert(words.end(), {"--transfers", std::to_string(std::min(downloads, k_transfers_max))});
  if (dry_run) words.push_back("--dry-run");
  if (arguments.has("--allow-unverified")) words.push_back("--allow-unverified");
  add_includes(words, arguments.operands);
  return run_words(inner, words);
}

std::vector<Flag> fetch_flags() {
  auto run_id = k_run_id;
  run_id.required = true;
  auto exclude = Flag{.name = "--exclude", .value = "REGEX", .help = "omit what one of these matches"};
  exclude.repeats = exclude.many = true;
  std::vector<Flag> flags = {
      run_id,
      {"--artifact-group", "G", "archives of this group and the generic ones (February: required)"},
      k_targets,
      exclude,
      k_platform,
      k_repository,
      {"--output-dir", "DIR", "where the artifacts go", {}, "build/artifacts"},
      {"--download-concurrency", "N", "archives on their way at the same time"},
      {"--extract-concurrency", "N", "threads that read and unpack"},
      {"--no-extract", "", "keep the archives"},
      {"--extract", "", "a directory for each artifact (default)"},
      {"--flatten", "", "merge all base directories"},
      {"--delete-after-extract", "", "as it is here anyway: no archive is left next to its directory"}};
  for (auto& flag : both_ways("--dry-run", "show what would be fetched")) flags.push_back(std::move(flag));
  flags.insert(flags.end(), {k_store, k_workflow_run, k_unverified, k_era});
  return flags;
}

Script fetch_script() {
  return {.name = "fetch_artifacts",
          .summary = "a run's artifacts in a directory, as TheRock's script fetches them",
          .description =
              "Runs `quarry artifact fetch` on the run's prefix, which today's rules for buckets decide. Every archive "
              "is verified; one that fails is an error, never skipped.\n\nWords after --exclude are expressions up to "
              "the next flag. Archives below `logs/` or of another run are never taken.",
          .operands = {{"REGEX", "only artifacts whose name matches one of these", false, true}},
          .flags = fetch_flags(),
          .refused = {{{"--target", "T", ""},
                       "in an older form of the script it named a group or a family, depending on the version",
                       "use --artifact-group GROUP for what the run calls gfx94X-dcgpu, or --amdgpu-targets gfx942 for "
                       "targets"},
                      {{"--no-delete-after-extract", "", ""},
                       "archives next to their own directories would be each artifact twice",
                       "fetch twice, with --no-extract into another directory"}},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat fetch_artifacts --run-id 42 --artifact-group gfx94X-dcgpu --store file:store",
                        "into build/artifacts"}},
          .exit_codes = {{3, "nothing there that fits"}, {6, "an archive is damaged or has no checksum file"}},
          .schema = "quarry.artifact-fetch/1",
          .run = fetch_artifacts};
}

// install_rocm_from_artifacts

Result<std::vector<std::string>> chosen_components(const Arguments& arguments) {
  std::vector<std::string> chosen;
  for (const auto& component : components()) {
    TRY(auto on, switched(arguments, std::string(component.flag)));
    if (on) chosen.emplace_back(component.flag);
  }
  return chosen;
}

Result<std::string> group_of(const Arguments& arguments) {
  auto group = said(arguments, "--artifact-group"), family = said(arguments, "--amdgpu-family");
  if (group && family) return usage("--artifact-group and --amdgpu-family exclude each other", "use only one of them");
  if (!group && !family) return usage("neither --artifact-group nor --amdgpu-family is given", "name the family");
  return group ? *group : *family;
}

/// August's script adds the family's own targets; of a family that nobody knows there are none.
Result<Targets> targets_of(const Context& context, const Arguments& arguments, const std::string& group,
                           const Holdings& held) {
  if (auto list = said(arguments, "--amdgpu-targets")) return text::split_any(*list, ",; ");
  if (is_feb(arguments)) return Targets();
  TRY(auto families, load_families(context, ""));
  auto targets = matrix::expand_targets(families, {group});
  if (!targets) return Targets();
  std::erase_if(*targets, [&](const auto& target) { return target == group || !held.has_target(target); });
  return std::move(*targets);
}

/// The script fetches less without a word when a run lacks what a switch means.
void warn_of_absent(Context& context, const std::vector<std::string>& chosen, const Holdings& held, bool tests,
                    bool feb) {
  for (const auto& component : components()) {
    if (std::find(chosen.begin(), chosen.end(), component.flag) == chosen.end()) continue;
    auto wanted = expressions_of(component, tests, feb);
    bool there = std::any_of(wanted.begin(), wanted.end(), [&](const auto& expression) {
      return std::any_of(held.names.begin(), held.names.end(),
                         [&](const auto& name) { return name.find(expression) != name.npos; });
    });
    if (!there) context.out.warn(fmt::format("warning: the run has no artifact that {} means", component.flag));
  }
}

/// "7.10.0a20260811", "7.10.0rc20260811" -> nightly; "7.10.0.dev0+0123abc" -> dev
Result<std::string> kind_of_release(const std::string& version) {
  if (version.find(".dev0+") != version.npos) return "dev";
  auto day = version.find_last_not_of("0123456789");
  if (day != version.npos && version.size() - day == 9 && (version[day] == 'a' || version[day] == 'c'))
    return "nightly";
  return usage(fmt::format("{} is not the version of a nightly or dev release", version),
               "such as 7.10.0a20260811 or 7.10.0.dev0+0123abc");
}

/// The whole SDK of a release, from the bucket of its kind. Tarballs there have no checksum files.
Result<int> install_release(Context& context, const Arguments& arguments, const std::string& group) {
  auto version = said(arguments, "--release").value_or("");
  TRY(auto kind, version.empty() ? Result<std::string>("nightly") : kind_of_release(version));
  auto bucket = fmt::format("s3://therock-{}-tarball", kind);
  auto from = said(arguments, "--store").value_or(bucket) + (is_feb(arguments) ? "" : "/v4/tarball");
  if (from.starts_with("file:")) from = from.substr(std::string_view("file:").size());
  auto platform = arguments.get("--platform");
  if (!version.empty()) from += fmt::format("/therock-dist-{}-{}-{}.tar.gz", platform, group, version);
  Words words{"artifact",          "fetch", "--from", from, "--output-dir", arguments.get("--output-dir"), "--flatten",
              "--allow-unverified"};
  if (version.empty())
    words.insert(words.end(), {"--tarballs", "--newest", "--artifact-group", group, "--platform", platform});
  if (arguments.has("--dry-run")) words.push_back("--dry-run");
  TRY(auto chosen, chosen_components(arguments));
  if (!chosen.empty() || arguments.has("--base-only"))
    context.out.note("note: a release's tarball holds every component");
  auto place = place_to_read(context, {});
  auto inner = at(context, place);
  return run_words(inner, words);
}

Result<int> install_rocm(Context& context, const Arguments& arguments) {
  TRY(auto group, group_of(arguments));
  bool run = said(arguments, "--run-id").has_value(), release = said(arguments, "--release").has_value();
  bool latest = arguments.has("--latest-release");
  TRY_DO(only_one_of(arguments, {"--run-id", "--release", "--latest-release"}));
  if (run + release + latest != 1)
    return usage("not one of --run-id, --release and --latest-release is given", "name the run, or the release");
  if (!run) return install_release(context, arguments, group);
  TRY(auto chosen, chosen_components(arguments));
  TRY(auto tests, switched(arguments, "--tests"));
  bool feb = is_feb(arguments), base_only = arguments.has("--base-only");
  TRY(auto place, place_of(context, arguments,
                           {arguments.get("--run-id"), arguments.get("--platform"), "", arguments.get("--store")}));
  auto inner = at(context, place);
  TRY(auto held, holdings_of(inner, place));
  TRY(auto targets, targets_of(context, arguments, group, held));
  auto words = fetch_from(place, arguments.get("--output-dir"));
  words.push_back("--flatten");
  add_targets(context, words, held, group, targets);
  if (arguments.has("--dry-run")) words.push_back("--dry-run");
  if (arguments.has("--allow-unverified")) words.push_back("--allow-unverified");
  if (!base_only) warn_of_absent(context, chosen, held, tests, feb);
  add_includes(words, expressions(chosen, tests, base_only, feb));
  return run_words(inner, words);
}

std::vector<Flag> install_flags() {
  std::vector<Flag> flags = {k_run_id,
                             {"--artifact-group", "G", "the run's group"},
                             {"--amdgpu-family", "F", "the same, by its older name"},
                             {"--output-dir", "DIR", "where the tree goes", {}, "./therock-build"},
                             k_targets,
                             k_repository,
                             {"--dry-run", "", "show what would be fetched"},
                             {"--base-only", "", "only what every choice has"},
                             {"--release", "V", "the tarball of this nightly or dev release, whole"},
                             {"--latest-release", "", "the tarball of the newest nightly release, whole"}};
  for (auto& flag : both_ways("--tests", "the chosen components' tests, too")) flags.push_back(std::move(flag));
  for (const auto& component : components())
    for (auto& flag : both_ways(std::string(component.flag), "choose this component")) flags.push_back(std::move(flag));
  flags.insert(flags.end(), {k_platform, k_store, k_workflow_run, k_unverified, k_era});
  return flags;
}

std::vector<std::string> of_one_month(bool Component::* month) {
  std::vector<std::string> flags;
  for (const auto& component : components())
    if (!(component.*month))
      flags.insert(flags.end(), {std::string(component.flag), "--no-" + std::string(component.flag.substr(2))});
  return flags;
}

Script install_script() {
  return {.name = "install_rocm_from_artifacts",
          .summary = "ROCm as one tree from a run's artifacts, as TheRock's script installs it",
          .description =
              "Runs `quarry artifact fetch --flatten` with the expressions that the component switches mean; "
              "without any switch everything is taken.\n\nThe output directory is never deleted: what an earlier fetch "
              "made stays, and files that no fetch made are a conflict. Two archives that own one path are refused.\n\n"
              "With --release or --latest-release it is the tarball of a whole SDK, from the bucket of nightly or dev "
              "releases. Those have no checksum files.",
          .operands = {},
          .flags = install_flags(),
          .refused = {{{"--input-dir", "DIR", ""}, "a copy of a tree needs no tool of ours", "cp -a DIR/. OUT"}},
          .only_feb = of_one_month(&Component::in_aug),
          .only_aug = of_one_month(&Component::in_feb),
          .examples = {{"quarry compat install_rocm_from_artifacts --run-id 42 --amdgpu-family gfx94X-dcgpu --blas "
                        "--tests --store file:store",
                        "the base, BLAS and its tests"}},
          .exit_codes = {{3, "nothing there that fits"},
                         {6, "an archive is damaged or has no checksum file"},
                         {7, "the directory holds files that no fetch made"}},
          .schema = "quarry.artifact-fetch/1",
          .run = install_rocm};
}

} // namespace

std::vector<Command> artifact_scripts() { return {command_of(fetch_script()), command_of(install_script())}; }

} // namespace quarry::cli::compat
