#include "matrix/ci_run.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {

constexpr std::array<std::string_view, 4> k_events{"pull_request", "push", "schedule", "workflow_dispatch"};
constexpr std::array<std::string_view, 4> k_test_types{"quick", "standard", "comprehensive", "full"};
constexpr std::array<std::string_view, 6> k_release_types{"ci",      "dev",         "dev-bkc",
                                                          "nightly", "nightly-bkc", "prerelease"};

template <std::size_t N>
Result<void> check_word(const std::array<std::string_view, N>& known, const std::string& word, std::string_view what) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return {};
  return fail(ErrorKind::invalid_argument, "F032", fmt::format("{:?} is not {}", word, what),
              "use one of: " + text::join(std::vector<std::string>(known.begin(), known.end()), ", "));
}

/// What all decisions look at.
struct Situation {
  const Families& families;
  const Frameworks& frameworks;
  const CiInputs& inputs;
  const std::optional<CiChanges>& changes;

  bool labelled(std::string_view label) const { return contains(inputs.labels, label); }
  bool is(std::string_view event) const { return inputs.event == event; }
  /// Somebody, or the clock, asked for this run; nobody waits for it.
  bool unhurried() const { return is("schedule") || is("workflow_dispatch"); }
  const CiAsked& asked(const Platform& platform) const {
    return platform == Platform::linux ? inputs.linux : inputs.windows;
  }
  /// What follows the prefix in the first label that has it; empty: none has.
  std::string word_after(std::string_view prefix) const {
    for (const auto& label : inputs.labels)
      if (label.starts_with(prefix)) return label.substr(prefix.size());
    return {};
  }
};

const std::vector<std::string> k_all{"all"}, k_none{"none"};

// Whether anything runs, and how much is tested

bool starts_builds(const Situation& now, const std::string& file) {
  if (file.starts_with(".github/workflows")) return contains(now.changes->workflows, file.substr(file.rfind('/') + 1));
  const auto& idle = now.frameworks.changes_build_nothing;
  return std::none_of(idle.begin(), idle.end(), [&](const auto& glob) { return text::glob_match(glob, file); });
}

std::string reason_to_skip(const Situation& now) {
  if (now.labelled("ci:skip")) return "the pull request has the label ci:skip";
  bool sanitized = now.labelled("ci:asan") || now.labelled("ci:host-asan");
  if (now.is("pull_request") && now.inputs.variant == "asan" && !sanitized)
    return "a pull request without the label ci:asan or ci:host-asan";
  if (!now.changes || !now.changes->may_skip) return {};
  const auto& files = now.changes->files;
  bool any = std::any_of(files.begin(), files.end(), [&](const auto& file) { return starts_builds(now, file); });
  return any ? "" : "no changed file starts builds";
}

std::vector<std::string> moved_submodules(const Situation& now) {
  std::vector<std::string> moved;
  if (now.changes)
    for (const auto& path : now.changes->submodules)
      if (contains(now.changes->files, path)) moved.push_back(path);
  std::sort(moved.begin(), moved.end());
  return moved;
}

std::vector<std::string> tests_named(const Situation& now, const Platform& platform) {
  auto tests = now.asked(platform).tests;
  for (const auto& label : now.inputs.labels)
    if (label.starts_with("test:")) tests.push_back(label);
  return tests;
}

Result<void> decide_test_type(const Situation& now, CiRun& run) {
  auto decide = [&](std::string type, std::string reason) {
    run.test_type = std::move(type);
    run.test_reason = std::move(reason);
    return Result<void>();
  };
  const auto& inputs = now.inputs;
  bool named = false;
  const std::vector<std::string>*of_linux = &run.linux_tests, *of_windows = &run.windows_tests;
  for (const auto* labels : {&inputs.labels, of_linux, of_windows})
    for (const auto& label : *labels) {
      constexpr std::string_view filter = "test_filter:";
      if (label.starts_with(filter)) {
        TRY_DO(check_word(k_test_types, label.substr(filter.size()), "an amount of tests"));
        return decide(label.substr(filter.size()), "label " + label);
      }
      named = named || labels != &inputs.labels;
    }
  if (named) return decide("full", "tests are named");
  if (inputs.release_type.starts_with("nightly")) return decide("comprehensive", "nightly release");
  if (inputs.release_type == "prerelease") return decide("full", "prerelease");
  if (now.is("schedule")) return decide("comprehensive", "scheduled");
  if (auto moved = moved_submodules(now); !moved.empty())
    return decide("standard", "submodules moved: " + text::join(moved, ", "));
  return decide("quick", "nothing asks for more");
}

