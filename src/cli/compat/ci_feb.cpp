// configure_ci of February: the matrix of families and variants for each platform, and whether anything is built.
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/compat/ci_changes.hpp"
#include "cli/compat/frameworks.hpp"
#include "cli/families.hpp"
#include "cli/job_files.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

using Texts = std::vector<std::string>;

/// The names of tests that a label may choose, in February.
constexpr std::array<std::string_view, 31> k_tests_of_february{"hip-tests",
                                                               "rocblas",
                                                               "rocroller",
                                                               "hipblas",
                                                               "hipblaslt",
                                                               "hipsolver",
                                                               "rocsolver",
                                                               "rocprim",
                                                               "rocprofiler_systems",
                                                               "hipcub",
                                                               "rocr-debug-agent",
                                                               "rocthrust",
                                                               "hipsparse",
                                                               "rocsparse",
                                                               "hipsparselt",
                                                               "rocrand",
                                                               "hiprand",
                                                               "rocfft",
                                                               "hipfft",
                                                               "miopen",
                                                               "rccl",
                                                               "hipdnn",
                                                               "hipdnn_install",
                                                               "hipdnn-samples",
                                                               "miopenprovider",
                                                               "hipblasltprovider",
                                                               "rocwmma",
                                                               "libhipcxx_hipcc",
                                                               "libhipcxx_hiprtc",
                                                               "aqlprofile",
                                                               "rocrtst"};

/// Changes of these files build nothing.
constexpr std::array<std::string_view, 9> k_idle_of_february{
    "docs/**",        "**/*.gitignore", "**/*.md",        "**/*.pre-commit-config.*", ".github/dependabot.yml",
    "**/*CODEOWNERS", "**/*LICENSE",    "dockerfiles/**", "experimental/**"};

/// The workflows that CI consists of.
constexpr std::array<std::string_view, 10> k_workflows_of_february{"setup.yml",
                                                                   "ci*.yml",
                                                                   "multi_arch*.yml",
                                                                   "build*artifact*.yml",
                                                                   "build*ci.yml",
                                                                   "build*python_packages.yml",
                                                                   "test*artifacts.yml",
                                                                   "test_rocm_wheels.yml",
                                                                   "test_sanity_check.yml",
                                                                   "test_component.yml"};

template <std::size_t N> bool matches_any(const std::array<std::string_view, N>& globs, std::string_view path) {
  return std::any_of(globs.begin(), globs.end(), [&](auto glob) { return text::glob_match(glob, path); });
}

struct FebruaryJob {
  std::string event, branch, variant;
  Texts labels;  ///< of the pull request
  Texts options; ///< labels, and those that a dispatch adds
  bool multi_arch = false;

  bool is(std::string_view name) const { return event == name; }
  bool labelled(std::string_view label) const {
    return is("pull_request") && std::find(labels.begin(), labels.end(), label) != labels.end();
  }
  /// Whether branches of this name live long: then postsubmit families run at a push, too.
  bool lives_long() const { return branch == "main" || branch.starts_with("release/therock-"); }
};

/// {"labels": [{"name": "…"}]}, as `gh pr view --json labels` prints it.
Result<Texts> labels_of(const std::string& said) {
  Texts labels;
  if (text::trim(said).empty()) return labels;
  TRY(auto document, json::parse({said, "PR_LABELS"}));
  auto list = document.is_object() ? document.value("labels", Json::array()) : Json();
  if (!list.is_array()) return usage("PR_LABELS has no list `labels`", "set it to `gh pr view NUMBER --json labels`");
  for (const auto& label : list) labels.push_back(json::string_or(label, "name", ""));
  return labels;
}

Texts without_blanks(const std::string& list) {
  Texts words;
  for (const auto& word : text::split(list, ','))
    if (auto trimmed = text::trim(word); !trimmed.empty()) words.emplace_back(trimmed);
  return words;
}

