#include "index/check.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "index/copies.hpp"
#include "index/facts.hpp"
#include "index/not_an_index.hpp"
#include "index/refused.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>

namespace quarry::index {

namespace {

const std::string k_rebuild = "in a store, `quarry index repair channel:NAME` or `run:ID` writes pages again, and "
                              "`quarry index rebuild` lost metadata files; else run `quarry index build` again";

constexpr std::size_t k_projects_max = 2000; // of a server that cannot be listed; larger ones are somebody's PyPI

/// A page's claim about a file.
struct Claim {
  std::string place; // "simple/rocm/index.html: rocm-1.0.tar.gz"
  PageFile file;
};

class Checker {
public:
  Checker(Site& site, const CheckOptions& options) : site_(site), options_(options) {}

  Result<CheckReport> run() {
    TRY(auto top, site_.page(""));
    if (site_.served()) {
      if (auto listing = listing_instead_of_index(site_, top)) return fail(std::move(*listing));
      TRY(auto other, listing_of_other_directories(site_, top));
      if (other) return fail(std::move(*other));
    }
    bool root = top.there() && is_root(top.text);
    bool html = false, json = false;
    if (!root || !site_.served() || is_listing(top.text)) { // a server's root may have a project of this name
      TRY(html, holds("simple"));
      TRY(json, holds("simple-json"));
    }
    if (!html && !json && !top.there()) return fail(no_index(site_, top));
    if (html) TRY_DO(check_tree("simple", html_pages_));
    if (json) TRY_DO(check_tree("simple-json", json_pages_));
    if (top.there() && !(html && is_listing(top.text))) TRY_DO(check_top_page(root && !html && !json));
    compare_trees();
    TRY_DO(look_at_files());
    for (const auto& [path, claims] : claims_)
      for (const auto& claim : claims) check_claim(claim, path, facts_.at(path));
    finish();
    return std::move(report_);
  }

private:
  using Pages = std::map<std::string, IndexPage>; // by project directory

  Result<bool> holds(const std::string& tree) {
    TRY(auto names, site_.directories(tree));
    if (names && !names->empty()) return true;
    TRY(auto page, site_.page(tree));
    return page.there();
  }

  /// Links to directories alone, or a list of projects.
  static bool is_root(const std::string& text) {
    auto page = read_page(text, "index.html");
    auto is_directory = [](const PageFile& link) { return link.url.ends_with('/'); };
    return page &&
           (!page->projects.empty() || (!page->files.empty() && std::ranges::all_of(page->files, is_directory)));
  }

  void find(std::string code, std::string place, std::string message, std::string fix = k_rebuild,
            Severity severity = Severity::error) {
    report_.findings.push_back({std::move(code), severity, std::move(place), std::move(message), std::move(fix)});
  }

  Result<std::optional<IndexPage>> page_at(const std::string& directory) {
    TRY(auto reply, site_.page(directory));
    auto place = site_.place_of(directory);
    if (reply.state == SiteReply::State::denied) {
      TRY(auto refused, why_refused(site_, directory, reply));
      find("I024", place, "the page is refused (403): " + refused.why, refused.fix);
    }
    if (reply.state == SiteReply::State::absent) find("I018", place, "the page is missing");
    if (!reply.there()) return std::nullopt;
    ++report_.pages;
    TRY_DO(copies_.look(site_, directory, reply));
    auto headers = header_findings(place, reply);
    // Installers ask for simple/: a plain web server, to which every index.html is HTML, serves them all the same.
    if (site_.served() && directory.starts_with("simple-json") && reply.content_type.starts_with("text/html"))
      for (auto& finding : headers) finding.severity = Severity::warning;
    std::ranges::move(headers, std::back_inserter(report_.findings));
    auto page = read_page(reply.text, place);
    if (page) return std::move(*page);
    find(page.error().code, place, page.error().message);
    return std::nullopt;
  }

  /// Those to read: what was asked for, what can be listed, or what the root says.
  Result<std::vector<std::string>> projects_of(const std::string& tree, const std::optional<IndexPage>& root) {
    if (!options_.projects.empty()) return options_.projects;
    TRY(auto names, site_.directories(tree));
    if (names) return std::move(*names);
    auto listed = names_on(root);
    if (listed.size() > k_projects_max)
      return fail(ErrorKind::resource_exhausted, "I007",
                  fmt::format("{} lists {} projects", site_.describe(), listed.size()),
                  "name those to check: `--project NAME`");
    return std::vector(listed.begin(), listed.end());
  }

