#include "index/check.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "dist/name.hpp"
#include "index/describe.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include "wheel/wheel.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>

namespace quarry::index {

namespace {

const std::string k_rebuild = "run `quarry index build` again";

bool leads_elsewhere(std::string_view url) {
  return url.find("://") != url.npos || url.starts_with("//") || url.starts_with('/');
}

/// What one distribution on disk is; looked at once, however many pages mention it.
struct FileFacts {
  bool exists = false;
  std::uint64_t size = 0;
  Sha256 sha256;
  std::string metadata, requires_python; // wheels: METADATA
  Findings findings;                     // why it is not sound
};

/// A page's claim about a file.
struct Claim {
  std::string place; // "simple/rocm/index.html: rocm-1.0.tar.gz"
  PageFile file;
};

class Checker {
public:
  explicit Checker(const CheckOptions& options) : options_(options), root_(options.directory) {}

  Result<CheckReport> run() {
    bool html = sys::is_directory(at("simple")), json = sys::is_directory(at("simple-json")),
         flat = sys::exists(at("index.html"));
    if (!html && !json && !flat)
      return fail(ErrorKind::not_found, "I001",
                  fmt::format("{} holds no index: neither index.html nor simple/ nor simple-json/", root_),
                  "make one with `quarry index build DIR`");
    if (html) TRY_DO(check_tree("simple", html_pages_));
    if (json) TRY_DO(check_tree("simple-json", json_pages_));
    if (html && json) compare_trees();
    if (flat) TRY_DO(check_top_page(!html && !json));
    TRY_DO(look_at_files());
    for (const auto& [path, claims] : claims_)
      for (const auto& claim : claims) check_claim(claim, path, facts_.at(path));
    finish();
    return std::move(report_);
  }

private:
  using Pages = std::map<std::string, IndexPage>; // by project directory

  std::string at(std::string_view key) const { return path::join(root_, key); }

  void find(std::string code, std::string place, std::string message, std::string fix = k_rebuild,
            Severity severity = Severity::error) {
    report_.findings.push_back({std::move(code), severity, std::move(place), std::move(message), std::move(fix)});
  }

  Result<std::optional<IndexPage>> page_at(const std::string& key) {
    auto text = sys::read_file(at(key), k_page_bytes_max);
    if (!text) {
      if (text.error().kind != ErrorKind::not_found) return fail(std::move(text).error());
      find("I018", key, "the page is missing");
      return std::nullopt;
    }
    ++report_.pages;
    auto page = read_page(*text, key);
    if (page) return std::move(*page);
    find(page.error().code, key, page.error().message);
    return std::nullopt;
  }

  Result<void> check_tree(const std::string& tree, Pages& pages) {
    TRY(auto entries, sys::list_directory(at(tree)));
    for (const auto& entry : entries) {
      if (entry.type != sys::EntryType::directory) continue;
      auto directory = path::join(tree, entry.path);
      TRY(auto page, page_at(directory + "/index.html"));
      if (page) check_project(directory, entry.path, *page);
      if (page) pages.emplace(entry.path, std::move(*page));
    }
    return check_root(tree, pages);
  }

  Result<void> check_root(const std::string& tree, const Pages& pages) {
    auto key = path::join(tree, "index.html");
    TRY(auto root, page_at(key));
    if (!root) return {};
    std::set<std::string> listed(root->projects.begin(), root->projects.end());
    for (const auto& link : root->files) listed.insert(link.filename);
    for (const auto& name : listed) {
      auto project = dist::ProjectName::parse(name);
      if (!project)
        find("I017", key, fmt::format("{:?} is not a project name", name));
      else if (!pages.contains(project->str()))
        find("I018", key, fmt::format("{} is listed and has no page", name));
    }
    for (const auto& [name, page] : pages)
      if (!listed.contains(name)) find("I018", key, fmt::format("{} has a page and is not listed", name));
    return {};
  }

  void check_project(const std::string& directory, const std::string& name, const IndexPage& page) {
    projects_.insert(name);
    auto key = directory + "/index.html";
    auto project = dist::ProjectName::parse(name);
    if (!project || project->str() != name)
      find("I017", key, "the directory is not a normalised project name, so no installer asks for it");
    if (!page.name.empty() && page.name != name)
      find("I017", key, fmt::format("the page says it is about {:?}", page.name));
    check_page(directory, page, project ? project->str() : "");
  }

  void check_page(const std::string& directory, const IndexPage& page, const std::string& project) {
    auto key = path::join(directory, "index.html");
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
    if (leads_elsewhere(claim.file.url)) {
      find("I010", claim.place, "the link leads elsewhere and was not followed", "", Severity::note);
      return;
    }
    auto relative = text::percent_decode(claim.file.url.substr(0, claim.file.url.find('?')));
    claims_[path::normal(path::join(at(directory), relative))].push_back(std::move(claim));
  }

