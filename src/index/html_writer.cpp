#include "base/text.hpp"
#include "index/entries.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace quarry::index {

namespace {

void open_html(std::string& out, std::string_view title) {
  fmt::format_to(
      std::back_inserter(out),
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"pypi:repository-version\" "
      "content=\"{}\">\n{}\n<title>{}</title>\n</head>\n<body>\n",
      k_api_version, k_generator_mark, text::html_escape(title));
}
void close_html(std::string& out) { out += "</body>\n</html>\n"; }

void attribute(std::string& out, std::string_view name, std::string_view value) {
  out.append(" ").append(name).append("=\"").append(text::html_escape(value)).append("\"");
}

/// Size and upload time have no place in the HTML form; as data attributes they are ignored by pip and read by uv.
void anchor(std::string& out, const Entry& entry) {
  const auto& file = *entry.file;
  out.append("<a href=\"")
      .append(entry.href)
      .append("#sha256=")
      .append(file.sha256.hex())
      .append("\""); // href is percent-encoded
  if (!file.requires_python.empty()) attribute(out, "data-requires-python", file.requires_python);
  if (offers_metadata(file)) attribute(out, "data-core-metadata", "sha256=" + file.metadata_sha256->hex());
  if (!file.yanked.empty()) attribute(out, "data-yanked", file.yanked);
  attribute(out, "data-size", std::to_string(file.size));
  if (!file.upload_time.empty()) attribute(out, "data-upload-time", file.upload_time);
  out.append(">").append(text::html_escape(file.filename)).append("</a><br>\n");
}

} // namespace

std::string html_of_entries(std::string_view title, const Entries& entries) {
  std::string out;
  open_html(out, title);
  fmt::format_to(std::back_inserter(out), "<h1>{}</h1>\n", text::html_escape(title));
  for (const auto& entry : entries) anchor(out, entry);
  close_html(out);
  return out;
}

namespace {
void project_anchors(std::string& out, std::string_view way, std::vector<std::string> projects) {
  std::sort(projects.begin(), projects.end());
  projects.erase(std::unique(projects.begin(), projects.end()), projects.end());
  for (const auto& project : projects)
    fmt::format_to(std::back_inserter(out), "<a href=\"{}{}/\">{}</a><br>\n", way, text::percent_encode(project),
                   text::html_escape(project));
}
} // namespace

std::string root_html(std::vector<std::string> projects) {
  std::string out;
  open_html(out, "Simple index");
  project_anchors(out, "", std::move(projects));
  close_html(out);
  return out;
}

std::string overview_page(std::string_view title, std::vector<std::string> projects) {
  std::string out;
  open_html(out, title);
  fmt::format_to(std::back_inserter(out),
                 "<h1>{}</h1>\n<p>Too many files for one page: each project has its own, and installers take "
                 "<code>--index-url</code> with <a href=\"simple/\">simple/</a>.</p>\n",
                 text::html_escape(title));
  project_anchors(out, "simple/", std::move(projects));
  close_html(out);
  return out;
}

} // namespace quarry::index
