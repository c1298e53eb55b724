#include "pages/projection.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "index/pages.hpp"
#include "pages/foreign_pages.hpp"
#include "pages/install_words.hpp"
#include "pages/page_order.hpp"
#include "pages/page_writer.hpp"
#include "pages/remarks.hpp"
#include "pages/settings.hpp"
#include "pages/shown_sets.hpp"
#include "registry/distributions.hpp"
#include "registry/history.hpp"
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::pages {

using registry::FileRecord;
using store::ObjectReader;
using store::ObjectStore;
using Keys = std::vector<std::string>;

namespace {

constexpr const char* k_distribution_pages_schema = "quarry.distribution-pages/1";

/// Names that a repository uses for itself, beside the pages of projects.
bool is_own_directory(std::string_view name) {
  constexpr std::string_view k_own[] = {"simple", "simple-json", "merged", "seals"};
  return std::find(std::begin(k_own), std::end(k_own), name) != std::end(k_own);
}

/// Adds `{project}/index.html` for installers that use the directory itself as the index. These pages come first, in
/// the order of the others.
std::vector<index::Page> with_repository_pages(const std::string& directory, const std::vector<FileRecord>& files,
                                               const Remarks& remarks, std::vector<index::Page> pages) {
  constexpr std::string_view k_tree = "simple/";
  std::vector<index::Page> all;
  for (const auto& page : pages) {
    if (!page.key.starts_with(k_tree) || page.key == "simple/index.html") continue;
    auto key = page.key.substr(k_tree.size());
    auto project = key.substr(0, key.find('/'));
    if (is_own_directory(project)) continue; // its page would be the root of an index; `simple/` has the project
    std::vector<index::Link> links;
    for (const auto& file : files)
      if (file.project == project) links.push_back({file, index::href_between(file.key, directory + "/" + project)});
    auto own = remarks.by_project.find(project);
    all.push_back({key,
                   own == remarks.by_project.end() ? index::project_html(project, links)
                                                   : index::project_html(project, links, own->second),
                   index::k_html_type});
  }
  std::move(pages.begin(), pages.end(), std::back_inserter(all));
  return all;
}

/// Pages `{directory}/{project}/index.html` of projects that the directory no longer shows.
Result<Keys> stale_repository_pages(ObjectReader& store, const std::string& directory,
                                    const std::set<std::string>& current) {
  std::set<std::string> stale;
  TRY(auto objects, store.list(directory + "/"));
  for (const auto& object : objects) {
    auto key = page_key_of(object.key);
    auto parts = text::split(key.substr(directory.size() + 1), '/');
    bool page = parts.size() == 2 && parts[1] == "index.html";
    if (page && !is_own_directory(parts[0]) && !current.contains(key)) stale.insert(std::move(key));
  }
  return Keys(stale.begin(), stale.end());
}

std::string title_of(const std::string& directory, std::size_t untested) {
  auto title = "Packages of " + directory;
  return untested == 0 ? title : fmt::format("{} ({} of untested history)", title, units::things(untested, "file"));
}

/// All pages of a package directory in one batch: a run has few projects. `shown`: a distribution, whose directory is a
/// repository itself; null for another directory.
Result<Work> work_of(ObjectReader& store, const std::string& directory, const std::vector<registry::SealedSet>& sets,
                     const registry::DistributionRecord* shown) {
  auto remarks = shown ? remarks_of_shown(shown->shown, sets) : Remarks();
  TRY(auto of_sets, registry::union_of(sets));
  TRY(auto history, registry::history_of(store, directory));
  if (shown) TRY_DO(registry::hide_yanked(store, *shown, history));
  auto sealed = of_sets.size();
  auto files = registry::with_history(std::move(of_sets), history);
  auto pages = index::all_pages(files, {.title = title_of(directory, files.size() - sealed),
                                        .directory = directory,
                                        .install = install_words(files),
                                        .remarks = remarks.all,
                                        .by_project = remarks.by_project});
  TRY_DO(dependencies_first(store, files, pages));
  TRY(auto settings, read_settings(store));
  if (settings.find_links == FindLinks::other)
    std::erase_if(pages, [](const index::Page& page) { return page.key == "index.html"; });
  if (shown) pages = with_repository_pages(directory, files, remarks, std::move(pages));
  // Written last: once it exists, a page without our mark belongs to another tool (foreign_pages.cpp).
  std::ranges::stable_partition(pages, [](const index::Page& page) { return page.key != k_written_last; });
  std::set<std::string> current;
  for (const auto& page : pages) current.insert(directory + "/" + page.key);
  Work work;
  if (settings.find_links == FindLinks::other) work.stale_copies.push_back(directory + "/");
  TRY(work.stale, stale_pages(store, directory, [&](const std::string& key) { return current.contains(key); }));
  if (shown) {
    TRY(auto gone, stale_repository_pages(store, directory, current));
    std::move(gone.begin(), gone.end(), std::back_inserter(work.stale));
  }
  work.batches.push_back({[pages = std::move(pages)]() -> Result<std::vector<index::Page>> { return pages; }});
  return work;
}

/// What the pages show. It changes with every move, so that a slow writer notices in the end that another was faster.
index::Page state_page(const registry::DistributionRecord& shown) {
  Json state{{"schema", k_distribution_pages_schema},
             {"directory", shown.directory},
             {"generation", shown.generation},
             {"view", shown.view}};
  return {std::string(k_state_name), json::text(state), "application/json"};
}

/// Whether one of our pages is here. A publish that was killed before its last page leaves some of them.
Result<bool> has_our_pages(ObjectReader& store, const std::string& directory) {
  TRY(auto last, store.head(directory + "/" + std::string(k_written_last)));
  if (last) return true;
  TRY(auto keys, stale_pages(store, directory, [](const std::string&) { return false; }));
  keys.push_back(directory + "/index.html");
  for (const auto& key : keys) {
    TRY(auto bytes, store.get(key, k_page_bytes_max));
    if (bytes && is_our_page(*bytes)) return true;
  }
  return false;
}

} // namespace

Findings foreign_notes(const Projected& projected) {
  constexpr std::size_t k_pages_shown = 5;
  if (projected.foreign.empty()) return {};
  return {
      {"P113", Severity::warning, projected.foreign.front(),
       fmt::format("another tool writes {}, so they were left to it", text::first(projected.foreign, k_pages_shown)),
       "stop that tool, remove these pages and run `quarry index repair`; or, if it shall keep the find-links page, "
       "`quarry store setting --find-links other`"}};
}

Result<std::uint64_t> projected_distribution(ObjectReader& store, const std::string& directory) {
  TRY(auto bytes, store.get(directory + "/" + std::string(k_state_name), registry::k_record_bytes_max));
  if (!bytes) return std::uint64_t{0};
  auto state = json::parse({*bytes, k_state_name});
  if (!state || !state->is_object() || json::string_or(*state, "schema", "") != k_distribution_pages_schema)
    return std::uint64_t{0};
  auto generation = state->value("generation", Json());
  return generation.is_number_unsigned() ? generation.get<std::uint64_t>() : std::uint64_t{0};
}

Result<Projected> project_directory(ObjectStore& store, const std::string& directory) {
  using Sets = std::vector<registry::SealedSet>;
  auto sets = std::make_shared<const Sets>(); // of the last snapshot: those that are still there are not read again
  auto read = [&]() -> Result<Snapshot> {
    TRY(auto now, registry::sealed_sets_in(store, directory, *sets));
    sets = std::make_shared<const Sets>(std::move(now));
    TRY(auto token, token_of(store, directory, *sets));
    return Snapshot{std::move(token),
                    [&, mine = sets](const std::string&) { return work_of(store, directory, *mine, nullptr); }};
  };
  TRY_DO(read());
  if (sets->empty()) { // if all sets were removed, their pages are rewritten as empty
    TRY(auto history, registry::history_token(store, directory));
    TRY(bool pages, has_our_pages(store, directory));
    if (!pages && history.empty()) return Projected{};
  }
  return write_pages(store, {directory, read});
}

Result<Projected> project_distribution(ObjectStore& store, const std::string& directory) {
  std::uint64_t generation = 0; // of the last snapshot that gave its work
  auto read = [&]() -> Result<Snapshot> {
    TRY(auto now, registry::require_distribution(store, directory));
    TRY(auto token, token_of_distribution(store, now.record));
    auto work = [&, pointer = std::move(now.record)](const std::string&) -> Result<Work> {
      generation = pointer.generation;
      TRY(auto sets, registry::sealed_of(store, pointer.shown));
      TRY(auto made, work_of(store, directory, sets, &pointer));
      made.state = [page = state_page(pointer)] { return page; };
      return made;
    };
    return Snapshot{std::move(token), std::move(work)};
  };
  TRY(auto done, write_pages(store, {directory, read, std::string(k_state_name)}));
  done.generation = generation;
  return done;
}

} // namespace quarry::pages