// Which families

std::vector<const Family*> of_event(const Situation& now) {
  std::vector<const Family*> found;
  const auto& families = now.families;
  auto of_trigger = families.triggers.find(now.inputs.event);
  bool all = now.is("workflow_dispatch") || (now.is("pull_request") && now.labelled("ci:run-all-archs"));
  if (!all && of_trigger == families.triggers.end()) return found;
  const auto& tiers = all ? families.tiers : of_trigger->second;
  for (const auto& family : families.families)
    if (contains(tiers, family.tier)) found.push_back(&family);
  return found;
}

Result<void> add_named(const Situation& now, const std::string& name, std::vector<const Family*>& found) {
  const auto* family = now.families.find(name);
  if (!family)
    return fail(ErrorKind::invalid_argument, "F003", fmt::format("the family {} does not exist", name),
                "`quarry matrix show` lists them");
  if (std::find(found.begin(), found.end(), family) == found.end()) found.push_back(family);
  return {};
}

Result<std::vector<const Family*>> chosen(const Situation& now, const CiAsked& asked) {
  if (!now.unhurried()) {
    auto found = of_event(now);
    if (!now.is("pull_request") || now.labelled("ci:run-all-archs")) return found;
    for (const auto& label : now.inputs.labels) {
      if (!label.starts_with("gfx")) continue;
      // A label may name what has no family of its own, such as gfx103X-linux.
      bool whole = now.families.find(label) != nullptr;
      TRY_DO(add_named(now, whole ? label : label.substr(0, label.find('-')), found));
    }
    return found;
  }
  if (asked.families == k_all || (now.is("schedule") && asked.families.empty())) return of_event(now);
  std::vector<const Family*> found;
  if (asked.families == k_none) return found;
  for (const auto& name : asked.families) TRY_DO(add_named(now, name, found));
  return found;
}

// Their machines

/// asan stands for two variants: the one of the whole program runs at night and on request, that of the host's code
/// with every change.
std::string variant_name(const Situation& now) {
  if (now.inputs.variant != "asan" || now.labelled("ci:asan")) return now.inputs.variant;
  return now.labelled("ci:host-asan") || !now.unhurried() ? "host-asan" : "asan";
}

std::string reason_against_tests(const Situation& now, const CiBuild& build, const CiRun& run, Scope scope) {
  const auto& variant = build.variant->name;
  bool sanitizes = variant == "asan" || variant == "host-asan";
  if (sanitizes && !now.unhurried()) return variant + " is tested at night and on request";
  if (scope == Scope::full && run.test_type == "quick") return "has full tests only";
  if (scope == Scope::nightly && !now.unhurried()) return "is tested at night and on request";
  if (scope == Scope::submodule && !now.is("workflow_dispatch") && moved_submodules(now).empty())
    return "is tested when submodules move, and on request";
  return {};
}

void find_machine(const Situation& now, const Variant& variant, CiFamily& one) {
  const Runners* testers = nullptr;
  for (const auto& purpose : variant.test)
    if (!testers) testers = one.place->find(purpose);
  bool usual = testers && testers == one.place->find("test");
  if (auto kernel = now.word_after("test_runner:"); !kernel.empty() && contains(variant.test, "test")) {
    auto found = one.place->kernels.find(kernel);
    if (found == one.place->kernels.end())
      one.untested = "has no machine with the kernel " + kernel;
    else
      one.runner = found->second;
    return;
  }
  if (testers) one.runner = heaviest(*testers);
  one.any_of_runners = usual && testers->size() > 1;
  if (one.runner.empty()) one.untested = "has no machine";
}

std::string build_runner(const Situation& now, const CiBuild& build) {
  auto kinds = now.families.build_runners.find(build.platform);
  if (kinds == now.families.build_runners.end()) return {};
  auto kind = kinds->second.find(build.variant->build);
  if (kind == kinds->second.end()) return {};
  const auto& seed = now.inputs.seed;
  return choose(kind->second, seed.empty() ? "" : fmt::format("{}/build/{}", seed, build.variant->name));
}

