// configure_multi_arch_ci: what a run of CI builds and tests. The decisions are matrix::plan_ci's; this file reads what
// a job knows, and writes what its workflow reads.
#include "artifact/topology.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/compat/ci_changes.hpp"
#include "cli/compat/ci_families.hpp"
#include "cli/compat/frameworks.hpp"
#include "cli/compat/stages.hpp"
#include "cli/job_files.hpp"
#include "matrix/ci_run.hpp"
#include "run/github.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "workflow/graph.hpp"
#include "workflow/tree.hpp"
#include <algorithm>
#include <deque>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

/// "gfx94X, gfx120X" -> gfx94x, gfx120x
std::vector<std::string> names_of(const Context& context, const std::string& variable) {
  auto names = text::split_any(text::lower(context.variable(variable)), ", \t\n");
  std::vector<std::string> once;
  for (auto& name : names)
    if (!matrix::contains(once, name)) once.push_back(std::move(name));
  return once;
}

struct Switch {
  std::string variable;
  bool unsaid = true;
};
Result<bool> truth_of(const Context& context, const Switch& which) {
  auto said = text::lower(text::trim(context.variable(which.variable)));
  if (said.empty()) return which.unsaid;
  if (said == "true" || said == "false") return said == "true";
  return usage(fmt::format("{} is {:?}", which.variable, said), "set it to true or false");
}

std::string said_or(const Context& context, const std::string& variable, std::string unsaid) {
  std::string said(text::trim(context.variable(variable)));
  return said.empty() ? unsaid : said;
}

// ---- what changed

/// The names of workflows that CI consists of: its first file, and those that it calls. Without that file, all that
/// changed: nobody can say that they do not matter.
Result<std::vector<std::string>> workflows_of_ci(const std::string& first, const std::vector<std::string>& files) {
  std::vector<std::string> changed;
  for (const auto& file : files)
    if (file.starts_with(".github/workflows")) changed.push_back(file.substr(file.rfind('/') + 1));
  if (changed.empty() || !sys::exists(path::join(".github/workflows", first))) return changed;
  TRY(auto tree, workflow::open_directory("."));
  TRY(auto repository, workflow::read_repository(*tree));
  auto graph = workflow::graph_of(repository, {});
  std::vector<std::string> reached{first};
  for (std::size_t next = 0; next < reached.size(); ++next)
    for (const auto& edge : graph.edges) {
      const auto& called = graph.nodes.at(edge.to).name;
      bool calls = !edge.dispatch && graph.nodes.at(edge.from).name == reached[next];
      if (calls && !matrix::contains(reached, called)) reached.push_back(called);
    }
  return reached;
}

/// What of TheRock's stages another repository's change affects is decided by its name.
Result<matrix::CiChanges> changes_of(const std::string& external_repo) {
  TRY(auto repository, json::parse({external_repo, "EXTERNAL_REPO"}));
  auto name = repository.is_object() ? json::string_or(repository, "repository", "") : "";
  if (name.empty()) return usage("EXTERNAL_REPO has no `repository`", R"(set it to {"repository": "OWNER/NAME"})");
  name = name.substr(name.rfind('/') + 1);
  return matrix::CiChanges{{name}, {name}, {}, false};
}

struct Told {
  matrix::CiInputs inputs;
  std::optional<matrix::CiChanges> changes;
};

Result<std::optional<matrix::CiChanges>> changes_of_job(const Context& context, const matrix::Frameworks& frameworks,
                                                        const run::EventFacts& event) {
  using Changes = std::optional<matrix::CiChanges>;
  if (auto external = said_or(context, "EXTERNAL_REPO", ""); !external.empty()) {
    TRY(auto changes, changes_of(external));
    return Changes(std::move(changes));
  }
  auto name = context.variable("GITHUB_EVENT_NAME");
  if (name != "pull_request" && name != "push") return Changes();
  auto base = name == "push" ? event.before.value_or("HEAD^") : "HEAD^";
  if (base.empty()) return Changes(); // a new branch: all of its commits may be new
  TRY(auto changes, changes_since(context, base));
  TRY(changes.workflows, workflows_of_ci(frameworks.ci_workflow, changes.files));
  return Changes(std::move(changes));
}

Result<void> check_refused(const Context& context) {
  auto mode = said_or(context, "STAGE_REUSE_MODE", "dry-run");
  if (mode != "dry-run")
    return usage("STAGE_REUSE_MODE is " + mode + ": which stages a change does not affect is not computed",
                 "name them in PREBUILT_STAGES, and their run in BASELINE_RUN_ID");
  return {};
}

