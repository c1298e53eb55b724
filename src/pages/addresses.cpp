#include "pages/addresses.hpp"

#include "base/codes.hpp"
#include "pages/channel_pages.hpp"
#include "pages/merged.hpp"
#include "pages/page_writer.hpp"
#include "store/denied.hpp"
#include <fmt/core.h>
#include <optional>

namespace quarry::pages {

using store::ObjectReader;

namespace {

constexpr std::string_view k_state = "/pages.json";

/// Whether the error leaves open what is there: access is denied, or a web server answers a directory with something
/// other than a page.
bool is_unknown(const Error& error) { return store::is_denied(error) || error.is(codes::not_served); }

/// Whether the key has an object that is not empty, as the marker of a directory is; nullopt if that is unknown.
Result<std::optional<bool>> holds(ObjectReader& store, const std::string& key) {
  auto found = store.head(key);
  if (found) return std::optional(*found && (*found)->size > 0);
  if (!is_unknown(found.error())) return fail(std::move(found).error());
  return std::optional<bool>();
}

/// Whether `{directory}/simple/` is answered with a page.
Result<bool> answers(ObjectReader& store, const PublicUrl& public_url, const std::string& directory) {
  if (public_url.covers(store) || store.url("x").starts_with("file:")) return true;
  TRY(auto copy, holds(store, directory + "/simple/"));
  if (copy.value_or(false)) return true;
  TRY(auto page, holds(store, directory + "/simple/index.html"));
  return page == false; // no page is written yet: the address is the future one
}

/// Whether the directory's own page shows projects instead of files.
Result<bool> is_overview(ObjectReader& store, const std::string& directory) {
  if (!directory.starts_with("channels/")) return false;
  auto state = store.get(directory + std::string(k_state), k_page_bytes_max);
  if (!state && is_unknown(state.error())) return false;
  if (!state) return fail(std::move(state).error());
  return *state && parse_pages_state(**state).files > k_listed_files_max;
}

} // namespace

Result<Addresses> addresses_of(ObjectReader& store, const PublicUrl& public_url, const std::string& directory,
                               const std::vector<std::string>& projects) {
  auto url = [&](const std::string& key) { return public_url.of(store, key); };
  auto merged = merged_directory(directory);
  TRY(auto has_merged, holds(store, merged + std::string(k_state)));
  TRY(bool index, answers(store, public_url, directory));
  Addresses found;
  if (index) {
    found.index_url = url(directory + "/simple") + "/";
    if (has_merged.value_or(false)) found.merged_url = url(merged + "/simple") + "/";
    return found;
  }
  TRY(bool overview, is_overview(store, directory));
  if (!overview) found.find_links.push_back(url(directory + "/index.html"));
  if (overview)
    for (const auto& project : projects)
      found.find_links.push_back(url(fmt::format("{}/simple/{}/index.html", directory, project)));
  if (has_merged.value_or(false)) found.find_links.push_back(url(std::string(k_base_index) + "/index.html"));
  return found;
}

std::string installer_words(const Addresses& addresses) {
  if (!addresses.best_index().empty()) return "--index-url " + addresses.best_index();
  std::string words = "--no-index";
  for (const auto& page : addresses.find_links) words += " --find-links " + page;
  return words;
}

} // namespace quarry::pages
