#include "pages/page_order.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "dist/metadata.hpp"
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace quarry::pages {

using registry::FileRecord;

namespace {

using Needs = std::map<std::string, std::set<std::string>>;

// The name at the start of a requirement: letters, digits, - _ . and nothing else.
std::string required_project(std::string_view requirement) {
  auto end = std::find_if_not(requirement.begin(), requirement.end(),
                              [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; });
  auto name = dist::ProjectName::parse(std::string_view(requirement.begin(), end));
  return name ? name->str() : std::string();
}

const FileRecord* newest_wheel(const std::vector<const FileRecord*>& files) {
  const FileRecord* newest = nullptr;
  for (const auto* file : files)
    if (file->metadata_sha256 && (!newest || newest->upload_time <= file->upload_time)) newest = file;
  return newest;
}

Result<std::set<std::string>> requirements_of(store::ObjectReader& store, const FileRecord& wheel) {
  std::set<std::string> names;
  auto text = store.get(wheel.key + ".metadata", dist::k_metadata_bytes_max);
  if (!text && text.error().is(codes::too_large)) return names; // too long for metadata
  if (!text) return fail(std::move(text).error());
  if (!*text) return names;
  auto metadata = dist::Metadata::parse(**text);
  if (!metadata) return names;
  for (const auto& requirement : metadata->requires_dist) names.insert(required_project(requirement));
  return names;
}

void visit(const std::string& project, const Needs& needs, std::set<std::string>& seen,
           std::vector<std::string>& order) {
  if (!seen.insert(project).second) return;
  if (auto it = needs.find(project); it != needs.end())
    for (const auto& need : it->second)
      if (needs.contains(need)) visit(need, needs, seen, order);
  order.push_back(project);
}

std::string project_of(const index::Page& page) {
  auto parts = text::split(page.key, '/');
  return parts.size() == 3 ? parts[1] : std::string();
}

} // namespace

Result<void> dependencies_first(store::ObjectReader& store, const std::vector<FileRecord>& files,
                                std::vector<index::Page>& pages) {
  std::map<std::string, std::vector<const FileRecord*>> projects;
  for (const auto& file : files) projects[file.project].push_back(&file);
  Needs needs;
  std::vector<std::string> without_wheels, order;
  for (const auto& [project, of_project] : projects) {
    const auto* wheel = newest_wheel(of_project);
    if (!wheel) {
      without_wheels.push_back(project);
      continue;
    }
    TRY(needs[project], requirements_of(store, *wheel));
  }
  std::set<std::string> seen;
  for (const auto& [project, unused] : needs) visit(project, needs, seen, order);
  order.insert(order.end(), without_wheels.begin(), without_wheels.end());
  std::map<std::string, std::size_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  auto rank_of = [&](const index::Page& page) {
    auto project = project_of(page);
    return project.empty() ? order.size() : rank[project];
  };
  std::stable_sort(pages.begin(), pages.end(), [&](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
  return {};
}

namespace {

using Names = std::vector<std::string>;
using Pages = std::vector<index::Page>;

constexpr std::size_t k_batch_projects = 64; // a batch of pages is in memory at once

Result<Pages> all_in_order(store::ObjectReader& store, const Names& projects, const Rendering& rendering) {
  std::vector<FileRecord> files;
  TRY(auto pages, rendering.projects(projects, files));
  TRY_DO(dependencies_first(store, files, pages));
  TRY(auto last, rendering.last(&files));
  std::move(last.begin(), last.end(), std::back_inserter(pages));
  return pages;
}

} // namespace

std::vector<Batch> batches_of(store::ObjectReader& store, const Names& projects, const Rendering& rendering) {
  if (projects.size() <= k_in_order_max)
    return {{[&store, projects, rendering] { return all_in_order(store, projects, rendering); }, /*in_order=*/true}};
  std::vector<Batch> batches;
  for (auto begin = projects.begin(); begin != projects.end();) {
    auto end = begin + std::min<std::ptrdiff_t>(k_batch_projects, projects.end() - begin);
    auto make = [piece = Names(begin, end), rendering]() -> Result<Pages> {
      std::vector<FileRecord> files;
      return rendering.projects(piece, files);
    };
    batches.push_back({make, /*in_order=*/false});
    begin = end;
  }
  batches.push_back({[rendering] { return rendering.last(nullptr); }, /*in_order=*/true});
  return batches;
}

} // namespace quarry::pages
