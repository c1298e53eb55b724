#include "index/trees.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "index/check.hpp"
#include "index/facts.hpp"
#include "index/not_an_index.hpp"
#include "index/refused.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace quarry::index {

namespace {

constexpr std::size_t k_projects_max = 2000; // of a server that cannot be listed; larger ones are somebody's PyPI

void add_all(Findings& to, Findings from) { std::ranges::move(from, std::back_inserter(to)); }

Result<bool> has_tree(Site& site, const std::string& tree) {
  TRY(auto names, site.directories(tree));
  if (names && !names->empty()) return true;
  TRY(auto page, site.page(tree));
  return page.there();
}

bool links_to_directories_only(const std::string& text) {
  auto page = read_page({text, "index.html"});
  auto is_directory = [](const PageFile& link) { return link.url.ends_with('/'); };
  return page && (!page->projects.empty() || (!page->files.empty() && std::ranges::all_of(page->files, is_directory)));
}

std::set<std::string> names_on(const std::optional<IndexPage>& root) {
  std::set<std::string> names;
  if (!root) return names;
  names.insert(root->projects.begin(), root->projects.end());
  for (const auto& link : root->files) { // a web server's own listing shows `rocm/` and the way up
    auto name = link.filename.substr(0, link.filename.find('/'));
    if (name != "..") names.insert(std::move(name));
  }
  return names;
}

Result<std::optional<IndexPage>> page_at(Site& site, const std::string& directory, Reading& reading) {
  TRY(auto reply, site.page(directory));
  auto place = site.place_of(directory);
  auto& findings = reading.findings;
  if (reply.state == SiteReply::State::denied) {
    TRY(auto refused, why_refused(site, directory, reply));
    findings.push_back(error_at(place, "I024", "the page is refused (403): " + refused.why, refused.fix));
  }
  if (reply.state == SiteReply::State::absent) findings.push_back(error_at(place, "I018", "the page is missing"));
  if (!reply.there()) return std::nullopt;
  ++reading.pages;
  TRY_DO(reading.copies.look(site, directory, reply));
  auto headers = header_findings(place, reply);
  // Installers ask for simple/: a plain web server, to which every index.html is HTML, serves them all the same.
  if (site.served() && directory.starts_with("simple-json") && reply.content_type.starts_with("text/html"))
    for (auto& finding : headers) finding.severity = Severity::warning;
  add_all(findings, std::move(headers));
  auto page = read_page({reply.text, place});
  reading.ours = reading.ours || (page && page->ours);
  if (page && !page->ours && !reply.text.starts_with('{')) reading.other_pages.insert(directory);
  if (is_of_another_tool(reply)) reading.other_links.insert(directory);
  if (page) return std::move(*page);
  findings.push_back(error_at(place, page.error().code, page.error().message));
  return std::nullopt;
}

// Those to read: what was asked for, what can be listed, or what the root says.
Result<std::vector<std::string>> projects_of(Site& site, const std::string& tree, const std::vector<std::string>& asked,
                                             const std::optional<IndexPage>& root) {
  if (!asked.empty()) return asked;
  TRY(auto names, site.directories(tree));
  if (names) return std::move(*names);
  auto listed = names_on(root);
  if (listed.size() > k_projects_max)
    return fail(ErrorKind::resource_exhausted, "I007",
                fmt::format("{} lists {} projects", site.describe(), listed.size()),
                "name those to check: `--project NAME`");
  return std::vector(listed.begin(), listed.end());
}

// Links are compared by where they lead, which is not the same text from every place.
struct PageAt {
  const std::string& directory;
  const IndexPage& page;
};
Findings compare_targets(const Site& site, const PageAt& left, const PageAt& right, const std::string& place) {
  auto with_targets = [&](const PageAt& at) {
    auto page = at.page;
    for (auto& file : page.files) file.url = site.target(at.directory, file.url).value_or(file.url);
    return page;
  };
  return compare_pages(with_targets(left), with_targets(right), place);
}

void read_project(const Site& site, const std::string& directory, const IndexPage& page, Reading& reading) {
  std::string name(path::basename(directory));
  reading.projects.insert(name);
  auto place = site.place_of(directory);
  auto project = dist::ProjectName::parse(name);
  if (!project || project->str() != name)
    reading.findings.push_back(
        error_at(place, "I017", "the directory is not a normalised project name, so no installer asks for it"));
  if (!page.name.empty() && page.name != name)
    reading.findings.push_back(error_at(place, "I017", fmt::format("the page says it is about {:?}", page.name)));
  PageOfFiles where{directory, place, project ? project->str() : ""};
  add_all(reading.findings, judge_page(site, where, page, reading.claims));
}

// A server that chooses the form by Accept must say the same in both.
Result<void> read_other_form(Site& site, const std::string& directory, const IndexPage& page, Reading& reading) {
  if (!page.api_version.empty() && !page.versions.empty()) return {}; // it was JSON
  TRY(auto reply, site.as_json(directory));
  if (!reply) return {};
  ++reading.pages;
  auto place = site.place_of(directory) + " (JSON)";
  add_all(reading.findings, header_findings(place, *reply));
  auto json = read_page({reply->text, place});
  if (!json) {
    reading.findings.push_back(error_at(place, json.error().code, json.error().message));
    return {};
  }
  PageOfFiles where{directory, place, std::string(path::basename(directory))};
  add_all(reading.findings, judge_page(site, where, *json, reading.claims));
  add_all(reading.findings, compare_targets(site, {directory, page}, {directory, *json}, place));
  return {};
}

// Installers go on to the next index after 404 only.
Result<void> ask_for_nobodys_project(Site& site, const std::string& tree, Findings& findings) {
  auto directory = path::join(tree, k_nobodys);
  TRY(auto reply, site.page(directory));
  if (reply.state == SiteReply::State::denied)
    findings.push_back(error_at(site.place_of(directory), "I024",
                                "a project that does not exist is refused (403) instead of missing (404)",
                                "let readers list the bucket (s3:ListBucket), or map 403 to 404 at the edge"));
  if (reply.there())
    findings.push_back(error_at(site.place_of(directory), "I024", "there is a page for a project that does not exist",
                                "answer 404 for what is missing"));
  return {};
}

Findings judge_root(const std::string& place, const IndexPage& root, const Pages& pages) {
  Findings findings;
  auto listed = names_on(root);
  for (const auto& name : listed) {
    auto project = dist::ProjectName::parse(name);
    if (!project)
      findings.push_back(error_at(place, "I017", fmt::format("{:?} is not a project name", name)));
    else if (!pages.contains(project->str()))
      findings.push_back(error_at(place, "I018", fmt::format("{} is listed and has no page", name)));
  }
  for (const auto& [name, page] : pages)
    if (!listed.contains(name))
      findings.push_back(error_at(place, "I018", fmt::format("{} has a page and is not listed", name)));
  return findings;
}

// The project whose page below `simple` a link leads to; empty if it leads to another directory.
std::string project_linked(std::string_view url) {
  constexpr std::string_view k_tree = "simple/";
  if (!url.starts_with(k_tree)) return "";
  return text::percent_decode(url.substr(k_tree.size(), url.size() - k_tree.size() - 1));
}

bool has_our_mark(const SiteReply& reply) {
  auto page = read_page({reply.text, "page"});
  return page && page->ours;
}

/// Names that a repository uses for itself, beside the pages of projects.
bool is_tree_of_ours(const std::string& name) { return name == "simple" || name == "simple-json" || name == "merged"; }

} // namespace

