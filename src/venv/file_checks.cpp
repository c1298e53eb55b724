#include "venv/file_checks.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {

constexpr std::size_t k_defects_shown = 5;

/// The defect of one file; empty if it has none.
Result<std::string> check_one(const std::string& site, const FileCheck& check) {
  auto rope = content::Rope::file(path::join(site, check.path));
  if (!rope && rope.error().kind == ErrorKind::not_found) return fmt::format("{} is missing", check.path);
  if (!rope) return fail(std::move(rope).error());
  if (check.size && rope->size() != *check.size)
    return fmt::format("{} has {} bytes, not {}", check.path, rope->size(), *check.size);
  TRY(auto digest, content::sha256_of(*rope));
  bool expected =
      digest == check.sha256 || std::find(check.or_these.begin(), check.or_these.end(), digest) != check.or_these.end();
  return expected ? std::string()
                  : fmt::format("{} was altered: sha256 {}, not {}", check.path, digest.short_hex(),
                                check.sha256.short_hex());
}

/// What installers add to a dist-info directory of their own (pip: INSTALLER, REQUESTED, direct_url.json; uv:
/// uv_cache.json, uv_build.json).
bool is_installer_file(const Distribution& distribution, const std::string& path) {
  static constexpr std::string_view k_names[] = {"RECORD",          "INSTALLER",     "REQUESTED",
                                                 "direct_url.json", "uv_cache.json", "uv_build.json"};
  if (!path.starts_with(distribution.dist_info + "/")) return false;
  auto name = std::string_view(path).substr(distribution.dist_info.size() + 1);
  return std::find(std::begin(k_names), std::end(k_names), name) != std::end(k_names);
}

bool is_script_of(const std::set<std::string>& scripts, const std::string& path) {
  constexpr std::string_view k_bin = "../../../bin/";
  return path.starts_with(k_bin) && scripts.contains(path.substr(k_bin.size()));
}

/// A row that the wheel does not have. The file is still compared with the row where that has a digest.
bool may_be_added(const Distribution& distribution, const std::set<std::string>& scripts, const std::string& path) {
  return is_installer_file(distribution, path) || is_bytecode(path) || is_script_of(scripts, path) ||
         is_devel_expansion(distribution, path);
}

} // namespace

Result<void> fail_on(const Defects& defects, const Environment& environment) {
  if (defects.empty()) return {};
  auto error = Error::of(ErrorKind::corrupt, "V031",
                         fmt::format("the environment {} is not what was installed", environment.directory));
  error.details = text::first_lines(defects, k_defects_shown);
  error.hint = "`quarry venv install --clean`, with the source and packages of before, makes it anew";
  return fail(std::move(error));
}

Result<Defects> run_checks(const std::string& site_packages, std::vector<FileCheck> checks, unsigned workers) {
  // The largest first, so that one of 1.3 GB does not start when all others are done.
  std::stable_sort(checks.begin(), checks.end(),
                   [](const FileCheck& a, const FileCheck& b) { return a.size.value_or(0) > b.size.value_or(0); });
  std::vector<std::string> texts(checks.size());
  TRY_DO(parallel_for(checks.size(), workers, [&](std::size_t i) -> Result<void> {
    TRY(texts[i], check_one(site_packages, checks[i]));
    return {};
  }));
  std::erase_if(texts, [](const std::string& text) { return text.empty(); });
  return texts;
}

bool is_gone(const std::string& path) { return !sys::exists(path) && !sys::read_link(path); }

bool is_bytecode(std::string_view path) { return path.find("__pycache__/") != path.npos && path.ends_with(".pyc"); }

bool agrees(const WheelContent& wheel, const Distribution& distribution) {
  return std::all_of(wheel.files.begin(), wheel.files.end(), [&](const auto& entry) {
    auto row = distribution.record.find(entry.first);
    if (row == distribution.record.end()) return is_devel_payload(distribution, entry.first);
    return !entry.second.sha256 || row->second.sha256 == entry.second.sha256;
  });
}

Comparison compare_with_wheel(const Distribution& distribution, const WheelContent& wheel) {
  Comparison result;
  for (const auto& [path, expected] : wheel.files) {
    bool listed = distribution.record.contains(path), archive = is_devel_payload(distribution, path);
    if (!listed && !archive)
      result.defects.push_back(fmt::format("{} is in the wheel of {} and not in RECORD", path, distribution.project));
    if (!expected.sha256) continue;
    // TheRock's own scripts remove the archive and leave its row; our packages remove both. Then the unpacked files
    // prove it (expansion.hpp).
    bool may_be_gone = archive && (!listed || is_expanded(distribution));
    (may_be_gone ? result.payload : result.checks).push_back({path, *expected.sha256, expected.size});
    if (listed) result.proven[path] = *expected.sha256;
  }
  for (const auto& [path, row] : distribution.record) {
    if (wheel.files.contains(path)) continue;
    if (!may_be_added(distribution, wheel.scripts, path))
      result.defects.push_back(fmt::format("{} is in RECORD and not in the wheel of {}", path, distribution.project));
    else if (row.sha256 && !is_devel_expansion(distribution, path))
      result.checks.push_back({path, *row.sha256, row.size});
  }
  return result;
}

Comparison compare_with_sdist(const Distribution& distribution, const SdistContent& sdist) {
  Comparison result;
  for (const auto& [path, row] : distribution.record) {
    if (is_bytecode(path)) continue;
    if (row.sha256) result.checks.push_back({path, *row.sha256, row.size});
    bool metadata = path.starts_with(distribution.dist_info + "/") && path.find("..") == path.npos;
    bool note = sdist.build_notes.contains(path);
    if (metadata || note || is_script_of(sdist.scripts, path)) continue;
    if (!row.sha256 || !sdist.members.contains(*row.sha256))
      result.defects.push_back(fmt::format("{} is not a file of {}", path, sdist.filename));
  }
  return result;
}

bool is_place_of_build_note(std::string_view path) {
  constexpr std::string_view k_name = "/_install_info.py";
  if (!path.ends_with(k_name)) return false;
  auto module = path.substr(0, path.size() - k_name.size());
  return !module.empty() && module.find_first_of("/.") == module.npos;
}

bool is_build_note(const std::string& text) {
  auto lines = text::lines(text);
  if (lines.size() != 3 || !lines[0].starts_with("\"\"\"") || lines[0].find("\"\"\"", 3) != lines[0].size() - 3 ||
      !lines[1].empty())
    return false;
  constexpr std::string_view k_assignment = "TARGET_FAMILY = '";
  auto value = std::string_view(lines[2]);
  if (!value.starts_with(k_assignment) || !value.ends_with('\'') || value.size() <= k_assignment.size()) return false;
  value = value.substr(k_assignment.size(), value.size() - k_assignment.size() - 1);
  return value.find_first_of("'\\\"") == value.npos;
}

} // namespace quarry::venv
