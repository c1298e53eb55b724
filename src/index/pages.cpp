#include "index/pages.hpp"

#include "base/text.hpp"
#include "dist/version.hpp"
#include "sys/path.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace quarry::index {

namespace {

using registry::FileRecord;

/// Sorted by version, then file name. A version that is none (foreign records) comes first, so that order never fails.
void sort_links(std::vector<Link>& links) {
  std::map<std::string, dist::Version> versions;
  for (const auto& link : links)
    if (auto parsed = dist::Version::parse(link.file.version)) versions.emplace(link.file.version, *parsed);
  auto version_of = [&](const Link& link) {
    auto it = versions.find(link.file.version);
    return it == versions.end() ? nullptr : &it->second;
  };
  std::sort(links.begin(), links.end(), [&](const Link& a, const Link& b) {
    const auto *left = version_of(a), *right = version_of(b);
    if (!left != !right) return !left;
    if (left)
      if (auto order = *left <=> *right; order != 0) return order < 0;
    return a.file.filename < b.file.filename;
  });
}

bool is_wheel(const FileRecord& file) { return file.filename.ends_with(".whl"); }

// ---- HTML

void open_html(std::string& out, std::string_view title) {
  fmt::format_to(std::back_inserter(out),
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                 "name=\"pypi:repository-version\" content=\"{}\">\n{}\n"
                 "<title>{}</title>\n</head>\n<body>\n",
                 k_api_version, k_generator_mark, text::html_escape(title));
}
void close_html(std::string& out) { out += "</body>\n</html>\n"; }

void attribute(std::string& out, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(out), " {}=\"{}\"", name, text::html_escape(value));
}

/// One anchor. Size and upload time have no place in the HTML form; as data attributes they are ignored by pip and read
/// by uv.
void anchor(std::string& out, const Link& link) {
  const auto& file = link.file;
  fmt::format_to(std::back_inserter(out), "<a href=\"{}#sha256={}\"", text::html_escape(link.href), file.sha256.hex());
  if (!file.requires_python.empty()) attribute(out, "data-requires-python", file.requires_python);
  if (is_wheel(file) && file.metadata_sha256)
    attribute(out, "data-core-metadata", "sha256=" + file.metadata_sha256->hex());
  if (!file.yanked.empty()) attribute(out, "data-yanked", file.yanked);
  attribute(out, "data-size", std::to_string(file.size));
  if (!file.upload_time.empty()) attribute(out, "data-upload-time", file.upload_time);
  fmt::format_to(std::back_inserter(out), ">{}</a><br>\n", text::html_escape(file.filename));
}

std::string html_of_links(std::string_view title, std::vector<Link> links) {
  sort_links(links);
  std::string out;
  open_html(out, title);
  fmt::format_to(std::back_inserter(out), "<h1>{}</h1>\n", text::html_escape(title));
  for (const auto& link : links) anchor(out, link);
  close_html(out);
  return out;
}

// ---- JSON, written by hand: half a million files in two seconds, keys sorted

void quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  out += '"';
}

void member(std::string& out, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "\"{}\":", name);
  quoted(out, value);
}

/// Every value is real or left out: uv rejects a whole page for one null size, yanked or upload-time.
void file_object(std::string& out, const Link& link) {
  const auto& file = link.file;
  out += '{';
  if (is_wheel(file) && file.metadata_sha256)
    fmt::format_to(std::back_inserter(out), "\"core-metadata\":{{\"sha256\":\"{}\"}},", file.metadata_sha256->hex());
  member(out, "filename", file.filename);
  fmt::format_to(std::back_inserter(out), ",\"hashes\":{{\"sha256\":\"{}\"}},", file.sha256.hex());
  if (!file.requires_python.empty()) {
    member(out, "requires-python", file.requires_python);
    out += ',';
  }
  fmt::format_to(std::back_inserter(out), "\"size\":{},", file.size);
  if (!file.upload_time.empty()) {
    member(out, "upload-time", file.upload_time);
    out += ',';
  }
  member(out, "url", link.href);
  out += ",\"yanked\":";
  if (file.yanked.empty())
    out += "false";
  else
    quoted(out, file.yanked);
  out += '}';
}