  static std::set<std::string> names_on(const std::optional<IndexPage>& root) {
    std::set<std::string> names;
    if (!root) return names;
    names.insert(root->projects.begin(), root->projects.end());
    for (const auto& link : root->files) { // a web server's own listing shows `rocm/` and the way up
      auto name = link.filename.substr(0, link.filename.find('/'));
      if (name != "..") names.insert(std::move(name));
    }
    return names;
  }

  Result<void> check_tree(const std::string& tree, Pages& pages) {
    TRY(auto root, page_at(tree));
    TRY(auto names, projects_of(tree, root));
    for (const auto& name : names) {
      auto project = dist::ProjectName::parse(name);
      auto directory = path::join(tree, site_.served() && project ? project->str() : name);
      TRY(auto page, page_at(directory));
      if (!page) continue;
      check_project(directory, std::string(path::basename(directory)), *page);
      TRY_DO(check_other_form(directory, *page));
      pages.emplace(path::basename(directory), std::move(*page));
    }
    if (site_.served()) TRY_DO(check_missing(tree));
    if (root && options_.projects.empty()) check_root(tree, *root, pages);
    return {};
  }

  /// A server that chooses the form by Accept must say the same in both.
  Result<void> check_other_form(const std::string& directory, const IndexPage& page) {
    if (!page.api_version.empty() && !page.versions.empty()) return {}; // it was JSON
    TRY(auto reply, site_.as_json(directory));
    if (!reply) return {};
    ++report_.pages;
    auto place = site_.place_of(directory) + " (JSON)";
    std::ranges::move(header_findings(place, *reply), std::back_inserter(report_.findings));
    auto json = read_page(reply->text, place);
    if (!json) {
      find(json.error().code, place, json.error().message);
      return {};
    }
    check_page(directory, place, *json, std::string(path::basename(directory)));
    compare(directory, page, directory, *json, place);
    return {};
  }

  /// Installers go on to the next index after 404 only.
  Result<void> check_missing(const std::string& tree) {
    auto directory = path::join(tree, k_nobodys);
    TRY(auto reply, site_.page(directory));
    if (reply.state == SiteReply::State::denied)
      find("I024", site_.place_of(directory), "a project that does not exist is refused (403) instead of missing (404)",
           "let readers list the bucket (s3:ListBucket), or map 403 to 404 at the edge");
    if (reply.there())
      find("I024", site_.place_of(directory), "there is a page for a project that does not exist",
           "answer 404 for what is missing");
    return {};
  }

  void check_root(const std::string& tree, const IndexPage& root, const Pages& pages) {
    auto key = site_.place_of(tree);
    auto listed = names_on(root);
    for (const auto& name : listed) {
      auto project = dist::ProjectName::parse(name);
      if (!project)
        find("I017", key, fmt::format("{:?} is not a project name", name));
      else if (!pages.contains(project->str()))
        find("I018", key, fmt::format("{} is listed and has no page", name));
    }
    for (const auto& [name, page] : pages)
      if (!listed.contains(name)) find("I018", key, fmt::format("{} has a page and is not listed", name));
  }

  void check_project(const std::string& directory, const std::string& name, const IndexPage& page) {
    projects_.insert(name);
    auto key = site_.place_of(directory);
    auto project = dist::ProjectName::parse(name);
    if (!project || project->str() != name)
      find("I017", key, "the directory is not a normalised project name, so no installer asks for it");
    if (!page.name.empty() && page.name != name)
      find("I017", key, fmt::format("the page says it is about {:?}", page.name));
    check_page(directory, key, page, project ? project->str() : "");
  }

  void check_page(const std::string& directory, const std::string& key, const IndexPage& page,
                  const std::string& project) {
    if (page.has_base) find("I016", key, "<base> is read differently by installers");
    std::set<std::string> names;
    for (const auto& file : page.files) {
      Claim claim{key + ": " + file.filename, file};
      if (!names.insert(file.filename).second) find("I017", claim.place, "the file is listed twice");
      check_name(claim, project);
      check_fields(claim);
      follow(directory, std::move(claim));
    }
  }