Result<FebruaryJob> read_february(const Context& context) {
  FebruaryJob job;
  job.event = context.variable("GITHUB_EVENT_NAME");
  job.branch = context.variable("GITHUB_REF_NAME");
  if (job.branch.empty()) return usage("GITHUB_REF_NAME is missing", "set what GitHub sets in a job");
  constexpr std::array<std::string_view, 4> k_events{"pull_request", "push", "schedule", "workflow_dispatch"};
  if (std::find(k_events.begin(), k_events.end(), job.event) == k_events.end())
    return usage(fmt::format("GITHUB_EVENT_NAME is {:?}", job.event),
                 "use one of: " + fmt::format("{}", fmt::join(k_events, ", ")));
  TRY(job.labels, labels_of(context.variable("PR_LABELS")));
  job.options = job.labels;
  for (auto& option : without_blanks(context.variable("ADDITIONAL_LABEL_OPTIONS"))) job.options.push_back(option);
  job.variant = context.variable("BUILD_VARIANT");
  if (job.variant.empty()) job.variant = "release";
  job.multi_arch = context.variable("MULTI_ARCH") == "true";
  return job;
}

// ---- which families, which tests

using Chosen = std::vector<const matrix::Family*>;

void add_tiers(const matrix::Families& families, const Texts& tiers, Chosen& chosen) {
  for (const auto& family : families.families)
    if (matrix::contains(tiers, family.tier) && std::find(chosen.begin(), chosen.end(), &family) == chosen.end())
      chosen.push_back(&family);
}

Result<Chosen> families_of_february(Context& context, const FebruaryJob& job, const matrix::Families& families,
                                    const Platform& platform) {
  Chosen chosen;
  auto add = [&](const matrix::Family* family) {
    if (std::find(chosen.begin(), chosen.end(), family) == chosen.end()) chosen.push_back(family);
  };
  if (job.is("workflow_dispatch")) {
    auto variable = platform == Platform::linux ? "INPUT_LINUX_AMDGPU_FAMILIES" : "INPUT_WINDOWS_AMDGPU_FAMILIES";
    for (const auto& name : text::split_any(context.variable(variable), " ,;|\t\n")) {
      const auto* family = families.find(name);
      if (!family)
        return fail(ErrorKind::invalid_argument, "F003", fmt::format("the family {} does not exist", name),
                    "`quarry matrix show` lists them");
      add(family);
    }
    return chosen;
  }
  if (job.labelled("skip-ci")) return chosen;
  auto tiers = Texts{"presubmit"};
  if (job.is("schedule") || job.labelled("run-all-archs-ci"))
    tiers = families.tiers;
  else if (job.is("push") && job.lives_long())
    tiers.emplace_back("postsubmit");
  add_tiers(families, tiers, chosen);
  if (!job.is("pull_request")) return chosen;
  for (const auto& label : job.labels) {
    if (label.find("gfx") == label.npos) continue;
    if (const auto* family = families.find(label.substr(0, label.find('-'))))
      add(family);
    else
      context.out.warn(fmt::format("warning: the label {} names no family", label));
  }
  return chosen;
}

Texts tests_of_february(Context& context, const FebruaryJob& job, const Platform& platform) {
  Texts labels;
  if (job.is("workflow_dispatch"))
    labels =
        without_blanks(context.variable(platform == Platform::linux ? "LINUX_TEST_LABELS" : "WINDOWS_TEST_LABELS"));
  else if (job.is("pull_request") && !job.labelled("skip-ci"))
    labels = job.labels;
  Texts tests;
  for (const auto& label : labels) {
    auto at = label.find("test:");
    if (at == label.npos) continue;
    auto test = text::lower(label.substr(at + 5));
    if (std::find(k_tests_of_february.begin(), k_tests_of_february.end(), test) == k_tests_of_february.end())
      context.out.warn(fmt::format("warning: the label {} names no test", label));
    else if (!matrix::contains(tests, test))
      tests.push_back(std::move(test));
  }
  return tests;
}

// ---- rows

bool expects_failure(const matrix::Place& place, std::string_view of) {
  return std::find(place.expected_failure.begin(), place.expected_failure.end(), of) != place.expected_failure.end();
}

void add_runner(Json& row, const matrix::Place& place, const std::string& field, std::string_view purpose) {
  if (const auto* runners = place.find(purpose)) row[field] = matrix::heaviest(*runners);
}

/// The machine that a label "test_runner:KERNEL" asks for; a family without one is not tested.
void choose_kernel(const FebruaryJob& job, const matrix::Place& place, Json& row) {
  for (const auto& label : job.options) {
    if (label.find("test_runner") == label.npos) continue;
    auto kernel = label.substr(label.find(':') + 1);
    auto found = place.kernels.find(kernel);
    row["test-runs-on"] = found == place.kernels.end() ? "" : found->second;
    if (found == place.kernels.end() && row.contains("test-runs-on-multi-gpu")) row["test-runs-on-multi-gpu"] = "";
    return;
  }
}

