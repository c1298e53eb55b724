#include "index/pages.hpp"

#include "index/entries.hpp"
#include "sys/path.hpp"

#include <fmt/format.h>
#include <map>

namespace quarry::index {

namespace {

using registry::FileRecord;

FilePointers pointers_to(const std::vector<FileRecord>& files) {
  FilePointers pointers;
  pointers.reserve(files.size());
  for (const auto& file : files) pointers.push_back(&file);
  return pointers;
}

/// The caller's own links in page order.
Entries entries_from(const std::vector<Link>& links) {
  std::map<const FileRecord*, const Link*> link_of;
  FilePointers files;
  for (const auto& link : links) {
    link_of[&link.file] = &link;
    files.push_back(&link.file);
  }
  Entries entries;
  for (const auto* file : in_page_order(std::move(files))) entries.push_back({file, link_of[file]->href});
  return entries;
}

std::string words_for(const Entries& entries) {
  bool one = !entries.empty();
  for (const auto& entry : entries) one = one && entry.file->project == entries.front().file->project;
  return one ? entries.front().file->project : "PROJECT";
}

Heading heading_of(const PageOptions& options, const Entries& entries) {
  return {options.title, "simple/", options.install.empty() ? words_for(entries) : options.install, options.remarks};
}

std::vector<std::string> remarks_on(const PageOptions& options, const std::string& project) {
  if (!options.by_project) return options.remarks;
  auto found = options.by_project->find(project);
  return found == options.by_project->end() ? std::vector<std::string>() : found->second;
}

void project_pages(const std::string& project, const FilePointers& sorted, const PageOptions& options,
                   std::vector<Page>& pages) {
  auto place = [&](std::string_view tree) { return fmt::format("{}/{}", tree, project); };
  // Both pages lie equally deep, so that they have the same links.
  auto entries = entries_of(sorted, path::join(options.directory, place("simple")));
  pages.push_back({place("simple") + "/index.html",
                   html_of_entries({"Links for " + project, "../", project, remarks_on(options, project)}, entries),
                   k_html_type});
  pages.push_back({place("simple-json") + "/index.html", json_of_entries(project, entries), k_json_type});
}

} // namespace

std::string href_between(std::string_view to, std::string_view from) { return LinkMaker(from)(to); }

std::string find_links_page(std::string_view title, const std::vector<Link>& links) {
  auto entries = entries_from(links);
  return html_of_entries({std::string(title), "simple/", words_for(entries)}, entries);
}
std::string find_links_page(const PageOptions& options, const std::vector<FileRecord>& files) {
  auto entries = entries_of(in_page_order(pointers_to(files)), options.directory);
  return html_of_entries(heading_of(options, entries), entries);
}
std::string project_html(std::string_view project, const std::vector<Link>& links,
                         const std::vector<std::string>& remarks) {
  return html_of_entries({fmt::format("Links for {}", project), "../", std::string(project), remarks},
                         entries_from(links));
}
std::string project_json(std::string_view project, const std::vector<Link>& links) {
  return json_of_entries(project, entries_from(links));
}

std::vector<Page> pages_of_project(std::string_view project, const std::vector<FileRecord>& files,
                                   const PageOptions& options) {
  std::vector<Page> pages;
  project_pages(std::string(project), in_page_order(pointers_to(files)), options, pages);
  return pages;
}

std::vector<Page> all_pages(const std::vector<FileRecord>& files, const PageOptions& options) {
  auto sorted = in_page_order(pointers_to(files));
  std::map<std::string, FilePointers> by_project; // each in page order, since the whole is
  for (const auto* file : sorted) by_project[file->project].push_back(file);
  std::vector<Page> pages;
  std::vector<std::string> projects;
  for (const auto& [project, its_files] : by_project) {
    project_pages(project, its_files, options, pages);
    projects.push_back(project);
  }
  pages.push_back({"simple/index.html", root_html(projects), k_html_type});
  pages.push_back({"simple-json/index.html", root_json(projects), k_json_type});
  auto entries = entries_of(sorted, options.directory);
  pages.push_back({"index.html", html_of_entries(heading_of(options, entries), entries), k_html_type});
  return pages;
}

std::vector<Page> flat_pages(std::vector<FileRecord> files) {
  std::map<std::string, std::vector<Link>> by_project;
  for (auto& file : files) {
    file.upload_time.clear();
    auto href = href_between(file.filename, file.project);
    by_project[file.project].push_back({std::move(file), std::move(href)});
  }
  std::vector<Page> pages;
  std::vector<std::string> projects;
  for (const auto& [project, links] : by_project) {
    pages.push_back({project + "/index.html", project_html(project, links), k_html_type});
    projects.push_back(project);
  }
  pages.push_back({"index.html", root_html(projects), k_html_type});
  return pages;
}

std::string metadata_address(const std::string& url) {
  auto end = std::min(url.find('?'), url.size());
  return url.substr(0, end) + ".metadata" + url.substr(end);
}

} // namespace quarry::index
