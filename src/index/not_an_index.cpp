#include "index/not_an_index.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "index/read_page.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::index {

namespace {

bool belongs_to_an_index(const std::string& name) {
  auto stem = name.ends_with(".metadata") ? name.substr(0, name.size() - 9) : name;
  return dist::DistributionName::parse(stem) || dist::ProjectName::parse(name);
}

/// Where a channel's or a project's directory is told from any other by its page: of so many directories at most.
constexpr std::size_t k_looked_at_max = 3;

std::string with_slash(std::string place) { return place.ends_with('/') ? place : place + '/'; }

Error not_an_index(const Site& site, std::string hint) {
  return {ErrorKind::not_found, "I008", fmt::format("{} is a directory listing, not an index", site.describe()), {}, {},
          std::move(hint)};
}

constexpr std::string_view k_name_it = "name the directory that holds index.html, simple/ or simple-json/";

} // namespace

std::set<std::string> names_on_listing(const std::string& html) {
  std::set<std::string> names;
  auto page = read_html_page({html, "the listing"});
  if (!page) return names;
  for (const auto& link : page->files) {
    auto name = text::percent_decode(link.url.substr(0, link.url.find('?')));
    if (name.ends_with('/')) name.pop_back();
    if (!name.empty() && name != ".." && name.find('/') == name.npos) names.insert(std::move(name));
  }
  return names;
}

bool is_listing(const std::string& html) {
  constexpr std::size_t k_head = 4096; // the title is in the first lines
  auto head = text::lower(html.substr(0, k_head));
  return head.find("<title>directory listing for") != head.npos || head.find("<title>index of ") != head.npos;
}

std::optional<Error> listing_instead_of_index(const Site& site, const SiteReply& top) {
  if (!top.there() || !is_listing(top.text)) return std::nullopt;
  auto names = names_on_listing(top.text);
  bool store = names.contains("channels") || names.contains("evidence") || names.contains("views");
  if (names.contains("simple") || (!store && std::ranges::all_of(names, belongs_to_an_index))) return std::nullopt;
  return not_an_index(site, store ? fmt::format("name one of its channels: `quarry index check {}channels/NAME/`",
                                                with_slash(site.describe()))
                                  : std::string(k_name_it));
}

Result<std::optional<Error>> listing_of_other_directories(Site& site, const SiteReply& top) {
  if (!top.there() || !is_listing(top.text)) return std::optional<Error>();
  auto names = names_on_listing(top.text);
  if (names.contains("simple") || names.contains("simple-json")) return std::optional<Error>();
  if (std::ranges::any_of(names, [](const auto& name) { return bool(dist::DistributionName::parse(name)); }))
    return std::optional<Error>();
  std::optional<Error> found;
  std::size_t looked_at = 0;
  for (const auto& name : names) {
    if (++looked_at > k_looked_at_max) break;
    TRY(auto page, site.page(name));
    if (!page.there()) continue;
    TRY(auto tree, site.page(name + "/simple"));
    if (tree.there())
      return std::optional(not_an_index(site, fmt::format("name one of its directories: `quarry index check {}{}/`",
                                                          with_slash(site.describe()), name)));
    if (!is_listing(page.text)) return std::optional<Error>(); // a page of a project, as somebody wrote it
    auto inner = names_on_listing(page.text);
    bool project = inner.empty() || std::ranges::any_of(inner, [](const auto& file) {
                     return bool(dist::DistributionName::parse(file));
                   });
    if (project) return std::optional<Error>();
    found = not_an_index(site, std::string(k_name_it));
  }
  return found;
}

} // namespace quarry::index
