#include "venv/installed.hpp"

#include "dist/name.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::venv {

namespace {

Unexpected installed_defect(const std::string& place, std::string_view why) {
  return fail(ErrorKind::corrupt, "V030", fmt::format("{}: {}", place, why),
              "make the environment from scratch: `quarry venv install … --clean`");
}

Result<std::optional<dist::Unpacking>> unpacking_of(const std::string& directory, const Distribution& found) {
  auto file = path::join(directory, dist::k_unpacking_file);
  if (!sys::exists(file)) return dist::unpacking_unsaid(found.project);
  TRY(auto text, sys::read_file(file, dist::k_unpacking_bytes_max));
  auto said = dist::parse_unpacking(text);
  if (!said) return installed_defect(directory, said.error().message);
  return std::optional(std::move(*said));
}

/// nullopt: a directory without METADATA, which pip leaves behind when an uninstall was interrupted and which nobody
/// counts as installed.
Result<std::optional<Distribution>> read_distribution(const std::string& site, const std::string& name) {
  auto directory = path::join(site, name);
  if (!sys::exists(path::join(directory, "METADATA"))) return std::optional<Distribution>();
  TRY(auto text, sys::read_file(path::join(directory, "METADATA"), dist::k_metadata_bytes_max));
  auto metadata = dist::Metadata::parse(text);
  if (!metadata) return installed_defect(directory, metadata.error().message);
  auto project = dist::ProjectName::parse(metadata->name);
  if (!project) return installed_defect(directory, project.error().message);
  Distribution found{project->str(), metadata->version, name, {}};
  if (!sys::exists(path::join(directory, "RECORD"))) return installed_defect(directory, "RECORD is missing");
  TRY(auto record, sys::read_file(path::join(directory, "RECORD"), dist::k_record_bytes_max));
  auto rows = dist::parse_record(record);
  if (!rows) return installed_defect(directory, rows.error().message);
  for (auto& row : *rows) {
    auto path = row.path;
    found.record.insert_or_assign(std::move(path), std::move(row));
  }
  TRY(found.unpacking, unpacking_of(directory, found));
  return std::optional(std::move(found));
}

} // namespace

Result<std::vector<Distribution>> list_distributions(const Environment& environment) {
  TRY(auto entries, sys::list_directory(environment.site_packages));
  std::vector<Distribution> found;
  for (const auto& entry : entries) {
    if (entry.type != sys::EntryType::directory || !entry.path.ends_with(".dist-info")) continue;
    TRY(auto distribution, read_distribution(environment.site_packages, entry.path));
    if (distribution) found.push_back(std::move(*distribution));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.project < b.project; });
  auto twice = std::adjacent_find(found.begin(), found.end(),
                                  [](const auto& a, const auto& b) { return a.project == b.project; });
  if (twice != found.end())
    return installed_defect(environment.site_packages, fmt::format("{} appears twice: {} and {}", twice->project,
                                                                   twice->dist_info, (twice + 1)->dist_info));
  return found;
}

bool is_devel_expansion(const Distribution& distribution, const std::string& path) {
  return distribution.unpacking && distribution.unpacking->makes(path);
}

bool is_devel_payload(const Distribution& distribution, const std::string& path) {
  return distribution.unpacking && distribution.unpacking->is_payload(path);
}

bool is_expanded(const Distribution& distribution) {
  return std::any_of(distribution.record.begin(), distribution.record.end(),
                     [&](const auto& row) { return is_devel_expansion(distribution, row.first); });
}

Sha256 content_digest(const Distribution& distribution) {
  std::string text;
  for (const auto& [path, row] : distribution.record)
    if (row.sha256 && !is_devel_expansion(distribution, path) && !is_devel_payload(distribution, path))
      text += fmt::format("{},{},{}\n", path, row.sha256->hex(), row.size ? std::to_string(*row.size) : "");
  return sha256(text);
}

} // namespace quarry::venv
