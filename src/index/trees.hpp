#pragma once
// Private to the room.
// Reads the pages of an index, tree by tree: the reading part of `index check`.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "index/claims.hpp"
#include "index/copies.hpp"
#include "index/read_page.hpp"
#include "index/site.hpp"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::index {

using Pages = std::map<std::string, IndexPage>; ///< by project directory: "rocm"

/// What the pages that were read say.
struct Reading {
  Findings findings; ///< in no order
  Claims claims;
  std::set<std::string> projects;
  Copies copies;
  bool ours = false;                 ///< an HTML page has our mark, or a distribution of ours lies here
  std::set<std::string> other_pages; ///< directories of HTML pages without our mark
  std::set<std::string> other_links; ///< those of them that link to something
  bool top_left = false;             ///< a setting leaves the page of the place itself to the tool that wrote it
  std::size_t pages = 0;
};

/// Which pages a place has.
struct Shape {
  SiteReply top;                   ///< the page of the place itself
  bool root = false;               ///< it links to directories alone, or lists projects
  bool html = false, json = false; ///< there is a tree `simple`, `simple-json`
};
/// Fails with I001 (there is no index) or I008 (a web server lists a directory that is not one).
Result<Shape> shape_of(Site& site);

/// Reads every page of a tree ("simple", "simple-json", or "" for a place that is one itself), judges each and adds it
/// to `reading`. `asked`: these projects only; empty: all that can be listed, or that the root names. Fails with I007
/// if a root names too many.
Result<Pages> read_tree(Site& site, const std::string& tree, const std::vector<std::string>& asked, Reading& reading);

/// Reads the page of the place itself, a find-links page. `projects`: those that have a page below `simple`; nullptr if
/// links to others are not findings.
Result<void> read_top_page(Site& site, const Pages* projects, Reading& reading);

/// Whether the place is a distribution: it has a page for each project below itself, too. One read.
Result<bool> is_distribution(Site& site);

/// Reads the pages `{project}/` of the place itself. `projects`: those that must have one; a page that is missing is
/// I018. `listed`: those that the page of another tool links to, which may be missing. `html`: compared with these.
struct RepositoryPages {
  std::set<std::string> projects, listed;
};
Result<void> read_repository_pages(Site& site, const RepositoryPages& asked, const Pages& html, Reading& reading);

/// Whether this is an HTML page without our mark that links to something: another tool wrote it. Pure.
bool is_of_another_tool(const SiteReply& page);
/// The projects whose directories a page links to. Pure.
std::set<std::string> projects_linked(const SiteReply& page);

/// I015: where the two trees differ. Links are compared by where they lead.
Findings compare_trees(const Site& site, const Pages& html, const Pages& json);

} // namespace quarry::index