Json variant_fields(const matrix::Variant& variant) {
  return {{"build_variant_label", variant.name},
          {"build_variant_suffix", variant.suffix},
          {"build_variant_cmake_preset", variant.preset}};
}

Json row_of(const FebruaryJob& job, const matrix::Family& family, const matrix::Place& place,
            const matrix::Variant& variant) {
  auto row = variant_fields(variant);
  row["family"] = family.name;
  row["fetch-gfx-targets"] = place.fetch;
  row["artifact_group"] = variant.suffix.empty() ? family.name : family.name + "-" + variant.suffix;
  row["test-runs-on"] = "";
  add_runner(row, place, "test-runs-on", "test");
  add_runner(row, place, "test-runs-on-sandbox", "sandbox");
  add_runner(row, place, "test-runs-on-multi-gpu", "multi-gpu");
  add_runner(row, place, "benchmark-runs-on", "benchmark");
  if (!place.kernels.empty()) row["test-runs-on-kernel"] = place.kernels;
  if (place.release_untested) row["bypass_tests_for_releases"] = true;
  if (place.tests == matrix::Scope::sanity) row["sanity_check_only_for_family"] = true;
  if (place.tests == matrix::Scope::full) row["run-full-tests-only"] = true;
  bool fails = variant.expected_failure || expects_failure(place, "build");
  if (fails) row["expect_failure"] = true;
  if (expects_failure(place, "pytorch")) row["expect_pytorch_failure"] = true;
  row["build_pytorch"] = !fails && !expects_failure(place, "pytorch");
  choose_kernel(job, place, row);
  if (variant.name.ends_with("asan")) add_runner(row, place, "test-runs-on", "sandbox");
  return row;
}

/// One row for all families of the variant.
Json row_of_all(const std::vector<const matrix::Family*>& families, const Platform& platform,
                const matrix::Variant& variant) {
  Json info = Json::array();
  Texts names;
  for (const auto* family : families) {
    const auto& place = *family->find(platform);
    const auto* runners = place.find("test");
    info.push_back({{"amdgpu_family", family->name},
                    {"amdgpu_targets", text::join(place.fetch, ",")},
                    {"test-runs-on", runners ? matrix::heaviest(*runners) : ""},
                    {"sanity_check_only_for_family", place.tests == matrix::Scope::sanity}});
    names.push_back(family->name);
  }
  auto row = variant_fields(variant);
  row["matrix_per_family_json"] = json::text(info);
  row["dist_amdgpu_families"] = text::join(names, ";");
  row["expect_failure"] = variant.expected_failure;
  row["artifact_group"] = "multi-arch-" + (variant.suffix.empty() ? "release" : variant.suffix);
  row["build_pytorch"] = !variant.expected_failure;
  return row;
}

Result<Json> variants_on(Context& context, const FebruaryJob& job, const matrix::Families& families,
                         const Platform& platform) {
  TRY(auto chosen, families_of_february(context, job, families, platform));
  const auto* variant = families.variant(platform, job.variant);
  bool known =
      variant || families.variant(Platform::linux, job.variant) || families.variant(Platform::windows, job.variant);
  if (!known)
    return fail(ErrorKind::invalid_argument, "F006", fmt::format("the build variant {:?} does not exist", job.variant),
                "`quarry matrix show` lists them");
  std::erase_if(chosen, [&](const matrix::Family* family) {
    const auto* place = family->find(platform);
    return !variant || !place || !matrix::contains(place->variants, variant->name);
  });
  Json rows = Json::array();
  if (chosen.empty()) return rows;
  if (job.multi_arch)
    rows.push_back(row_of_all(chosen, platform, *variant));
  else
    for (const auto* family : chosen) rows.push_back(row_of(job, *family, *family->find(platform), *variant));
  return rows;
}

// ---- the run

bool starts_builds(const std::string& file) {
  if (file.starts_with(".github/workflows"))
    return matches_any(k_workflows_of_february, file.substr(file.rfind('/') + 1));
  return !matches_any(k_idle_of_february, file);
}

