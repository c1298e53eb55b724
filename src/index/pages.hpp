#pragma once
// The pages of a package index as bytes: find-links, simple repository API 1.4 as HTML (PEP 503, 592, 629, 658, 714)
// and as JSON (PEP 691, 700). Both forms are projections of the same links; the bytes depend on the links alone, not on
// their order. The functions of this header are pure and thread-safe.
#include "registry/records.hpp"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::index {

constexpr std::string_view k_api_version = "1.4";
constexpr std::string_view k_html_type = "text/html"; ///< an alias of …v1+html that browsers show too
constexpr std::string_view k_json_type = "application/vnd.pypi.simple.v1+json";
/// In every HTML page of ours, so that a page of somebody else is never taken for a stale one.
constexpr std::string_view k_generator_mark = "<meta name=\"generator\" content=\"quarry\">";

struct Link {
  registry::FileRecord file;
  std::string href; ///< relative to the page, percent-encoded, without fragment
};

struct Page {
  std::string key; ///< relative to the index's directory: "simple/rocm/index.html"
  std::string bytes;
  std::string_view content_type;
};

struct PageOptions {
  std::string title = "packages"; ///< of the find-links page
  /// Where the index's directory is, as a key below the same root as FileRecord::key: "channels/stable". Empty: the
  /// root.
  std::string directory;
  /// What people install from here, as words for pip. Empty: the one project, or "PROJECT" where there are several.
  std::string install = {};
  /// Sentences above the files, for people; installers skip them.
  std::vector<std::string> remarks = {};
  /// Those on the pages of single projects; unset: `remarks`, on all of them.
  std::optional<std::map<std::string, std::vector<std::string>>> by_project = {};
};

// One page each. Links may come in any order; they are written sorted by version, then file name.
std::string find_links_page(std::string_view title, const std::vector<Link>& links);
/// With the links that a page in `directory` needs, a key below the same root as FileRecord::key.
std::string find_links_page(const PageOptions& options, const std::vector<registry::FileRecord>& files);
std::string project_html(std::string_view project, const std::vector<Link>& links,
                         const std::vector<std::string>& remarks = {});
std::string project_json(std::string_view project, const std::vector<Link>& links);
std::string root_html(std::vector<std::string> projects);
std::string root_json(std::vector<std::string> projects);
/// Replaces a find-links page that would be too large to open: links to the projects' pages below `simple/`. A channel
/// has it above 1000 files (pages/channel_pages.hpp). Uses the title and the remarks of the options.
std::string overview_page(const PageOptions& options, std::vector<std::string> projects);

/// All pages of an index: `simple/{project}/index.html` and `simple-json/{project}/index.html` (JSON bodies) for each
/// project, then the two roots, then `index.html`: leaves first, so that writing in this order never leaves a link
/// without its page.
std::vector<Page> all_pages(const std::vector<registry::FileRecord>& files, const PageOptions& options);
/// The two pages of one project alone, for a change of that project.
std::vector<Page> pages_of_project(std::string_view project, const std::vector<registry::FileRecord>& files,
                                   const PageOptions& options);

/// The form in which the index's directory is itself the simple repository: `{project}/index.html`, then `index.html`.
/// Files lie directly in it. HTML only; without upload times, which nothing would carry from one page to the next.
std::vector<Page> flat_pages(std::vector<registry::FileRecord> files);

/// The href from a page in the directory `from` to the key `to`, both below one root: relative, percent-encoded (`+` as
/// %2B).
std::string href_between(std::string_view to, std::string_view from);

/// Where METADATA of the file at `url` is served (PEP 658): beside its path; a query, such as a signature, stays at the
/// end.
std::string metadata_address(const std::string& url);

} // namespace quarry::index