  void compare_trees() {
    for (const auto& [name, html] : html_pages_) {
      auto it = json_pages_.find(name);
      if (it == json_pages_.end())
        find("I015", "simple/" + name, "the project has an HTML page and no JSON page");
      else
        std::ranges::move(compare_pages(html, it->second, "simple/" + name), std::back_inserter(report_.findings));
    }
    for (const auto& [name, json] : json_pages_)
      if (!html_pages_.contains(name))
        find("I015", "simple-json/" + name, "the project has a JSON page and no HTML page");
  }

  /// index.html of the directory: a find-links page, or the root when the directory is a `simple/` itself.
  Result<void> check_top_page(bool may_be_root) {
    TRY(auto page, page_at("index.html"));
    if (!page) return {};
    auto is_directory = [](const PageFile& link) { return link.url.ends_with('/'); };
    bool root = !page->projects.empty() || (!page->files.empty() && std::ranges::all_of(page->files, is_directory));
    if (may_be_root && root) return check_tree("", html_pages_);
    check_page("", *page, "");
    return {};
  }

  Result<void> look_at_files() {
    std::vector<std::string> paths;
    for (const auto& [path, claims] : claims_) paths.push_back(path);
    std::mutex mutex;
    std::uint64_t done = 0;
    auto outer = static_cast<unsigned>(std::min<std::size_t>(options_.workers, paths.size()));
    unsigned inner = std::max(1u, options_.workers / std::max(1u, outer));
    return parallel_for(paths.size(), outer, [&](std::size_t i) -> Result<void> {
      TRY(auto facts, look_at(paths[i], inner));
      std::lock_guard lock(mutex);
      done += facts.size;
      if (options_.on_progress) options_.on_progress(done);
      facts_.emplace(paths[i], std::move(facts));
      return {};
    });
  }

  static Result<FileFacts> look_at(const std::string& path, unsigned workers) {
    FileFacts facts;
    if (!sys::exists(path) || sys::is_directory(path)) return facts;
    facts.exists = true;
    TRY(auto rope, content::Rope::file(path));
    facts.size = rope.size();
    if (path.ends_with(".whl")) {
      TRY(auto report, wheel::verify(path, workers));
      facts.sha256 = report.sha256;
      if (report.metadata) facts.requires_python = report.metadata->requires_python;
      facts.metadata = std::move(report.metadata_text);
      facts.findings = std::move(report.findings);
      return facts;
    }
    TRY(facts.sha256, content::sha256_of(rope));
    auto metadata = read_sdist_metadata(path);
    if (metadata)
      facts.requires_python = metadata->requires_python;
    else
      facts.findings.push_back({metadata.error().code, Severity::error, std::string(path::basename(path)),
                                metadata.error().message, metadata.error().hint});
    return facts;
  }

  void check_claim(const Claim& claim, const std::string& path, const FileFacts& facts) {
    if (!facts.exists) return find("I010", claim.place, fmt::format("the link leads to {}, which is not there", path));
    if (claim.file.size && claim.file.size != facts.size) {
      report_.altered = true;
      find("I013", claim.place, fmt::format("the page says {} bytes, the file has {}", *claim.file.size, facts.size));
    }
    if (auto expected = claim.file.sha256(); expected && *expected != facts.sha256) {
      report_.altered = true;
      find("I012", claim.place,
           fmt::format("the page says sha256 {}, the file has {}", expected->hex(), facts.sha256.hex()),
           "the file was altered: publish it again from its source");
    }
    if (facts.findings.empty() && claim.file.requires_python != facts.requires_python)
      find("I019", claim.place,
           fmt::format("the page requires Python {:?}, the file {:?}", claim.file.requires_python,
                       facts.requires_python));
    if (path.ends_with(".whl")) check_sidecar_of(claim, path, facts);
  }

  void check_sidecar_of(const Claim& claim, const std::string& path, const FileFacts& facts) {
    if (claim.file.core_metadata.empty())
      return find("I014", claim.place, "no metadata file is offered, so resolvers fetch the wheel", k_rebuild,
                  Severity::warning);
    auto sidecar = sys::read_file(path + ".metadata", dist::k_metadata_bytes_max);
    if (!sidecar)
      return find("I014", claim.place, "the metadata file that the page offers is not there, which stops every pip");
    auto expected = claim.file.core_metadata == "true" ? "true" : "sha256=" + sha256(*sidecar).hex();
    if (claim.file.core_metadata != expected) {
      report_.altered = true;
      find("I014", claim.place, "the metadata file does not have the hash that the page says");
    }
    if (*sidecar != facts.metadata) {
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
    std::ranges::sort(report_.findings, {}, [](const Finding& f) { return std::tie(f.place, f.code, f.message); });
  }

  const CheckOptions& options_;
  std::string root_;
  CheckReport report_;
  Pages html_pages_, json_pages_;
  std::set<std::string> projects_;
  std::map<std::string, std::vector<Claim>> claims_; // by absolute or given path of the file
  std::map<std::string, FileFacts> facts_;
};

} // namespace

Result<CheckReport> check_index(const CheckOptions& options) { return Checker(options).run(); }

int exit_code(const CheckReport& report) { return !has_errors(report.findings) ? 0 : report.altered ? 6 : 1; }

} // namespace quarry::index
