#include "pages/public_url.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::pages {

namespace {

std::string without_slash(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

bool has_scheme(std::string_view text) { return text.starts_with("https://") || text.starts_with("http://"); }

bool is_url(std::string_view text) {
  auto plain = [](char c) { return c > 0x20 && c < 0x7f && c != '?' && c != '#'; };
  return has_scheme(text) && !text.ends_with("//") && std::all_of(text.begin(), text.end(), plain);
}

} // namespace

Result<PublicUrl> PublicUrl::parse(const std::string& text) {
  PublicUrl parsed;
  for (const auto& item : text::split_any(text, ", ")) {
    auto equals = std::min(item.find("=http://"), item.find("=https://")); // "https://h/a=httpd" is one URL
    Row row;
    if (equals != item.npos) row.place = without_slash(item.substr(0, equals));
    auto url = equals == item.npos ? item : item.substr(equals + 1);
    if (!is_url(url) || row.place.find('?') != std::string::npos) // a URL with "?u=http://h" has a query
      return fail(ErrorKind::invalid_argument, "P013",
                  fmt::format("`{}` is not a public URL", item.substr(0, item.find('?'))),
                  "write https://HOST/PATH, or s3://BUCKET/PREFIX=https://HOST/PATH, without a query");
    row.url = without_slash(url);
    parsed.rows_.push_back(std::move(row));
  }
  return parsed;
}

const PublicUrl::Row* PublicUrl::row_of(const store::ObjectReader& store) const {
  auto root = without_slash(store.describe());
  auto holds = [&](const Row& row) {
    return row.place.empty() || root == row.place || root.starts_with(row.place + "/");
  };
  const Row* best = nullptr;
  for (const auto& row : rows_)
    if (holds(row) && (!best || row.place.size() > best->place.size())) best = &row;
  return best;
}

std::string PublicUrl::of(const store::ObjectReader& store, const std::string& key) const {
  const auto* best = row_of(store);
  if (!best) return store.url(key);
  auto root = without_slash(store.describe());
  auto below = best->place.empty() ? std::string() : root.substr(best->place.size());
  if (!is_url(root)) below = text::percent_encode(below); // a web server's place is a URL already
  return best->url + below + "/" + text::percent_encode(key);
}

} // namespace quarry::pages
