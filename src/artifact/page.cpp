#include "artifact/page.hpp"

#include "artifact/name.hpp"
#include "artifact/upload_record.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <optional>
#include <set>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_space = " \t\r\n\f";

/// The value that begins at `at`, in quotes or without; nullopt when its quote never ends.
std::optional<std::string_view> value_at(std::string_view html, std::size_t at) {
  if (at >= html.size()) return std::nullopt;
  if (html[at] != '"' && html[at] != '\'') return html.substr(at, html.find_first_of(" \t\r\n\f>", at) - at);
  auto end = html.find(html[at], at + 1);
  if (end == html.npos) return std::nullopt;
  return html.substr(at + 1, end - at - 1);
}

/// The references that generators of such pages write: a file name needs no others.
std::string unescaped(std::string_view value) {
  std::string text(value);
  for (auto [from, to] :
       {std::pair{"&#43;", "+"}, {"&#x2B;", "+"}, {"&#x27;", "'"}, {"&#39;", "'"}, {"&quot;", "\""}, {"&amp;", "&"}})
    text = text::replace_all(text, from, to);
  return text;
}

std::string_view path_of(std::string_view url) {
  auto host = url.find("://");
  if (host == url.npos) return {};
  auto slash = url.find('/', host + 3);
  return slash == url.npos ? std::string_view() : url.substr(slash);
}

/// Relative to `root`; nullopt when it leads elsewhere.
std::optional<std::string> relative_to(std::string_view root, std::string link) {
  link = link.substr(0, link.find_first_of("?#"));
  if (link.starts_with("./")) link = link.substr(2);
  for (auto base : {root, path_of(root)})
    if (!base.empty() && link.starts_with(base)) link = link.substr(base.size());
  if (link.empty() || link == "." || link == ".." || link.starts_with('/') || link.find("://") != link.npos)
    return std::nullopt;
  return text::percent_decode(link);
}

/// What the page links to at or below `root`, relative to it.
std::vector<std::string> links_on_page(std::string_view html, std::string_view root) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  auto lower = text::lower(html);
  for (std::size_t at = 0; (at = lower.find("href", at)) != lower.npos;) {
    bool attribute = at > 0 && k_space.find(lower[at - 1]) != k_space.npos;
    at = std::min(lower.find_first_not_of(k_space, at + 4), lower.size());
    if (!attribute || at == lower.size() || lower[at] != '=') continue;
    auto value = value_at(html, std::min(html.find_first_not_of(k_space, at + 1), html.size()));
    if (!value) break;
    auto name = relative_to(root, unescaped(text::trim(*value)));
    if (name && seen.insert(*name).second) names.push_back(std::move(*name));
  }
  return names;
}
} // namespace

std::vector<std::string> names_on_page(std::string_view html, std::string_view root) {
  auto names = links_on_page(html, root);
  std::erase_if(names, [](const std::string& name) { return name.find('/') != name.npos; });
  return names;
}

std::vector<std::string> tarballs_in_quotes(std::string_view html) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (std::size_t at = 0; (at = html.find(".tar.", at)) != html.npos; ++at) {
    auto begin = html.find_last_of("\"'<>\n", at), end = html.find_first_of("\"'<>\n", at);
    if (begin == html.npos || end == html.npos || html[begin] != html[end]) continue;
    std::string name(html.substr(begin + 1, end - begin - 1));
    name = name.substr(name.rfind('/') + 1);
    if (parse_tarball_name(name) && seen.insert(name).second) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> groups_on_page(std::string_view html, std::string_view root) {
  constexpr std::string_view k_begin = "manifests/";
  auto end = "/" + std::string(k_upload_record);
  std::vector<std::string> groups;
  for (const auto& link : links_on_page(html, root)) {
    if (!link.starts_with(k_begin) || !link.ends_with(end) || link.size() <= k_begin.size() + end.size()) continue;
    auto group = link.substr(k_begin.size(), link.size() - k_begin.size() - end.size());
    if (group.find('/') == group.npos && group != "..") groups.push_back(std::move(group));
  }
  return groups;
}

} // namespace quarry::artifact