Result<void> add_frameworks(const Situation& now, CiBuild& build) {
  FrameworkRequest request;
  request.platform = build.platform;
  request.release_type = now.inputs.release_type;
  if (!now.inputs.python.empty()) request.pythons = {now.inputs.python};
  if (now.inputs.jax && build.platform == Platform::linux) {
    request.framework = "jax";
    TRY(build.jax, framework_rows(now.frameworks, request));
  }
  if (!now.inputs.pytorch) return {};
  request.framework = "pytorch";
  for (const auto& one : build.families) request.families.push_back(one.family->name);
  TRY(build.pytorch, framework_rows(now.frameworks, request));
  return {};
}

/// Null on a platform that is not built in this way; F006 if none is.
Result<const Variant*> variant_on(const Situation& now, const Platform& platform) {
  auto name = variant_name(now);
  const auto* variant = now.families.variant(platform, name);
  auto known = [&](const Platform& other) { return now.families.variant(other, name) != nullptr; };
  if (known(Platform::linux) || known(Platform::windows)) return variant;
  return fail(ErrorKind::invalid_argument, "F006", fmt::format("the build variant {:?} does not exist", name),
              "`quarry matrix show` lists them");
}

Result<void> add_build(const Situation& now, const Platform& platform, CiRun& run) {
  const auto& asked = now.asked(platform);
  TRY(auto selected, chosen(now, asked));
  CiBuild build;
  build.platform = platform;
  TRY(build.variant, variant_on(now, platform));
  if (!build.variant) return {};
  bool by_name = now.unhurried() && !asked.families.empty() && asked.families != k_all;
  for (const auto* family : selected) {
    const auto* place = family->find(platform);
    if (place && contains(place->variants, build.variant->name)) {
      CiFamily one{family, place, {}, {}, false};
      one.untested = reason_against_tests(now, build, run, place->tests);
      if (one.untested.empty()) find_machine(now, *build.variant, one);
      build.families.push_back(std::move(one));
    } else if (by_name) {
      run.notes.push_back(fmt::format("{} is not built on {} as {}", family->key, platform, build.variant->name));
    }
  }
  if (build.families.empty()) return {};
  build.runner = build_runner(now, build);
  build.python_packages = now.inputs.python_packages && build.variant->name != "asan";
  TRY_DO(add_frameworks(now, build));
  run.builds.push_back(std::move(build));
  return {};
}

} // namespace

Result<CiRun> plan_ci(const Families& families, const Frameworks& frameworks, const CiInputs& inputs,
                      const std::optional<CiChanges>& changes) {
  Situation now{families, frameworks, inputs, changes};
  TRY_DO(check_word(k_events, inputs.event, "an event that starts CI"));
  TRY_DO(check_word(k_release_types, inputs.release_type, "a release type"));
  CiRun run;
  run.skipped = reason_to_skip(now);
  run.enabled = run.skipped.empty();
  if (!run.enabled) return run;
  run.linux_tests = tests_named(now, Platform::linux);
  run.windows_tests = tests_named(now, Platform::windows);
  TRY_DO(decide_test_type(now, run));
  for (const auto& platform : Platform::all()) TRY_DO(add_build(now, platform, run));
  return run;
}

std::vector<PackageTest> package_tests(const Frameworks& frameworks, const CiBuild& build, const std::string& seed) {
  std::vector<std::string> pythons;
  for (const auto& environment : frameworks.environments)
    for (const auto& python : environment.pythons)
      if (environment.platform == build.platform && !contains(pythons, python)) pythons.push_back(python);
  std::vector<PackageTest> tests;
  for (const auto& one : build.families) {
    if (one.runner.empty()) continue;
    for (const auto& python : pythons)
      for (const auto& environment : frameworks.environments) {
        if (environment.platform != build.platform || !contains(environment.pythons, python)) continue;
        auto runner = one.runner;
        if (one.any_of_runners && !seed.empty())
          runner = choose(*one.place->find("test"),
                          fmt::format("{}/{}/{}/{}", seed, one.family->key, python, environment.name));
        tests.push_back({&one, runner, python, environment});
      }
  }
  return tests;
}

} // namespace quarry::matrix
