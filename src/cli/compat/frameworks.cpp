#include "cli/compat/frameworks.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/compat/ci_families.hpp"
#include "cli/compat/script.hpp"
#include "cli/families.hpp"
#include "matrix/expand.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

const Flag k_frameworks_file{"--frameworks-file", "FILE", "Quarry only: the branches and Pythons (default: shipped)"};
const Flag k_families_file{"--families-file", "FILE", "Quarry only: a families file, or the name of a shipped table"};

Result<matrix::Frameworks> load_frameworks(const Context& context, const Arguments& arguments) {
  auto file = said(arguments, "--frameworks-file");
  if (!file) {
    const std::string shipped = "data/frameworks.toml";
    return matrix::parse_frameworks({context.resources.read(shipped).value_or(""), shipped});
  }
  TRY(auto text, sys::read_file(*file, 1u << 20), "while reading --frameworks-file");
  return matrix::parse_frameworks({std::move(text), *file});
}

Json pytorch_json(const std::vector<matrix::FrameworkRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back({{"python_version", row.python},
                    {"pytorch_git_ref", row.build.ref},
                    {"amdgpu_families", text::join(row.families, ";")},
                    {"test_amdgpu_families", row.tested ? "auto" : "none"}});
  return list;
}

Json jax_json(const std::vector<matrix::FrameworkRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back({{"python_version", row.python},
                    {"jax_ref", row.build.ref},
                    {"jax_label", row.build.label},
                    {"jax_repository", row.build.repository},
                    {"gfx_arch", row.build.device}});
  return list;
}

namespace {

const std::vector<std::string> k_release_types{"ci", "dev", "dev-bkc", "nightly", "nightly-bkc", "prerelease"};

std::vector<std::string> list_of(const Arguments& arguments, std::string_view flag) {
  std::vector<std::string> once;
  for (auto& word : text::split_any(said(arguments, flag).value_or(""), ",; \t\n"))
    if (std::find(once.begin(), once.end(), word) == once.end()) once.push_back(std::move(word));
  return once;
}

Result<std::vector<matrix::FrameworkRow>> rows_of(const Context& context, const Arguments& arguments,
                                                  matrix::FrameworkRequest request) {
  TRY(auto frameworks, load_frameworks(context, arguments));
  request.platform = Platform::read(arguments.get("--platform"));
  request.release_type = arguments.get("--release-type");
  request.pythons = list_of(arguments, "--python-versions");
  return matrix::framework_rows(frameworks, request);
}

Result<int> print_matrix(Context& context, const std::vector<std::pair<std::string, Json>>& outputs) {
  std::vector<std::pair<std::string, std::string>> lines;
  Json document;
  for (const auto& [name, value] : outputs) {
    lines.emplace_back(name, value.is_string() ? value.get<std::string>() : json::text(value));
    context.out.data(fmt::format("{}={}\n", name, lines.back().second));
    document[name] = value;
  }
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", lines));
  context.out.document(document);
  return 0;
}

// configure_pytorch_release_matrix

Result<int> pytorch_builds(Context& context, const Arguments& arguments) {
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  matrix::FrameworkRequest request;
  request.framework = "pytorch";
  request.families = list_of(arguments, "--amdgpu-families");
  if (request.families.empty())
    return usage("--amdgpu-families is missing", "without families there is nothing to build");
  TRY_DO(matrix::expand_targets(families, request.families)); // each is known
  request.refs = list_of(arguments, "--pytorch-git-refs");
  request.other_refs = true;
  TRY(auto rows, rows_of(context, arguments, std::move(request)));
  return print_matrix(context, {{"pytorch_matrix", pytorch_json(rows)}});
}

std::vector<Flag> build_matrix_flags(Flag refs) {
  return {{"--python-versions", "LIST", "these Pythons (default: those of the release type)"},
          std::move(refs),
          {"--platform", "P", "the platform", {"linux", "windows"}, "linux"},
          {"--release-type", "TYPE", "decides the defaults", k_release_types, "dev"},
          k_frameworks_file};
}

Script pytorch_release_script() {
  auto flags =
      build_matrix_flags({"--pytorch-git-refs", "LIST", "these branches (default: those of the release type)"});
  flags.push_back({"--amdgpu-families", "LIST", "families to build for, separated by semicolons"});
  flags.push_back(k_families_file);
  return {.name = "configure_pytorch_release_matrix",
          .summary = "the builds of PyTorch, as TheRock's script lists them",
          .description = "A row for each Python and branch, with the families that the branch can be built for. The "
                         "branches and Pythons are data (docs/formats/frameworks.md).",
          .operands = {},
          .flags = std::move(flags),
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat configure_pytorch_release_matrix --amdgpu-families 'gfx94X-dcgpu;gfx120X-all' "
                        "--release-type nightly",
                        "for the matrix of a workflow"}},
          .exit_codes = {{2, "an unknown family, or no row for what is asked"}},
          .schema = "quarry.compat-matrix/1",
          .run = pytorch_builds};
}

