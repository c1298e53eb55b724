#include "venv/expansion.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "venv/payload_links.hpp"
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

bool is_proven(const Unpacked& unpacked, const std::string& path) {
  return unpacked.payload.files.contains(path) || unpacked.proven.contains(path);
}

/// A link with another text than the payload's: it must end at a sibling's file, or where the payload's link ends.
/// August's scripts make hard links of links, which are links with the same text at another place: those may lead
/// nowhere, but not to something else.
bool leads_to_proven(const std::string& path, const std::string& text, const LinkEnd& end, const Proven& siblings,
                     const Unpacked& unpacked) {
  auto target = end_of_text(unpacked.payload, path, text);
  if (target && (siblings.contains(*target) || (target == end.file && is_proven(unpacked, *target)))) return true;
  bool of_link = std::find(end.texts.begin(), end.texts.end(), text) != end.texts.end();
  return of_link && !sys::exists(path::join(unpacked.site_packages, path));
}

/// One unpacked file that is not a file of the payload. `link`: its text in the payload; nullptr: it is not there.
void compare_link(const std::string& path, const std::string* link, const Proven& siblings, const Unpacked& unpacked,
                  Comparison& result) {
  auto end = link ? end_of_link(unpacked.payload, path) : LinkEnd{};
  if (auto text = sys::read_link(path::join(unpacked.site_packages, path))) {
    bool own = link && *text == *link;
    if (!own && !leads_to_proven(path, *text, end, siblings, unpacked))
      result.defects.push_back(
          fmt::format("{} leads to {}, {}", path, *text, link ? "not to " + *link : "and is not in the devel payload"));
    return;
  }
  // A hard link: the same bytes as the file of a sibling, which is proven. The payload names one family's libraries;
  // unpacking leads to those of the family in use (python/README.md), so it may be another's, or one more.
  FileCheck check{path, {}, {}};
  auto accept = [&](const Sha256& digest) {
    auto& known = check.or_these;
    if (std::find(known.begin(), known.end(), digest) == known.end()) known.push_back(digest);
  };
  for (const auto& [target, digest] : siblings) accept(digest);
  if (end.file) {
    if (auto own = unpacked.payload.files.find(*end.file); own != unpacked.payload.files.end())
      accept(own->second.sha256);
    else if (auto other = unpacked.proven.find(*end.file); other != unpacked.proven.end())
      accept(other->second);
  }
  if (check.or_these.empty())
    return result.defects.push_back(link ? fmt::format("{} is a file, and should be a link to {}", path, *link)
                                         : fmt::format("{} is not in the devel payload", path));
  check.sha256 = check.or_these.front();
  result.checks.push_back(std::move(check));
}

bool holds_below(const auto& paths, const std::string& directory) {
  auto below = directory + "/";
  auto first = paths.lower_bound(below);
  return first != paths.end() && first->first.starts_with(below);
}

bool is_there(const Unpacked& unpacked, const std::string& path) {
  return is_proven(unpacked, path) || holds_below(unpacked.payload.files, path) ||
         holds_below(unpacked.payload.links, path) || holds_below(unpacked.proven, path);
}

/// python/rocm's _devel.py leaves out links that lead nowhere, in particular those to a library that the family in use
/// does not have. `tops`: the installed families.
bool may_be_left_out(const std::string& path, const std::set<std::string>& tops, const Distribution& distribution,
                     const Unpacked& unpacked) {
  auto end = end_of_link(unpacked.payload, path).file;
  if (!end) return true;
  auto slash = end->find('/');
  if (slash == end->npos || !distribution.unpacking->may_stand_for(end->substr(0, slash)))
    return !is_there(unpacked, *end);
  return !std::ranges::all_of(tops, [&](const auto& top) { return is_there(unpacked, top + end->substr(slash)); }) ||
         tops.empty();
}

} // namespace

Comparison compare_with_payload(const Distribution& distribution, const Unpacked& unpacked) {
  Comparison result;
  if (!distribution.unpacking) return result;
  const auto& [payload, proven, site_packages] = unpacked;
  auto tops = library_tops(distribution, proven);
  for (const auto& [path, row] : distribution.record) {
    if (!is_devel_expansion(distribution, path)) continue;
    if (auto file = payload.files.find(path); file != payload.files.end()) {
      result.checks.push_back({path, file->second.sha256, file->second.size});
      continue;
    }
    auto it = payload.links.find(path);
    const auto* link = it == payload.links.end() ? nullptr : &it->second;
    compare_link(path, link, siblings_of(path, link, proven, tops), unpacked, result);
  }
  return result;
}

Comparison compare_archive(const FileCheck& archive, const Distribution& distribution, const Unpacked& unpacked) {
  Comparison result;
  bool listed = distribution.record.contains(archive.path);
  if (listed && !is_gone(path::join(unpacked.site_packages, archive.path))) {
    result.checks.push_back(archive);
    return result;
  }
  auto expect = [&](const std::string& path) {
    if (!distribution.record.contains(path))
      result.defects.push_back(fmt::format("{} is gone, and {} was not unpacked from it", archive.path, path));
  };
  for (const auto& [path, file] : unpacked.payload.files) expect(path);
  auto tops = library_tops(distribution, unpacked.proven);
  for (const auto& [path, link] : unpacked.payload.links)
    if (listed || !may_be_left_out(path, tops, distribution, unpacked)) expect(path);
  return result;
}

} // namespace quarry::venv