void meta_object(std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"meta\":{{\"api-version\":\"{}\"}}", k_api_version);
}

/// The versions in the links' order, which is ascending, each once.
void versions_array(std::string& out, const std::vector<Link>& links) {
  std::string_view before;
  out += '[';
  for (const auto& link : links) {
    if (link.file.version == before) continue;
    if (!before.empty()) out += ',';
    quoted(out, link.file.version);
    before = link.file.version;
  }
  out += ']';
}

// ---- both

std::vector<Link> links_from(const std::vector<FileRecord>& files, std::string_view page_directory) {
  std::vector<Link> links;
  links.reserve(files.size());
  for (const auto& file : files) links.push_back({file, href_between(file.key, page_directory)});
  return links;
}

std::vector<std::string> sorted_unique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

} // namespace

std::string href_between(std::string_view key, std::string_view page_directory) {
  return text::percent_encode(path::relative(key, page_directory));
}

std::string find_links_page(std::string_view title, std::vector<Link> links) {
  return html_of_links(title, std::move(links));
}

std::string project_html(std::string_view project, std::vector<Link> links) {
  return html_of_links(fmt::format("Links for {}", project), std::move(links));
}

std::string project_json(std::string_view project, std::vector<Link> links) {
  sort_links(links);
  std::string out = "{\"files\":[";
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i) out += ',';
    file_object(out, links[i]);
  }
  out += "],";
  meta_object(out);
  out += ',';
  member(out, "name", project);
  out += ",\"versions\":";
  versions_array(out, links);
  out += "}\n";
  return out;
}

std::string root_html(std::vector<std::string> projects) {
  std::string out;
  open_html(out, "Simple index");
  for (const auto& project : sorted_unique(std::move(projects)))
    fmt::format_to(std::back_inserter(out), "<a href=\"{}/\">{}</a><br>\n", text::percent_encode(project),
                   text::html_escape(project));
  close_html(out);
  return out;
}

std::string root_json(std::vector<std::string> projects) {
  std::string out = "{";
  meta_object(out);
  out += ",\"projects\":[";
  bool first = true;
  for (const auto& project : sorted_unique(std::move(projects))) {
    out += first ? "{" : ",{";
    member(out, "name", project);
    out += '}';
    first = false;
  }
  out += "]}\n";
  return out;
}

std::vector<Page> pages_of_project(std::string_view project, const std::vector<FileRecord>& files,
                                   const PageOptions& options) {
  std::vector<Page> pages;
  for (bool json : {false, true}) {
    auto directory = fmt::format("{}/{}", json ? "simple-json" : "simple", project);
    auto links = links_from(files, path::join(options.directory, directory));
    auto bytes = json ? project_json(project, std::move(links)) : project_html(project, std::move(links));
    pages.push_back({directory + "/index.html", std::move(bytes), json ? k_json_type : k_html_type});
  }
  return pages;
}

std::vector<Page> all_pages(const std::vector<FileRecord>& files, const PageOptions& options) {
  std::map<std::string, std::vector<FileRecord>> by_project;
  for (const auto& file : files) by_project[file.project].push_back(file);
  std::vector<Page> pages;
  std::vector<std::string> projects;
  for (const auto& [project, its_files] : by_project) {
    projects.push_back(project);
    for (auto& page : pages_of_project(project, its_files, options)) pages.push_back(std::move(page));
  }
  pages.push_back({"simple/index.html", root_html(projects), k_html_type});
  pages.push_back({"simple-json/index.html", root_json(projects), k_json_type});
  pages.push_back({"index.html", find_links_page(options.title, links_from(files, options.directory)), k_html_type});
  return pages;
}

} // namespace quarry::index
