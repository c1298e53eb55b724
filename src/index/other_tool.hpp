#pragma once
// Private to the room.
// Pages that another tool writes where we write, too, such as a function that the bucket calls after each upload.
#include "base/finding.hpp"
#include "index/claims.hpp"
#include "index/site.hpp"
#include "index/trees.hpp"

namespace quarry::index {

/// The pages of another tool between pages of ours, and what is said about them. Pure, thread-safe.
class OtherTool {
public:
  /// Sets nothing aside in an index that is not ours.
  OtherTool(const Site& site, const Reading& reading);

  /// Whether a finding still counts. A page of another tool is not written for our rules, and nothing that it lacks is
  /// an error of our files; only a link to a package that is not there (I010) and a hash or size that is false (I012,
  /// I013) count.
  bool counts(const Finding& finding) const;
  /// Takes out what these pages say about files that no installer takes for a package, such as `pages.json` or `../`:
  /// an index function lists all that lies there. Nobody looks at such a file then.
  void drop_ignored_links(Claims& claims) const;
  /// I025 for each of these pages: a warning; a note for the page that a setting leaves to the tool.
  Findings findings() const;

private:
  std::set<std::string> places_; ///< pages, as findings call them
  std::set<std::string> names_;  ///< those that link to something, in all ways in which a finding names them
  std::string top_;              ///< place of the find-links page
  std::string left_;             ///< place of the page that a setting leaves to the tool; empty: none
};

} // namespace quarry::index