  void check_name(const Claim& claim, const std::string& project) {
    auto name = dist::DistributionName::parse(claim.file.filename);
    if (!name)
      find("I017", claim.place, name.error().message);
    else if (!project.empty() && name->project.str() != project)
      find("I017", claim.place, fmt::format("the file belongs to {}", name->project.str()));
    if (claim.file.url_name() != claim.file.filename)
      find("I017", claim.place, fmt::format("the link ends in {:?}", claim.file.url_name()));
  }

  void check_fields(const Claim& claim) {
    const auto& file = claim.file;
    if (file.hashes.empty())
      find("I011", claim.place, "no hash");
    else if (!file.sha256())
      find("I011", claim.place, "no sha256 that can be read");
    for (const auto& field : file.nulls) {
      if (field == "legacy")
        find("I016", claim.place, "data-dist-info-metadata makes pip 22.3 and 23.0 drop files", k_rebuild,
             Severity::warning);
      else
        find("I016", claim.place,
             fmt::format("\"{}\" is null or of the wrong type, for which uv rejects the page", field));
    }
    if (file.url.find('?') != std::string::npos)
      find("I016", claim.place, "a query in a link breaks the address of its metadata");
    if (!dist::Specifiers::parse(file.requires_python))
      find("I016", claim.place,
           fmt::format("requires-python {:?} cannot be read, so uv drops the file", file.requires_python),
           "correct the distribution's metadata", Severity::warning);
    if (!file.core_metadata.empty() && !file.filename.ends_with(".whl"))
      find("I014", claim.place,
           "a source distribution with a metadata file is installed without being asked for its dependencies");
  }

  void follow(const std::string& directory, Claim claim) {
    auto target = site_.target(directory, claim.file.url);
    if (!target) {
      find("I010", claim.place, "the link leads elsewhere and was not followed", "", Severity::note);
      return;
    }
    claims_[*target].push_back(std::move(claim));
  }

  /// Links are compared by where they lead, which is not the same text from every place.
  void compare(const std::string& left_directory, IndexPage left, const std::string& right_directory, IndexPage right,
               const std::string& place) {
    for (auto& file : left.files) file.url = site_.target(left_directory, file.url).value_or(file.url);
    for (auto& file : right.files) file.url = site_.target(right_directory, file.url).value_or(file.url);
    std::ranges::move(compare_pages(left, right, place), std::back_inserter(report_.findings));
  }

  void compare_trees() {
    if (html_pages_.empty() || json_pages_.empty()) return;
    for (const auto& [name, html] : html_pages_) {
      auto it = json_pages_.find(name);
      if (it == json_pages_.end())
        find("I015", "simple/" + name, "the project has an HTML page and no JSON page");
      else
        compare("simple/" + name, html, "simple-json/" + name, it->second, "simple/" + name);
    }
    for (const auto& [name, json] : json_pages_)
      if (!html_pages_.contains(name))
        find("I015", "simple-json/" + name, "the project has a JSON page and no HTML page");
  }

  /// index.html of the directory: a find-links page, or the root when the directory is a `simple/` itself.
  Result<void> check_top_page(bool is_tree) {
    if (is_tree) return check_tree("", html_pages_);
    TRY(auto page, page_at(""));
    if (!page) return {};
    drop_page_links(*page);
    check_page("", site_.place_of(""), *page, "");
    return {};
  }

  /// Installers skip links that end in '/': on a page for people they lead to the projects' pages.
  void drop_page_links(IndexPage& page) {
    std::erase_if(page.files, [&](const PageFile& file) {
      if (!file.url.ends_with('/')) return false;
      std::string_view way = file.url;
      constexpr std::string_view k_tree = "simple/";
      auto name = way.starts_with(k_tree)
                      ? text::percent_decode(way.substr(k_tree.size(), way.size() - k_tree.size() - 1))
                      : std::string();
      if (!name.empty() && options_.projects.empty() && !html_pages_.contains(name))
        find("I018", site_.place_of(""), fmt::format("{} is listed and has no page", name));
      return true;
    });
  }

