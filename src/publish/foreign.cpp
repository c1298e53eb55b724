#include "publish/foreign.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "index/read_page.hpp"
#include "pages/page_writer.hpp"
#include "pages/projection.hpp"
#include "registry/registry.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <mutex>
#include <set>
#include <tuple>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectInfo;
using store::ObjectStore;

namespace {

using Names = std::set<std::string>;

bool is_package(const std::string& name) {
  return dist::DistributionName::parse(name).has_value() || name.ends_with(".whl") || name.ends_with(".egg");
}

/// The packages that a page links to and `known` lacks. Links to projects do not count: their own pages are read, too.
Names lost_of(const index::IndexPage& page, const Names& known) {
  Names lost;
  for (const auto& link : page.files)
    if (auto name = link.url_name(); is_package(name) && !known.contains(name)) lost.insert(name);
  return lost;
}

/// Pages of a repository in HTML: its own, those of projects, and those of simple/.
bool is_html_page(const std::string& rest) {
  bool page = rest.empty() || rest == "index.html" || rest.ends_with('/') || rest.ends_with("/index.html");
  return page && !rest.starts_with("simple-json/") && !rest.starts_with("merged/");
}

struct Lost {
  std::string place, name;
  bool operator<(const Lost& other) const { return std::tie(place, name) < std::tie(other.place, other.name); }
};

Result<std::set<Lost>> lost_from_pages(ObjectStore& target, const std::vector<std::string>& keys, const Names& known,
                                       bool is_repository, unsigned transfers) {
  std::set<Lost> lost;
  std::mutex mutex;
  TRY_DO(parallel_for(keys.size(), transfers, [&](std::size_t i) -> Result<void> {
    TRY(auto bytes, target.get(keys[i], pages::k_page_bytes_max));
    auto page = index::read_page(bytes.value_or(""), keys[i]);
    if (!page || (page->ours && is_repository)) return {}; // what cannot be read as a page lists nothing
    auto names = lost_of(*page, known);
    std::lock_guard lock(mutex);
    for (const auto& name : names) lost.insert({keys[i], name});
    return {};
  }));
  return lost;
}

Unexpected hidden(const ObjectStore& target, const std::string& directory, const std::set<Lost>& lost) {
  constexpr std::size_t k_shown = 10;
  Names names;
  for (const auto& each : lost) names.insert(each.name);
  auto error =
      Error::of(ErrorKind::already_exists, "P090",
                fmt::format("{} in {} lists {} that another tool put there, and our pages would no longer show {}",
                            directory, target.describe(), names.size() == 1 ? "a package" : "packages",
                            names.size() == 1 ? "it" : "them"))
          .with_hint(
              "nothing was changed: name a directory of its own, such as `--prefix quarry/{family}`; or move these "
              "pages and packages away first");
  std::vector<std::string> lines;
  for (const auto& each : lost) lines.push_back(fmt::format("{}  in {}", each.name, each.place));
  error.details = text::first_lines(std::move(lines), k_shown);
  return fail(std::move(error));
}

} // namespace

Result<void> refuse_to_hide(ObjectStore& target, const std::string& directory, const std::vector<ObjectInfo>& objects,
                            const std::vector<FileRecord>& planned, unsigned transfers) {
  if (objects.empty()) return {};
  TRY(auto sets, registry::sealed_sets_below(target, directory));
  Names known;
  for (const auto& file : planned) known.insert(file.filename);
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) known.insert(file.filename);
  TRY(auto pointer, target.head(pages::pointer_key(directory)));
  std::vector<std::string> pages;
  std::set<Lost> unlisted;
  for (const auto& object : objects) {
    auto name = object.key.substr(directory.size() + 1);
    if (is_html_page(name)) pages.push_back(object.key);
    if (!pointer && is_package(name) && !known.contains(name)) unlisted.insert({directory + "/", name});
  }
  TRY(auto lost, lost_from_pages(target, pages, known, pointer.has_value(), transfers));
  lost.merge(unlisted);
  if (lost.empty()) return {};
  return hidden(target, directory, lost);
}

} // namespace quarry::publish
