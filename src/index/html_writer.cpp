#include "base/text.hpp"
#include "base/units.hpp"
#include "index/entries.hpp"
#include "index/frame.hpp"
#include "index/pages.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace quarry::index {

namespace {

void attribute(std::string& out, std::string_view name, std::string_view value) {
  out.append(" ").append(name).append("=\"").append(text::html_escape(value)).append("\"");
}

/// Size and upload time have no place in the HTML form; as data attributes they are ignored by pip and read by uv.
void anchor(std::string& out, const Entry& entry) {
  const auto& file = *entry.file;
  out.append("<a href=\"").append(entry.href); // percent-encoded
  if (has_digest(file)) out.append("#sha256=").append(file.sha256.hex());
  out += '"';
  if (!file.requires_python.empty()) attribute(out, "data-requires-python", file.requires_python);
  if (offers_metadata(file)) attribute(out, "data-core-metadata", "sha256=" + file.metadata_sha256->hex());
  if (!file.yanked.empty()) attribute(out, "data-yanked", file.yanked);
  attribute(out, "data-size", std::to_string(file.size));
  if (!file.upload_time.empty()) attribute(out, "data-upload-time", file.upload_time);
  if (!has_digest(file)) out.append(" data-untested");
  out.append(">").append(text::html_escape(file.filename)).append("</a>");
}

/// End tags of rows and cells may be omitted, which keeps pages of a hundred thousand files smaller.
void row(std::string& out, const Entry& entry) {
  const auto& file = *entry.file;
  out.append("<tr><td>");
  anchor(out, entry);
  if (!file.yanked.empty()) out.append(" <b>yanked</b>: ").append(text::html_escape(file.yanked));
  fmt::format_to(std::back_inserter(out), "<td class=\"n\">{}<td class=\"n\">{}<td><code>{}</code>\n",
                 units::bytes(file.size), text::html_escape(file.upload_time.substr(0, 10)),
                 has_digest(file) ? file.sha256.short_hex() : "not known");
}

void add_remarks(std::string& out, const std::vector<std::string>& remarks) {
  for (const auto& remark : remarks) out.append("<p>").append(text::html_escape(remark)).append("</p>\n");
}

} // namespace

std::string html_of_entries(const Heading& heading, const Entries& entries) {
  auto out = page_head(heading.title) + install_hint(heading.tree, heading.install);
  add_remarks(out, heading.remarks);
  out += "<table>\n<tr><th>file<th class=\"n\">size<th class=\"n\">date<th>sha256\n";
  for (const auto& entry : entries) row(out, entry);
  return out + "</table>\n" + page_end();
}

namespace {
void project_anchors(std::string& out, std::string_view way, std::vector<std::string> projects) {
  std::sort(projects.begin(), projects.end());
  projects.erase(std::unique(projects.begin(), projects.end()), projects.end());
  out += "<table>\n<tr><th>project\n";
  for (const auto& project : projects)
    fmt::format_to(std::back_inserter(out), "<tr><td><a href=\"{}{}/\">{}</a>\n", way, text::percent_encode(project),
                   text::html_escape(project));
  out += "</table>\n";
}
} // namespace

std::string root_html(std::vector<std::string> projects) {
  auto out = page_head("Simple index") + install_hint("", "PROJECT");
  project_anchors(out, "", std::move(projects));
  return out + page_end();
}

std::string overview_page(const PageOptions& options, std::vector<std::string> projects) {
  auto out = page_head(options.title) + install_hint("simple/", "PROJECT");
  add_remarks(out, options.remarks);
  out += "<p>Too many files for one page: each project has its own, and installers take <code>--index-url</code> with "
         "<a href=\"simple/\">simple/</a>.</p>\n";
  project_anchors(out, "simple/", std::move(projects));
  return out + page_end();
}

} // namespace quarry::index