  Result<void> look_at_files() {
    std::vector<std::string> paths;
    for (const auto& [path, claims] : claims_) paths.push_back(path);
    std::mutex mutex;
    std::uint64_t done = 0;
    auto outer = static_cast<unsigned>(std::min<std::size_t>(options_.workers, paths.size()));
    unsigned inner = std::max(1u, options_.workers / std::max(1u, outer));
    return parallel_for(paths.size(), outer, [&](std::size_t i) -> Result<void> {
      bool offers =
          std::ranges::any_of(claims_.at(paths[i]), [](const auto& c) { return !c.file.core_metadata.empty(); });
      TRY(auto facts, look_at(site_, paths[i], {offers, options_.contents, inner}),
          "while looking at " + shown_target(paths[i]));
      std::lock_guard lock(mutex);
      done += facts.size;
      if (options_.on_progress) options_.on_progress(done);
      facts_.emplace(paths[i], std::move(facts));
      return {};
    });
  }

  void check_claim(const Claim& claim, const std::string& path, const FileFacts& facts) {
    if (!facts.exists)
      return find("I010", claim.place,
                  fmt::format("the link leads to {}, which {}", shown_target(path),
                              facts.denied ? "is refused (403)" : "does not exist"));
    if (claim.file.size && claim.file.size != facts.size) {
      report_.altered = true;
      find("I013", claim.place, fmt::format("the page says {} bytes, the file has {}", *claim.file.size, facts.size));
    }
    if (auto expected = claim.file.sha256(); facts.read && expected && *expected != facts.sha256) {
      report_.altered = true;
      find("I012", claim.place,
           fmt::format("the page says sha256 {}, the file has {}", expected->hex(), facts.sha256.hex()),
           "the file was altered: publish it again from its source");
    }
    if (facts.read && facts.findings.empty() && claim.file.requires_python != facts.requires_python)
      find("I019", claim.place,
           fmt::format("the page requires Python {:?}, the file {:?}", claim.file.requires_python,
                       facts.requires_python));
    if (claim.file.filename.ends_with(".whl")) check_sidecar_of(claim, facts);
  }

  void check_sidecar_of(const Claim& claim, const FileFacts& facts) {
    if (claim.file.core_metadata.empty())
      return find("I014", claim.place, "no metadata file is offered, so resolvers fetch the wheel", k_rebuild,
                  Severity::warning);
    const auto& sidecar = facts.sidecar;
    if (!sidecar)
      return find("I014", claim.place, "the metadata file that the page offers does not exist, which stops every pip");
    auto expected = claim.file.core_metadata == "true" ? "true" : "sha256=" + sha256(*sidecar).hex();
    if (claim.file.core_metadata != expected) {
      report_.altered = true;
      find("I014", claim.place, "the metadata file does not have the hash that the page says");
    }
    if (facts.read && *sidecar != facts.metadata) {
      report_.altered = true;
      find("I014", claim.place, "the metadata file is not a copy of the wheel's METADATA");
    }
  }

  void finish() {
    for (const auto& [path, facts] : facts_) {
      report_.files += facts.exists;
      report_.altered = report_.altered || has_errors(facts.findings);
      report_.findings.insert(report_.findings.end(), facts.findings.begin(), facts.findings.end());
    }
    report_.projects = projects_.size();
    std::ranges::move(copies_.findings(), std::back_inserter(report_.findings));
    std::ranges::sort(report_.findings, {}, [](const Finding& f) { return std::tie(f.place, f.code, f.message); });
  }

  Site& site_;
  const CheckOptions& options_;
  CheckReport report_;
  Copies copies_;
  Pages html_pages_, json_pages_;
  std::set<std::string> projects_;
  std::map<std::string, std::vector<Claim>> claims_; // by what the site calls the file
  std::map<std::string, FileFacts> facts_;
};

} // namespace

Result<CheckReport> check_index(Site& site, const CheckOptions& options) { return Checker(site, options).run(); }

Result<CheckReport> check_index(const std::string& directory, const CheckOptions& options) {
  return Checker(*files_site(directory), options).run();
}

int exit_code(const CheckReport& report) { return !has_errors(report.findings) ? 0 : report.altered ? 6 : 1; }

} // namespace quarry::index