Result<Told> read_job(const Context& context, const matrix::Frameworks& frameworks) {
  TRY_DO(check_refused(context));
  Told told;
  auto& inputs = told.inputs;
  inputs.event = context.variable("GITHUB_EVENT_NAME");
  if (inputs.event.empty()) return usage("GITHUB_EVENT_NAME is missing", "set what GitHub sets in a job");
  run::EventFacts event;
  if (auto file = context.variable("GITHUB_EVENT_PATH"); !file.empty()) {
    TRY(auto payload, sys::read_file(file, run::k_github_document_max), "while reading GITHUB_EVENT_PATH");
    TRY(event, run::parse_event({payload, "the event's payload"}));
  } else if (inputs.event == "pull_request" || inputs.event == "push") {
    return usage("GITHUB_EVENT_PATH is missing", "set what GitHub sets in a job");
  }
  if (inputs.event == "pull_request") inputs.labels = event.labels;
  inputs.release_type = said_or(context, "RELEASE_TYPE", "ci");
  inputs.variant = said_or(context, "BUILD_VARIANT", "release");
  inputs.python = said_or(context, "PYTHON_VERSION", "");
  inputs.seed = context.variable("GITHUB_RUN_ID");
  inputs.linux = {names_of(context, "LINUX_AMDGPU_FAMILIES"), names_of(context, "LINUX_TEST_LABELS")};
  inputs.windows = {names_of(context, "WINDOWS_AMDGPU_FAMILIES"), names_of(context, "WINDOWS_TEST_LABELS")};
  TRY(inputs.python_packages, truth_of(context, {"BUILD_PYTHON_PACKAGES", true}));
  TRY(inputs.pytorch, truth_of(context, {"BUILD_PYTORCH", true}));
  TRY(inputs.jax, truth_of(context, {"BUILD_JAX", false}));
  bool skips = matrix::contains(inputs.labels, "ci:skip");
  if (skips) return told; // whatever changed
  TRY(told.changes, changes_of_job(context, frameworks, event));
  return told;
}

// ---- what the workflow reads

/// Stages whose artifacts are copied from another run.
Result<std::string> prebuilt_stages(const Context& context, const Arguments& arguments) {
  auto stages = names_of(context, "PREBUILT_STAGES");
  if (matrix::contains(stages, "all")) {
    TRY(auto topology, topology_of(arguments));
    stages.clear();
    for (const auto& stage : topology.stages()) stages.push_back(stage.name);
  }
  return text::join(stages, ",");
}

std::string names_of(const matrix::CiBuild& build) {
  std::vector<std::string> names;
  for (const auto& one : build.families) names.push_back(one.family->name);
  return text::join(names, ";");
}

Json family_json(const matrix::CiFamily& one, const FamilyOverrides& overrides) {
  Json info{{"amdgpu_family", one.family->name},
            {"amdgpu_targets", text::join(one.place->fetch, ",")},
            {"test-runs-on", one.runner},
            {"sanity_check_only_for_family", one.place->tests == matrix::Scope::sanity}};
  if (one.any_of_runners)
    for (const auto& runner : *one.place->find("test"))
      info["test-runs-on-labels"].push_back({{"label", runner.label}, {"count", runner.weight}});
  if (const auto* labels = overrides.labels_of(one.family->key, one.place->platform))
    info["test_labels_for_family"] = Json::parse(*labels);
  return info;
}

struct Written {
  const matrix::CiRun& run;
  const matrix::Frameworks& frameworks;
  const FamilyOverrides& overrides;
  std::string seed, stages, baseline_run, baseline_repository;
};

const matrix::CiBuild* build_on(const matrix::CiRun& run, const Platform& platform) {
  for (const auto& build : run.builds)
    if (build.platform == platform) return &build;
  return nullptr;
}

Json build_json(const Written& written, const matrix::CiBuild& build) {
  Json families = Json::array(), tests = Json::array();
  for (const auto& one : build.families) families.push_back(family_json(one, written.overrides));
  for (const auto& test : matrix::package_tests(written.frameworks, build, written.seed))
    tests.push_back({{"amdgpu_family", test.family->family->name},
                     {"test_runs_on", test.runner},
                     {"python_version", test.python},
                     {"container_image_name", test.environment.name},
                     {"container_image_url", test.environment.image}});
  auto on = [&](const Platform& platform) {
    const auto* other = build_on(written.run, platform);
    return other ? names_of(*other) : "";
  };
  const auto& suffix = build.variant->suffix;
  return {{"per_family_info", families},
          {"dist_amdgpu_families", names_of(build)},
          {"artifact_group", "multi-arch-" + (suffix.empty() ? "release" : suffix)},
          {"build_variant_label", build.variant->name},
          {"build_variant_suffix", suffix},
          {"build_variant_cmake_preset", build.variant->preset},
          {"build_native_linux", true},
          {"build_python_packages", build.python_packages},
          {"build_pytorch", !build.pytorch.empty()},
          {"build_jax", !build.jax.empty()},
          {"test_python_packages_matrix", tests},
          {"pytorch_build_matrix", pytorch_json(build.pytorch)},
          {"jax_build_matrix", jax_json(build.jax)},
          {"build_runs_on", build.runner},
          {"prebuilt_stages", written.stages},
          {"baseline_run_id", written.baseline_run},
          {"baseline_repository", written.baseline_repository},
          {"linux_amdgpu_families", on(Platform::linux)},
          {"windows_amdgpu_families", on(Platform::windows)}};
}

