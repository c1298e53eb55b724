#include "matrix/frameworks.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "matrix/families.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {

constexpr std::array<std::string_view, 7> k_weekdays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                     "Friday", "Saturday", "Sunday"};
const std::vector<std::string> k_uses{"ci", "prerelease", "release"};

Result<FrameworkPythons> read_pythons(TomlTable& table) {
  FrameworkPythons pythons;
  TRY_DO(table.text("framework", pythons.framework, true));
  TRY_DO(table.texts("ci", pythons.ci));
  TRY_DO(table.texts("release", pythons.release));
  return pythons;
}

Result<FrameworkBuild> read_build(TomlTable& table) {
  FrameworkBuild build;
  std::string platform;
  TRY_DO(table.choice("platform", platform, platform_names(), true));
  build.platform = Platform::read(platform);
  for (auto [key, member] : {std::pair{"label", &FrameworkBuild::label},
                             {"repository", &FrameworkBuild::repository},
                             {"device", &FrameworkBuild::device}})
    TRY_DO(table.text(key, build.*member));
  TRY_DO(table.text("framework", build.framework, true));
  TRY_DO(table.text("ref", build.ref, true));
  TRY_DO(table.texts("for", build.used_for));
  for (const auto& use : build.used_for)
    if (!contains(k_uses, use))
      return table.error("for", fmt::format("{:?} is not one of ci, prerelease, release", use));
  TRY_DO(table.texts("without_families", build.without_families));
  TRY_DO(table.texts("without_pythons", build.without_pythons));
  TRY_DO(table.texts("untested_pythons", build.untested_pythons));
  return build;
}

Result<FrameworkTests> read_tests(TomlTable& table) {
  FrameworkTests tests;
  for (auto [key, member] : {std::pair{"framework", &FrameworkTests::framework},
                             {"size", &FrameworkTests::size},
                             {"subset", &FrameworkTests::subset}})
    TRY_DO(table.text(key, tests.*member, true));
  TRY_DO(table.choice("runner", tests.runner, purposes(), true));
  TRY_DO(table.text("list", tests.list));
  TRY_DO(table.choice("weekday", tests.weekday, {k_weekdays.begin(), k_weekdays.end()}));
  TRY_DO(table.integer("minutes", tests.minutes, true));
  if (tests.minutes < 1) return table.error("minutes", "must be 1 or more");
  return tests;
}

Result<Environment> read_environment(TomlTable& table) {
  Environment environment;
  std::string platform;
  TRY_DO(table.choice("platform", platform, platform_names(), true));
  environment.platform = Platform::read(platform);
  TRY_DO(table.text("name", environment.name, true));
  TRY_DO(table.text("image", environment.image));
  TRY_DO(table.texts("pythons", environment.pythons));
  return environment;
}

template <typename Row>
Result<void> read_rows(TomlTable& root, const char* key, std::vector<Row>& into, Result<Row> (*read)(TomlTable&)) {
  return root.tables(key, [&](TomlTable& table) -> Result<void> {
    TRY(auto row, read(table));
    into.push_back(std::move(row));
    return {};
  });
}

Unexpected no_row(const FrameworkRequest& request, const std::string& what) {
  return fail(
      ErrorKind::invalid_argument, "F031",
      fmt::format("no row of the frameworks file is for {} {} on {}", request.framework, what, request.platform),
      "add it to a file of your own: --frameworks-file FILE");
}

const FrameworkBuild* build_of(const Frameworks& frameworks, const FrameworkRequest& request, const std::string& ref) {
  for (const auto& build : frameworks.builds)
    if (build.framework == request.framework && build.platform == request.platform && build.ref == ref) return &build;
  return nullptr;
}

std::vector<std::string> default_refs(const Frameworks& frameworks, const FrameworkRequest& request,
                                      const std::string& use) {
  std::vector<std::string> refs;
  for (const auto& build : frameworks.builds)
    if (build.framework == request.framework && build.platform == request.platform && contains(build.used_for, use))
      refs.push_back(build.ref);
  return refs;
}

std::vector<std::string> default_pythons(const Frameworks& frameworks, const FrameworkRequest& request) {
  for (const auto& pythons : frameworks.pythons)
    if (pythons.framework == request.framework) return request.release_type == "ci" ? pythons.ci : pythons.release;
  return {};
}

std::vector<std::string> families_of(const FrameworkRequest& request, const FrameworkBuild& build) {
  auto families = request.families;
  std::erase_if(families, [&](const auto& family) {
    return std::any_of(build.without_families.begin(), build.without_families.end(),
                       [&](const auto& other) { return text::lower(other) == text::lower(family); });
  });
  return families;
}

} // namespace

Result<Frameworks> parse_frameworks(const DataText& data) {
  TRY(auto root, TomlTable::parse({data.text, data.file}, {"F030", "F030", "the keys: docs/formats/frameworks.md"}));
  Frameworks frameworks;
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.frameworks/1"}, true));
  TRY_DO(root.text("name", frameworks.name, true));
  TRY_DO(read_rows(root, "pythons", frameworks.pythons, read_pythons));
  TRY_DO(read_rows(root, "build", frameworks.builds, read_build));
  TRY_DO(read_rows(root, "tests", frameworks.tests, read_tests));
  TRY_DO(read_rows(root, "environments", frameworks.environments, read_environment));
  TRY_DO(root.texts("changes_build_nothing", frameworks.changes_build_nothing));
  TRY_DO(root.text("ci_workflow", frameworks.ci_workflow));
  TRY_DO(root.finish());
  return frameworks;
}

Result<std::vector<FrameworkRow>> framework_rows(const Frameworks& frameworks, const FrameworkRequest& request) {
  bool known_use = request.release_type == "ci" || request.release_type == "prerelease";
  auto pythons = request.pythons.empty() ? default_pythons(frameworks, request) : request.pythons;
  auto refs = request.refs.empty() ? default_refs(frameworks, request, known_use ? request.release_type : "release")
                                   : request.refs;
  if (pythons.empty() || refs.empty()) return no_row(request, "in this kind of build");
  std::vector<FrameworkRow> rows;
  for (const auto& python : pythons)
    for (const auto& ref : refs) {
      const auto* found = build_of(frameworks, request, ref);
      if (!found && !request.other_refs) return no_row(request, ref);
      FrameworkRow row{python, found ? *found : FrameworkBuild(), {}};
      row.build.ref = ref;
      row.families = families_of(request, row.build);
      row.tested = !contains(row.build.untested_pythons, python);
      bool left_out =
          contains(row.build.without_pythons, python) || (row.families.empty() && !request.families.empty());
      if (!left_out) rows.push_back(std::move(row));
    }
  return rows;
}

std::string weekday_of(std::int64_t us) {
  constexpr std::int64_t k_day_us = 86'400'000'000;
  auto days = us / k_day_us + 3; // 1970 began on a Thursday
  return std::string(k_weekdays.at(static_cast<std::size_t>(days % 7)));
}

} // namespace quarry::matrix