// configure_jax_release_matrix

Result<int> jax_builds(Context& context, const Arguments& arguments) {
  matrix::FrameworkRequest request;
  request.framework = "jax";
  request.refs = list_of(arguments, "--jax-refs");
  TRY(auto rows, rows_of(context, arguments, std::move(request)));
  return print_matrix(context, {{"jax_matrix", jax_json(rows)}});
}

Script jax_release_script() {
  auto flags = build_matrix_flags({"--jax-refs", "LIST", "these branches (default: those of the release type)"});
  return {.name = "configure_jax_release_matrix",
          .summary = "the builds of JAX, as TheRock's script lists them",
          .description = "A row for each Python and branch. The branches and Pythons are data "
                         "(docs/formats/frameworks.md).",
          .operands = {},
          .flags = std::move(flags),
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat configure_jax_release_matrix --release-type ci", "what CI builds"}},
          .exit_codes = {{2, "no row for what is asked"}},
          .schema = "quarry.compat-matrix/1",
          .run = jax_builds};
}

// configure_pytorch_test_matrix

/// The label of a family's runners for a purpose; empty: none. F003, F004.
Result<std::string> runner_of(const matrix::Families& families, const std::string& name, const Platform& platform,
                              std::string_view purpose) {
  const auto* family = families.find(name);
  if (!family)
    return fail(ErrorKind::invalid_argument, "F003", fmt::format("{} is not a family", name),
                "`quarry matrix show` lists them");
  const auto* place = family->find(platform);
  if (!place)
    return fail(ErrorKind::invalid_argument, "F004", fmt::format("{} is not built on {}", name, platform),
                "leave it out, or name the other platform");
  const auto* runners = place->find(purpose);
  return runners ? matrix::heaviest(*runners) : std::string();
}

/// The families to test, by what --test-amdgpu-families says of those that were built.
Result<std::vector<std::string>> families_to_test(const Arguments& arguments) {
  auto word = text::lower(text::trim(said(arguments, "--test-amdgpu-families").value_or("")));
  if (word.empty() || word == "auto" || word == "built") return list_of(arguments, "--build-amdgpu-families");
  if (word == "none" || word == "skip") return std::vector<std::string>();
  auto families = list_of(arguments, "--test-amdgpu-families");
  for (const auto& family : families)
    for (const auto* control : {"auto", "built", "none", "skip"})
      if (text::lower(family) == control)
        return usage(fmt::format("--test-amdgpu-families has {} among families", family), "say it alone");
  return families;
}

Result<int> print_tests(Context& context, Json include) {
  bool enabled = !include.empty();
  return print_matrix(context,
                      {{"enabled", enabled ? "true" : "false"}, {"matrix", {{"include", std::move(include)}}}});
}

Result<int> pytorch_tests(Context& context, const Arguments& arguments) {
  TRY(auto families, load_families_of_ci(context, arguments.get("--families-file")));
  TRY(auto asked, families_to_test(arguments));
  auto platform = Platform::read(arguments.get("--platform"));
  Json include = Json::array();
  for (const auto& family : asked) {
    TRY(auto runner, runner_of(families, family, platform, "test"));
    if (runner.empty())
      context.out.warn(fmt::format("warning: no machine tests {} on {}", family, platform));
    else
      include.push_back({{"amdgpu_family", family}, {"test_runs_on", runner}});
  }
  return print_tests(context, std::move(include));
}

