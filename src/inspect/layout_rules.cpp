#include "inspect/layout_rules.hpp"

#include "base/text.hpp"
#include "inspect/installed_modules.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <set>
#include <string_view>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_paths_shown = 5;

/// Names at the top of site-packages that packages of all kinds have by mistake, so that one replaces the other's
/// files: check-wheel-contents W005 and W006, and the directories of an installation prefix.
constexpr std::array<std::string_view, 36> k_common_names = {
    "tests",       "test",    "docs",     "doc",       "examples", "example",      "samples",     "scripts",
    "tools",       "build",   "dist",     "src",       "data",     "benchmarks",   "benchmark",   "bin",
    "lib",         "lib64",   "include",  "share",     "etc",      "usr",          "opt",         "venv",
    ".venv",       "env",     ".tox",     ".nox",      ".eggs",    "node_modules", "__init__.py", "setup.py",
    "conftest.py", "test.py", "tests.py", "noxfile.py"};

/// Directories and files that tools leave in a source tree.
constexpr std::array<std::string_view, 17> k_leftovers = {
    "CMakeCache.txt", "CMakeFiles",  ".ninja_log",        ".ninja_deps", ".git",        ".hg",  ".svn",
    ".DS_Store",      "Thumbs.db",   ".pytest_cache",     ".mypy_cache", ".ruff_cache", ".tox", ".nox",
    ".coverage",      "__pycache__", ".ipynb_checkpoints"};
constexpr std::array<std::string_view, 6> k_leftover_endings = {".orig", ".rej", ".swp", "~", ".gcda", ".gcno"};

bool is_module_file(std::string_view name) {
  return std::ranges::any_of(std::array<std::string_view, 6>{".py", ".so", ".pyd", ".pyi", ".pyc", ".pth"},
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

struct Layout {
  std::set<std::string> common, leftovers, stray, unimportable;
  bool has_files = false; ///< beside dist-info
};

void take_top(std::string_view path, std::string_view project, Layout& layout) {
  auto slash = path.find('/');
  auto top = path.substr(0, slash);
  bool own = text::lower(top) == project || text::lower(top) == fmt::format("{}.py", project);
  if (!own && std::ranges::find(k_common_names, top) != k_common_names.end()) layout.common.emplace(top);
  if (slash == path.npos && !is_module_file(top)) layout.stray.emplace(top);
  bool module = path.ends_with(".py") && (slash == path.npos || path.substr(slash) == "/__init__.py");
  if (module && !is_identifier(slash == path.npos ? top.substr(0, top.size() - 3) : top))
    layout.unimportable.emplace(top);
}

void take_leftovers(std::string_view path, Layout& layout) {
  for (std::size_t at = 0; at < path.size();) {
    auto end = std::min(path.find('/', at), path.size());
    auto part = path.substr(at, end - at);
    if (std::ranges::find(k_leftovers, part) != k_leftovers.end()) {
      layout.leftovers.emplace(path.substr(0, end));
      return;
    }
    at = end + 1;
  }
  if (std::ranges::any_of(k_leftover_endings, [&](std::string_view ending) { return path.ends_with(ending); }))
    layout.leftovers.emplace(path);
}

Layout layout_of(const WheelContents& wheel) {
  Layout layout;
  auto project = wheel.report.name->project.file_form();
  for (const auto& path : wheel.installed) {
    if (path.substr(0, path.find('/')).ends_with(".dist-info")) continue;
    layout.has_files = true;
    if (!path.starts_with("../")) take_top(path, project, layout);
    take_leftovers(path, layout);
  }
  return layout;
}

struct LeakLists {
  std::vector<std::string> for_builds, others, secrets; ///< "file (what)"
};

LeakLists leaks_of(const WheelContents& wheel) {
  LeakLists lists;
  for (const auto& [member, leaks] : wheel.leaks) {
    for (const auto& secret : leaks.secrets) lists.secrets.push_back(fmt::format("{} ({})", member, secret));
    if (leaks.build_paths.empty()) continue;
    (is_read_by_builds(member) ? lists.for_builds : lists.others)
        .push_back(fmt::format("{} ({})", member, *leaks.build_paths.begin()));
  }
  return lists;
}

/// Windows has no execute bits.
bool is_for_windows_alone(const dist::WheelName& name) {
  return std::ranges::all_of(text::split(name.tags.platform, '.'),
                             [](const std::string& tag) { return tag.starts_with("win"); });
}

struct LayoutReport {
  const WheelContents& wheel;
  Findings findings;

  template <class Names>
  void add(std::string_view code, Severity severity, const Names& names, std::string_view what, std::string fix) {
    if (names.empty()) return;
    std::vector<std::string> list(names.begin(), names.end());
    findings.push_back({std::string(code), severity, wheel.file,
                        fmt::format("{}: {}", what, text::first(list, k_paths_shown)), std::move(fix)});
  }
};
} // namespace

Findings check_layout(const WheelContents& wheel) {
  if (!wheel.report.name || !wheel.report.metadata) return {};
  auto layout = layout_of(wheel);
  auto leaks = leaks_of(wheel);
  LayoutReport report{wheel, {}};
  report.add("Q253", Severity::warning, layout.unimportable,
             "modules at the top of site-packages whose names cannot be imported",
             "rename them: the name of a module is letters, digits and `_`");
  report.add("Q253", Severity::note, layout.stray, "files at the top of site-packages that are not modules",
             "put them into a package, or below dist-info/licenses");
  report.add("Q254", Severity::warning, layout.common,
             "names at the top of site-packages that other packages have, too",
             "leave them out, or put them into the package: whatever is installed last replaces files of the other");
  bool all_listed = !wheel.report.container_broken; // or else RECORD may lack files that the archive has
  if (all_listed && !layout.has_files && wheel.report.metadata->requires_dist.empty())
    report.findings.push_back({"Q255", Severity::note, wheel.file,
                               "it has no files beside dist-info, and no requirements",
                               "look for the files in the build's log: which directories are packaged?"});
  report.add("Q256", Severity::note, layout.leftovers, "files that tools left behind", "leave them out of the wheel");
  report.add("Q257", Severity::warning, leaks.for_builds,
             "files for other builds name directories of the build machine",
             "write paths relative to the file, such as ${CMAKE_CURRENT_LIST_DIR} or ${pcfiledir}");
  report.add("Q257", Severity::note, leaks.others, "text files name directories of the build machine",
             "leave the paths out, or replace them by relative ones");
  report.add("Q258", Severity::warning, leaks.secrets, "it seems to hold secrets",
             "leave them out, and replace the keys: whoever can fetch the wheel can read them");
  if (!is_for_windows_alone(*wheel.report.name))
    report.add(
        "Q260", Severity::warning, wheel.untyped_programs,
        "uv makes these files executable; pip and installer do not, since their modes have no file type",
        "write whole modes (0100755, not 0755) with the tool that packs the wheel, or pack it with `quarry wheel "
        "pack`");
  return std::move(report.findings);
}

} // namespace quarry::inspect