struct Amount {
  bool builds = true;
  std::string tests = "smoke", reason = "nothing asks for more";
};
Result<Amount> amount_of(const Context& context, const FebruaryJob& job, const Texts& tests) {
  Amount amount;
  if (job.is("schedule")) return Amount{true, "full", "scheduled"};
  auto base = context.variable("BASE_REF");
  TRY(auto changes, changes_since(context, base.empty() ? "HEAD^1" : base));
  amount.builds = std::any_of(changes.files.begin(), changes.files.end(), starts_builds);
  for (const auto& path : changes.submodules)
    if (matrix::contains(changes.files, path)) amount = {amount.builds, "full", "a submodule moved: " + path};
  if (!tests.empty()) amount = {amount.builds, "full", "tests are named: " + text::join(tests, ", ")};
  return amount;
}

std::string page_of(const Amount& amount, const Json& outputs) {
  std::string page = "## What this run builds and tests\n\n";
  page +=
      fmt::format("Builds: **{}**. Tests: **{}** ({}).\n\n", amount.builds ? "yes" : "no", amount.tests, amount.reason);
  page += "| platform | family | tested on |\n|---|---|---|\n";
  for (const auto* platform : {"linux", "windows"})
    for (const auto& row : outputs[fmt::format("{}_variants", platform)])
      page += fmt::format("| {} {} | `{}` | {} |\n", platform, row["build_variant_label"].get<std::string>(),
                          row.contains("family") ? json::string_or(row, "family", "")
                                                 : json::string_or(row, "dist_amdgpu_families", ""),
                          json::string_or(row, "test-runs-on", ""));
  return page;
}

Result<int> configure_february(Context& context, const Arguments& arguments) {
  auto table = said(arguments, "--families-file").value_or("therock-2026-02");
  TRY(auto families, load_families(context, table));
  TRY(auto job, read_february(context));
  Json outputs = Json::object();
  Texts tests;
  for (const auto& platform : Platform::all()) {
    TRY(auto rows, variants_on(context, job, families, platform));
    auto named = tests_of_february(context, job, platform);
    for (const auto& test : named)
      if (!matrix::contains(tests, test)) tests.push_back(test);
    outputs[fmt::format("{}_variants", platform)] = std::move(rows);
    outputs[fmt::format("{}_test_labels", platform)] = named;
  }
  TRY(auto amount, amount_of(context, job, tests));
  for (const auto* platform : {"linux", "windows"})
    for (auto& row : outputs[fmt::format("{}_variants", platform)])
      if (amount.tests == "smoke" && row.contains("run-full-tests-only")) row["test-runs-on"] = "";
  Json document = outputs;
  document["enable_build_jobs"] = amount.builds;
  document["test_type"] = amount.tests;
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto* name : {"linux_variants", "linux_test_labels", "windows_variants", "windows_test_labels"})
    lines.emplace_back(name, json::text(outputs[name]));
  lines.emplace_back("enable_build_jobs", amount.builds ? "true" : "false");
  lines.emplace_back("test_type", amount.tests);
  for (const auto& [name, value] : lines) context.out.data(fmt::format("{}={}\n", name, value));
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", lines));
  TRY_DO(append_summary(context, page_of(amount, outputs)));
  context.out.document(document);
  return 0;
}

} // namespace

Command february_ci_command() {
  return command_of(
      {.name = "configure_ci",
       .summary = "what a run of CI builds and tests, as TheRock's script of February decides it",
       .description =
           "Reads GITHUB_EVENT_NAME, GITHUB_REF_NAME, PR_LABELS, what git says has changed since BASE_REF, and what "
           "the "
           "workflow's variables ask for. Writes for each platform a list of rows for a matrix: a family in the build "
           "variant, with its machines; with MULTI_ARCH=true one row for all families. August's script is "
           "configure_multi_arch_ci.",
       .operands = {},
       .flags = {k_families_file},
       .refused = {},
       .only_feb = {},
       .only_aug = {},
       .examples = {{"quarry compat configure_ci", "in the first job of a workflow of February"}},
       .exit_codes = {{2, "an unknown event, family or variant"}, {3, "git does not know the base"}},
       .schema = "quarry.compat-matrix/1",
       .run = configure_february});
}

} // namespace quarry::cli::compat