Script pytorch_test_script() {
  return {.name = "configure_pytorch_test_matrix",
          .summary = "the tests of built PyTorch wheels, as TheRock's script lists them",
          .description = "A row for each family that a machine tests.",
          .operands = {},
          .flags = {{.name = "--build-amdgpu-families",
                     .value = "LIST",
                     .help = "the families that were built, separated by semicolons",
                     .required = true},
                    {"--test-amdgpu-families", "LIST", "these alone; auto: all that were built; none: no test"},
                    {"--platform", "P", "the platform", {"linux", "windows"}, "linux"},
                    k_families_file},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat configure_pytorch_test_matrix --build-amdgpu-families gfx94X-dcgpu",
                        "for the matrix of a workflow"}},
          .exit_codes = {{2, "an unknown family"}},
          .schema = "quarry.compat-matrix/1",
          .run = pytorch_tests};
}

// configure_jax_test_matrix

Result<int> jax_tests(Context& context, const Arguments& arguments) {
  TRY(auto families, load_families_of_ci(context, arguments.get("--families-file")));
  TRY(auto frameworks, load_frameworks(context, arguments));
  auto platform = Platform::read(arguments.get("--platform"));
  auto target = arguments.get("--target"), size = arguments.get("--test-size");
  auto today = matrix::weekday_of(context.clock.now_us());
  Json include = Json::array();
  bool known = false;
  for (const auto& tests : frameworks.tests) {
    if (tests.framework != "jax" || tests.size != size) continue;
    known = true;
    TRY(auto runner, runner_of(families, target, platform, tests.runner));
    if (!tests.weekday.empty() && tests.weekday != today)
      context.out.note(fmt::format("note: the {} tests run on {}s", tests.subset, tests.weekday));
    else if (runner.empty())
      context.out.warn(fmt::format("warning: no {} machine for {} on {}: its {} tests do not run", tests.runner, target,
                                   platform, tests.subset));
    else
      include.push_back({{"test_subset", tests.subset},
                         {"test_runs_on", runner},
                         {"test_timeout_minutes", tests.minutes},
                         {"test_list", tests.list}});
  }
  if (!known) return usage(fmt::format("{} is not a size of tests", size), "use small, medium or large");
  return print_tests(context, std::move(include));
}

Script jax_test_script() {
  return {.name = "configure_jax_test_matrix",
          .summary = "the tests of built JAX wheels, as TheRock's script lists them",
          .description = "Which part of the tests runs on which machine, and for how long at most "
                         "(docs/formats/frameworks.md).",
          .operands = {},
          .flags = {{.name = "--target", .value = "F", .help = "the family", .required = true},
                    {"--platform", "P", "the platform", {"linux", "windows"}, "linux"},
                    {.name = "--test-size", .value = "SIZE", .help = "small, medium or large", .required = true},
                    k_frameworks_file,
                    k_families_file},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat configure_jax_test_matrix --target gfx94X-dcgpu --test-size medium",
                        "for the matrix of a workflow"}},
          .exit_codes = {{2, "an unknown family or size"}},
          .schema = "quarry.compat-matrix/1",
          .run = jax_tests};
}

// configure_target_run

Result<int> target_run(Context& context, const Arguments& arguments) {
  auto table = said(arguments, "--families-file").value_or("therock-2026-02");
  TRY(auto families, load_families(context, table));
  auto target = context.variable("TARGET");
  auto platform = Platform::read(context.variable("PLATFORM"));
  if (target.empty() || !platform.kind()) return usage("TARGET or PLATFORM is missing", "set both for this step");
  TRY(auto runner, runner_of(families, target, platform, "test"));
  std::vector<std::pair<std::string, Json>> outputs;
  if (!runner.empty()) outputs.emplace_back("test-runs-on", runner);
  if (families.find(target)->find(platform)->release_untested)
    outputs.emplace_back("bypass_tests_for_releases", "true");
  return print_matrix(context, outputs);
}

Script target_run_script() {
  return {.name = "configure_target_run",
          .summary = "the machine that tests a family, as TheRock's script of February names it",
          .description = "Reads TARGET and PLATFORM, and writes `test-runs-on` if a machine tests the family, and "
                         "`bypass_tests_for_releases` if its releases do not wait for tests.",
          .operands = {},
          .flags = {k_families_file},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat configure_target_run", "test-runs-on=LABEL"}},
          .exit_codes = {{2, "an unknown family, or it is not built there"}},
          .schema = "quarry.compat-matrix/1",
          .run = target_run};
}

} // namespace

std::vector<Command> framework_scripts() {
  return {command_of(pytorch_release_script()), command_of(pytorch_test_script()), command_of(jax_release_script()),
          command_of(jax_test_script()), command_of(target_run_script())};
}

} // namespace quarry::cli::compat