bool is_of_another_tool(const SiteReply& reply) {
  if (!reply.there() || reply.text.starts_with('{') || is_listing(reply.text)) return false;
  auto page = read_html_page({reply.text, "page"});
  return page && !page->ours && !page->files.empty();
}

std::set<std::string> projects_linked(const SiteReply& reply) {
  std::set<std::string> names;
  auto page = read_page({reply.text, "page"});
  if (!page) return names;
  for (const auto& link : page->files) {
    auto name = text::percent_decode(link.url.substr(0, link.url.find('/')));
    auto project = dist::ProjectName::parse(name);
    if (link.url.ends_with('/') && project && project->str() == name && link.url.find('/') + 1 == link.url.size())
      names.insert(std::move(name));
  }
  return names;
}

Result<bool> is_distribution(Site& site) {
  constexpr std::uint64_t k_pointer_max = 64u << 20; // a pointer with many sets
  auto target = site.target("", "distribution.json");
  if (!target) return false;
  TRY(auto text, site.read(*target, k_pointer_max));
  return text && text->find("\"quarry.distribution/") != text->npos;
}

Result<void> read_repository_pages(Site& site, const RepositoryPages& asked, const Pages& html, Reading& reading) {
  auto names = asked.projects;
  names.insert(asked.listed.begin(), asked.listed.end());
  for (const auto& name : names) {
    if (is_tree_of_ours(name)) continue;
    if (!asked.projects.contains(name)) {
      TRY(auto there, site.page(name));
      if (!there.there()) continue;
    }
    TRY(auto page, page_at(site, name, reading));
    if (!page) continue;
    read_project(site, name, *page, reading);
    auto tree = path::join("simple", name);
    if (auto other = html.find(name); other != html.end())
      add_all(reading.findings, compare_targets(site, {name, *page}, {tree, other->second}, name));
  }
  return {};
}

