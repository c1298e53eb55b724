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
  std::set<std::string> our_pages, other_pages; ///< places of HTML pages with our mark, and of those without it
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

/// I015: where the two trees differ. Links are compared by where they lead.
Findings compare_trees(const Site& site, const Pages& html, const Pages& json);

} // namespace quarry::index