std::string summary_of(const Context& context, const Written& written) {
  const auto& run = written.run;
  std::string page = "## What this run builds and tests\n\n";
  if (!run.enabled) return page + fmt::format("Nothing: {}.\n", run.skipped);
  page += fmt::format("`{}` on `{}`. Tests: **{}** ({}).", context.variable("GITHUB_EVENT_NAME"),
                      context.variable("GITHUB_REF_NAME"), run.test_type, run.test_reason);
  if (!written.stages.empty()) page += fmt::format(" Stages from run {}: {}.", written.baseline_run, written.stages);
  page += run.builds.empty() ? "\n\nNo family is built.\n" : "\n\n| platform | family | tested on |\n|---|---|---|\n";
  for (const auto& build : run.builds)
    for (const auto& one : build.families)
      page += fmt::format("| {} {} | `{}` | {} |\n", build.platform, build.variant->name, one.family->name,
                          one.runner.empty() ? one.untested : fmt::format("`{}`", one.runner));
  for (const auto& build : run.builds) {
    for (const auto& row : build.pytorch)
      page += fmt::format("- PyTorch {} for Python {} on {}\n", row.build.ref, row.python, build.platform);
    for (const auto& row : build.jax) page += fmt::format("- JAX {} for Python {}\n", row.build.ref, row.python);
  }
  for (const auto& note : run.notes) page += fmt::format("- {}\n", note);
  return page;
}

Result<int> configure_ci(Context& context, const Arguments& arguments) {
  TRY(auto table, load_families_of_ci(context, arguments.get("--families-file")));
  TRY(auto overrides, family_overrides(context));
  TRY(auto families, with_overrides(context, std::move(table), overrides));
  TRY(auto frameworks, load_frameworks(context, arguments));
  TRY(auto told, read_job(context, frameworks));
  TRY(auto stages, prebuilt_stages(context, arguments));
  TRY(auto run, matrix::plan_ci(families, frameworks, told.inputs, told.changes));
  for (const auto& note : run.notes) context.out.warn("warning: " + note);
  Written written{run,
                  frameworks,
                  overrides,
                  told.inputs.seed,
                  stages,
                  context.variable("BASELINE_RUN_ID"),
                  context.variable("THEROCK_REPOSITORY")};
  Json document;
  std::vector<std::pair<std::string, std::string>> lines{{"enable_build_jobs", run.enabled ? "true" : "false"}};
  for (const auto& platform : Platform::all()) {
    auto name = fmt::format("{}_build_config", platform);
    const auto* build = build_on(run, platform);
    document[name] = build ? build_json(written, *build) : Json("");
    lines.emplace_back(name, build ? json::text(document[name]) : "");
  }
  lines.emplace_back("test_type", run.test_type);
  lines.emplace_back("linux_test_labels", json::text(run.linux_tests));
  lines.emplace_back("windows_test_labels", json::text(run.windows_tests));
  for (const auto& [name, value] : lines) {
    context.out.data(fmt::format("{}={}\n", name, value));
    if (!document.contains(name)) document[name] = value;
  }
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", lines));
  TRY_DO(append_summary(context, summary_of(context, written)));
  context.out.document(document);
  return 0;
}

Script multi_arch_script() {
  return {.name = "configure_multi_arch_ci",
          .summary = "what a run of CI builds and tests, as TheRock's script decides it",
          .description =
              "Reads the event that GITHUB_EVENT_NAME and GITHUB_EVENT_PATH tell, the labels of its pull request, what "
              "git says has changed, and what the workflow's variables ask for. Writes one JSON object for each "
              "platform: families with their machines, the builds of PyTorch and JAX, the tests of the Python "
              "packages. Families, branches, environments and the paths that build nothing are data "
              "(docs/formats/families.md, docs/formats/frameworks.md). The directory CI_CONFIG_PATH and "
              "EXTERNAL_FAMILY_OVERRIDES replace machines and settings of families for this run.\n\n"
              "The job's summary says for each family where it is tested, or why it is not.",
          .operands = {},
          .flags = {k_frameworks_file,
                    k_families_file,
                    {"--topology", "FILE",
                     "Quarry only: the stages that PREBUILT_STAGES=all means (default: BUILD_TOPOLOGY.toml)"}},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat configure_multi_arch_ci", "in the first job of a workflow"}},
          .exit_codes = {{2, "an unknown family, variant, label or word"}, {3, "git does not know the base"}},
          .schema = "quarry.compat-matrix/1",
          .run = configure_ci};
}

} // namespace

std::vector<Command> ci_scripts() { return {february_ci_command(), command_of(multi_arch_script())}; }

} // namespace quarry::cli::compat
