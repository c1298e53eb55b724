#include "venv/expansion.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::venv {

namespace {

using Proven = std::map<std::string, Sha256>;

std::string target_of(const std::string& path, const std::string& link) {
  return path::normal(path::join(path::dirname(path), link));
}

/// The directories of the libraries, one for each family or one for all targets.
std::set<std::string> library_tops(const Distribution& distribution, const Proven& proven) {
  std::set<std::string> tops;
  for (const auto& [path, digest] : proven)
    if (auto top = path.substr(0, path.find('/')); distribution.unpacking->may_stand_for(top)) tops.insert(top);
  return tops;
}

/// Proven files at the same place: where the payload's link leads, or in the libraries of a family. That it is the
/// family in use, and one for all, is for the packaged tests (devel.mirror).
Proven siblings_of(const std::string& path, const std::string* link, const Proven& proven,
                   const std::set<std::string>& tops) {
  Proven found;
  if (link)
    if (auto it = proven.find(target_of(path, *link)); it != proven.end()) found.insert(*it);
  auto below = path.substr(path.find('/'));
  for (const auto& top : tops)
    if (auto it = proven.find(top + below); it != proven.end()) found.insert(*it);
  return found;
}

/// One unpacked file that is not a file of the payload. `link`: its text in the payload; nullptr: it is not there.
void compare_link(const std::string& path, const std::string* link, const Proven& siblings,
                  const std::string& site_packages, Comparison& result) {
  if (auto text = sys::read_link(path::join(site_packages, path))) {
    if ((!link || *text != *link) && !siblings.contains(target_of(path, *text)))
      result.defects.push_back(
          fmt::format("{} leads to {}, {}", path, *text, link ? "not to " + *link : "and is not in the devel payload"));
    return;
  }
  // A hard link: the same bytes as the file of a sibling, which is proven. The payload names one family's libraries;
  // unpacking leads to those of the family in use (python/README.md), so it may be another's, or one more.
  FileCheck check{path, {}, {}};
  for (const auto& [target, digest] : siblings) check.or_these.push_back(digest);
  if (check.or_these.empty())
    return result.defects.push_back(link ? fmt::format("{} is a file, and should be a link to {}", path, *link)
                                         : fmt::format("{} is not in the devel payload", path));
  check.sha256 = check.or_these.front();
  result.checks.push_back(std::move(check));
}

} // namespace

bool is_expanded(const Distribution& distribution) {
  return std::any_of(distribution.record.begin(), distribution.record.end(),
                     [&](const auto& row) { return is_devel_expansion(distribution, row.first); });
}

Comparison compare_with_payload(const Distribution& distribution, const DevelPayload& payload,
                                const std::map<std::string, Sha256>& proven, const std::string& site_packages) {
  Comparison result;
  if (!distribution.unpacking) return result;
  auto tops = library_tops(distribution, proven);
  for (const auto& [path, row] : distribution.record) {
    if (!is_devel_expansion(distribution, path)) continue;
    if (auto file = payload.files.find(path); file != payload.files.end()) {
      result.checks.push_back({path, file->second.sha256, file->second.size});
      continue;
    }
    auto it = payload.links.find(path);
    const auto* link = it == payload.links.end() ? nullptr : &it->second;
    compare_link(path, link, siblings_of(path, link, proven, tops), site_packages, result);
  }
  return result;
}

} // namespace quarry::venv
