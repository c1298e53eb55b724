#include "index/listing.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "index/frame.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace quarry::index {

namespace {
constexpr std::string_view k_checksum = ".sha256sum";

void row(std::string& out, const Listed& entry, bool has_checksum) {
  auto slash = entry.is_directory ? "/" : "";
  auto href = text::percent_encode(entry.name);
  fmt::format_to(std::back_inserter(out), "<tr><td><a href=\"{}{}\">{}{}</a><td class=\"n\">{}<td>", href, slash,
                 text::html_escape(entry.name), slash, entry.is_directory ? "" : units::bytes(entry.size));
  if (has_checksum) fmt::format_to(std::back_inserter(out), "<a href=\"{}{}\">sha256sum</a>", href, k_checksum);
  out += "\n";
}
} // namespace

std::string listing_page(std::string_view title, std::vector<Listed> entries, Parent parent, std::string_view data) {
  std::sort(entries.begin(), entries.end(), [](const Listed& a, const Listed& b) {
    return a.is_directory != b.is_directory ? a.is_directory : a.name < b.name;
  });
  std::set<std::string> names;
  for (const auto& entry : entries) names.insert(entry.name);
  auto out = page_head(title) + "<table>\n<tr><th>file<th class=\"n\">size<th>checksum\n";
  if (parent == Parent::linked) out += "<tr><td><a href=\"../\">../</a>\n";
  for (const auto& entry : entries) {
    bool is_checksum =
        entry.name.ends_with(k_checksum) && names.contains(entry.name.substr(0, entry.name.size() - k_checksum.size()));
    if (!is_checksum) row(out, entry, names.contains(entry.name + std::string(k_checksum)));
  }
  out += "</table>\n";
  if (!data.empty()) fmt::format_to(std::back_inserter(out), "<script>const files = {};</script>\n", data);
  return out + page_end();
}

} // namespace quarry::index
