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
#include "pages/settings.hpp"
#include "registry/history.hpp"
#include "registry/own_digest.hpp"
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::pages {

using registry::FileRecord;
using store::ObjectStore;
using Keys = std::vector<std::string>;

namespace {

constexpr const char* k_distribution_schema = "quarry.distribution/1";
constexpr std::string_view k_pointer_name = "distribution.json";

/// Adds `{project}/index.html` for installers that use the directory itself as the index. These pages come first, in
/// the order of the others.
std::vector<index::Page> with_repository_pages(const std::string& directory, const std::vector<FileRecord>& files,
                                               std::vector<index::Page> pages) {
  constexpr std::string_view k_tree = "simple/";
  std::vector<index::Page> all;
  for (const auto& page : pages) {
    if (!page.key.starts_with(k_tree) || page.key == "simple/index.html") continue;
    auto key = page.key.substr(k_tree.size());
    auto project = key.substr(0, key.find('/'));
    std::vector<index::Link> links;
    for (const auto& file : files)
      if (file.project == project) links.push_back({file, index::href_between(file.key, directory + "/" + project)});
    all.push_back({key, index::project_html(project, links), index::k_html_type});
  }
  std::move(pages.begin(), pages.end(), std::back_inserter(all));
  return all;
}

/// Pages `{directory}/{project}/index.html` of projects that the directory no longer shows.
Result<Keys> stale_repository_pages(ObjectStore& store, const std::string& directory,
                                    const std::set<std::string>& current) {
  constexpr std::string_view k_own[] = {"simple", "simple-json", "merged", "seals"};
  std::set<std::string> stale;
  TRY(auto objects, store.list(directory + "/"));
  for (const auto& object : objects) {
    auto key = page_key_of(object.key);
    auto parts = text::split(key.substr(directory.size() + 1), '/');
    bool page = parts.size() == 2 && parts[1] == "index.html";
    if (page && std::find(std::begin(k_own), std::end(k_own), parts[0]) == std::end(k_own) && !current.contains(key))
      stale.insert(std::move(key));
  }
  return Keys(stale.begin(), stale.end());
}

std::string title_of(const std::string& directory, std::size_t untested) {
  auto title = "Packages of " + directory;
  return untested == 0 ? title : fmt::format("{} ({} of untested history)", title, units::things(untested, "file"));
}

/// All pages of a package directory in one batch: a run has few projects.
Result<Work> work_of(ObjectStore& store, const std::string& directory, const std::vector<registry::SealedSet>& sets,
                     bool is_repository) {
  TRY(auto of_sets, registry::union_of(sets));
  TRY(auto history, registry::history_of(store, directory));
  auto sealed = of_sets.size();
  auto files = registry::with_history(std::move(of_sets), history);
  auto pages = index::all_pages(
      files,
      {.title = title_of(directory, files.size() - sealed), .directory = directory, .install = install_words(files)});
  TRY_DO(dependencies_first(store, files, pages));
  TRY(auto settings, read_settings(store));
  if (settings.find_links == FindLinks::other)
    std::erase_if(pages, [](const index::Page& page) { return page.key == "index.html"; });
  if (is_repository) pages = with_repository_pages(directory, files, std::move(pages));
  // Written last: from then on our pages are here, and a page without our mark has a writer (foreign_pages.cpp).
  std::ranges::stable_partition(pages, [](const index::Page& page) { return page.key != k_written_last; });
  std::set<std::string> current;
  for (const auto& page : pages) current.insert(directory + "/" + page.key);
  Work work;
  TRY(work.stale, stale_pages(store, directory, [&](const std::string& key) { return current.contains(key); }));
  if (is_repository) {
    TRY(auto gone, stale_repository_pages(store, directory, current));
    std::move(gone.begin(), gone.end(), std::back_inserter(work.stale));
  }
  work.batches.push_back({[pages = std::move(pages)]() -> Result<std::vector<index::Page>> { return pages; }});
  return work;
}

/// Reads the sets sealed in a directory into `sets`, and returns a token that changes with them.
Result<std::string> load_sets(ObjectStore& store, const std::string& directory,
                              std::vector<registry::SealedSet>& sets) {
  TRY(auto below, registry::sealed_sets_below(store, directory));
  sets.clear();
  std::string token;
  for (auto& sealed : below) {
    if (sealed.set.directory != directory) continue; // it belongs to a package directory further down
    token += sealed.digest.hex();
    sets.push_back(std::move(sealed));
  }
  TRY(auto history, registry::history_token(store, directory));
  return token + history;
}

using registry::SetDigest;
using Sources = std::map<SetDigest, SetDigest>; ///< a copy here -> the set that it is a copy of

/// The source of each set, as the current pointer names it.
Result<Sources> known_sources(ObjectStore& store, const std::string& directory) {
  auto key = pointer_key(directory);
  Sources known;
  TRY(auto bytes, store.get(key, registry::k_record_bytes_max));
  if (!bytes) return known;
  TRY(auto pointer, registry::proven_object(*bytes, key, k_distribution_schema));
  for (const auto& row : pointer.value("sets", Json::array()))
    if (auto set = SetDigest::parse(json::string_or(row, "set", "")))
      known[*set] = SetDigest::parse(json::string_or(row, "source", "")).value_or(SetDigest());
  return known;
}

index::Page pointer_page(const std::string& directory, const std::vector<registry::SealedSet>& sets,
                         const Sources& sources) {
  auto rows = Json::array();
  for (const auto& sealed : sets) {
    auto source = sources.find(sealed.digest);
    rows.push_back({{"set", sealed.digest.hex()}, {"source", source == sources.end() ? "" : source->second.hex()}});
  }
  Json pointer{{"schema", k_distribution_schema}, {"directory", directory}, {"sets", rows}};
  return {std::string(k_pointer_name), registry::with_own_digest(std::move(pointer)), "application/json"};
}

} // namespace

Findings foreign_notes(const Projected& projected) {
  constexpr std::size_t k_pages_shown = 5;
  if (projected.foreign.empty()) return {};
  auto shown = projected.foreign;
  if (shown.size() > k_pages_shown) shown.resize(k_pages_shown);
  auto rest = projected.foreign.size() - shown.size();
  return {
      {"P113", Severity::warning, projected.foreign.front(),
       fmt::format("another tool writes {}{}, so they were left to it", text::join(shown, ", "),
                   rest ? fmt::format(" and {} more", rest) : ""),
       "stop that tool, remove these pages and run `quarry index repair`; or, if it shall keep the find-links page, "
       "`quarry store setting --find-links other`"}};
}

std::string pointer_key(const std::string& directory) { return directory + "/" + std::string(k_pointer_name); }

Result<std::string> directory_of_distribution(ObjectStore& place) {
  std::string key(k_pointer_name);
  TRY(auto bytes, place.get(key, registry::k_record_bytes_max));
  if (!bytes) return std::string();
  TRY(auto pointer, registry::proven_object(*bytes, key, k_distribution_schema));
  return json::string_at(pointer, "directory", key);
}

Result<void> claim_distribution(ObjectStore& store, const std::string& directory) {
  auto key = pointer_key(directory);
  TRY(auto there, store.head(key));
  if (there) return {};
  auto pointer = pointer_page(directory, {}, {});
  store::PutOptions options;
  options.precondition = store::Precondition::if_absent();
  options.content_type = pointer.content_type;
  options.cache_control = k_page_cache;
  auto put = store.put(key, content::Rope::literal(pointer.bytes), options);
  if (put || put.error().is(codes::object_exists)) return {};
  return fail(std::move(put).error());
}

Result<Projected> project_directory(ObjectStore& store, const std::string& directory) {
  std::vector<registry::SealedSet> sets;
  auto token = [&] { return load_sets(store, directory, sets); };
  auto work = [&](const std::string&) { return work_of(store, directory, sets, /*is_repository=*/false); };
  TRY(auto first, token());
  if (first.empty()) { // pages of sets that have left since are made empty
    TRY(auto pages, store.head(directory + "/" + std::string(k_written_last)));
    if (!pages) return Projected{};
  }
  return write_pages(store, {directory, token, work});
}

Result<Projected> project_distribution(ObjectStore& store, const std::string& directory, const Sources& sources) {
  std::vector<registry::SealedSet> sets;
  Sources known;
  auto token = [&]() -> Result<std::string> {
    TRY(known, known_sources(store, directory));
    for (const auto& [set, source] : sources) known[set] = source;
    TRY(auto shown, load_sets(store, directory, sets));
    for (const auto& [set, source] : known)
      shown += set.hex() + source.hex(); // the pointer contains them, so a change of them is a change of the source
    return shown;
  };
  auto work = [&](const std::string&) -> Result<Work> {
    TRY(auto made, work_of(store, directory, sets, /*is_repository=*/true));
    made.state = [pointer = pointer_page(directory, sets, known)] { return pointer; };
    return made;
  };
  return write_pages(store, {directory, token, work, std::string(k_pointer_name)});
}

} // namespace quarry::pages
