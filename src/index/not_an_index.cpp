#include "index/not_an_index.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "index/read_page.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::index {

namespace {

/// Names on the page, a directory's without its slash; the way up and sorting links (`?C=N;O=D`) are no names.
std::set<std::string> names_on(const std::string& html) {
  std::set<std::string> names;
  auto page = read_html_page(html, "the listing");
  if (!page) return names;
  for (const auto& link : page->files) {
    auto name = text::percent_decode(link.url.substr(0, link.url.find('?')));
    if (name.ends_with('/')) name.pop_back();
    if (!name.empty() && name != ".." && name.find('/') == name.npos) names.insert(std::move(name));
  }
  return names;
}

bool belongs_to_an_index(const std::string& name) {
  auto stem = name.ends_with(".metadata") ? name.substr(0, name.size() - 9) : name;
  return dist::DistributionName::parse(stem) || dist::ProjectName::parse(name);
}

} // namespace

bool is_listing(const std::string& html) {
  constexpr std::size_t k_head = 4096; // the title is in the first lines
  auto head = text::lower(html.substr(0, k_head));
  return head.find("<title>directory listing for") != head.npos || head.find("<title>index of ") != head.npos;
}

std::optional<Error> listing_instead_of_index(const Site& site, const SiteReply& top) {
  if (!top.there() || !is_listing(top.text)) return std::nullopt;
  auto names = names_on(top.text);
  bool store = names.contains("channels") || names.contains("evidence") || names.contains("views");
  if (names.contains("simple") || (!store && std::ranges::all_of(names, belongs_to_an_index))) return std::nullopt;
  auto place = site.describe();
  if (!place.ends_with('/')) place += '/';
  return Error{ErrorKind::not_found,
               "I008",
               fmt::format("{} is a directory listing, not an index", site.describe()),
               {},
               {},
               store ? fmt::format("name one of its channels: `quarry index check {}channels/NAME/`", place)
                     : "name the directory that holds index.html, simple/ or simple-json/"};
}

Error no_index(const Site& site, const SiteReply& top) {
  Error error{ErrorKind::not_found,
              "I001",
              fmt::format("{} holds no index: neither index.html nor simple/ nor simple-json/", site.describe()),
              {},
              {},
              "make one with `quarry index build DIR`"};
  if (top.state == SiteReply::State::denied) {
    error.message = fmt::format("{} shows no index", site.describe());
    error.details = {"answer    " + top.refusal};
    error.hint = "it needs a login, or hides what does not exist: look at the URL with curl or a browser";
  }
  return error;
}

} // namespace quarry::index