Result<Shape> shape_of(Site& site) {
  Shape shape;
  TRY(shape.top, site.page(""));
  const auto& top = shape.top;
  if (site.served()) {
    if (auto listing = listing_instead_of_index(site, top)) return fail(std::move(*listing));
    TRY(auto other, listing_of_other_directories(site, top));
    if (other) return fail(std::move(*other));
  }
  shape.root = top.there() && links_to_directories_only(top.text);
  bool ours_below = false;
  if (shape.root && site.served() && is_of_another_tool(top)) {
    TRY(auto below, site.page("simple"));
    ours_below = has_our_mark(below);
  }
  // A server's root may have a project of this name.
  if (!shape.root || !site.served() || is_listing(top.text) || ours_below) {
    TRY(shape.html, has_tree(site, "simple"));
    TRY(shape.json, has_tree(site, "simple-json"));
  }
  if (!shape.html && !shape.json && !top.there()) return fail(no_index(site, top));
  return shape;
}

Result<Pages> read_tree(Site& site, const std::string& tree, const std::vector<std::string>& asked, Reading& reading) {
  Pages pages;
  TRY(auto root, page_at(site, tree, reading));
  TRY(auto names, projects_of(site, tree, asked, root));
  for (const auto& name : names) {
    auto project = dist::ProjectName::parse(name);
    auto directory = path::join(tree, site.served() && project ? project->str() : name);
    TRY(auto page, page_at(site, directory, reading));
    if (!page) continue;
    read_project(site, directory, *page, reading);
    TRY_DO(read_other_form(site, directory, *page, reading));
    pages.emplace(path::basename(directory), std::move(*page));
  }
  if (site.served()) TRY_DO(ask_for_nobodys_project(site, tree, reading.findings));
  if (root && asked.empty()) add_all(reading.findings, judge_root(site.place_of(tree), *root, pages));
  return pages;
}

Result<void> read_top_page(Site& site, const Pages* projects, Reading& reading) {
  TRY(auto page, page_at(site, "", reading));
  if (!page) return {};
  auto place = site.place_of("");
  // Installers skip links that end in '/': on a page for people they lead to the projects' pages.
  std::erase_if(page->files, [&](const PageFile& file) {
    if (!file.url.ends_with('/')) return false;
    auto name = project_linked(file.url);
    if (!name.empty() && projects && !projects->contains(name))
      reading.findings.push_back(error_at(place, "I018", fmt::format("{} is listed and has no page", name)));
    return true;
  });
  add_all(reading.findings, judge_page(site, {"", place, ""}, *page, reading.claims));
  return {};
}

Findings compare_trees(const Site& site, const Pages& html, const Pages& json) {
  Findings findings;
  if (html.empty() || json.empty()) return findings;
  for (const auto& [name, page] : html) {
    auto place = "simple/" + name, other = "simple-json/" + name;
    if (auto it = json.find(name); it != json.end())
      add_all(findings, compare_targets(site, {place, page}, {other, it->second}, place));
    else
      findings.push_back(error_at(place, "I015", "the project has an HTML page and no JSON page"));
  }
  for (const auto& [name, page] : json)
    if (!html.contains(name))
      findings.push_back(error_at("simple-json/" + name, "I015", "the project has a JSON page and no HTML page"));
  return findings;
}

} // namespace quarry::index
