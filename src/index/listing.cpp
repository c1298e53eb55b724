#include "index/listing.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "index/pages.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace quarry::index {

namespace {
void row(std::string& out, const Listed& entry) {
  auto slash = entry.is_directory ? "/" : "";
  fmt::format_to(std::back_inserter(out), "<tr><td><a href=\"{}{}\">{}{}</a></td><td>{}</td></tr>\n",
                 text::percent_encode(entry.name), slash, text::html_escape(entry.name), slash,
                 entry.is_directory ? "" : units::bytes(entry.size));
}
} // namespace

std::string listing_page(std::string_view title, std::vector<Listed> entries) {
  std::sort(entries.begin(), entries.end(), [](const Listed& a, const Listed& b) {
    return a.is_directory != b.is_directory ? a.is_directory : a.name < b.name;
  });
  auto shown = text::html_escape(title);
  auto out =
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n<title>{}</title>\n"
                  "</head>\n<body>\n<h1>{}</h1>\n<table>\n<tr><td><a href=\"../\">../</a></td><td></td></tr>\n",
                  k_generator_mark, shown, shown);
  for (const auto& entry : entries) row(out, entry);
  return out + "</table>\n</body>\n</html>\n";
}

} // namespace quarry::index
