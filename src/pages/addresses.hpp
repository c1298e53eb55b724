#pragma once
// Finds the URLs under which people install from a directory of a store. An installer that is given `--index-url URL`
// requests `URL/rocm/`. A web server or a local directory answers with index.html; object storage answers only if the
// copies of the pages exist (page_writer.hpp). If nothing answers, `--find-links` pages replace the index.
#include "base/result.hpp"
#include "pages/public_url.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

struct Addresses {
  /// "…/simple/"; empty if nothing answers under `simple/`, unless it is certain that `simple/index.html` does not
  /// exist (then it is the future address). A directory of this machine, and a store with a public URL, count as
  /// answering without a look.
  std::string index_url;
  std::string merged_url; ///< "…/merged/simple/"; empty if index_url is, or if the directory has no merged index
  /// Used if index_url is empty: the directory's pages, and that of the base index if merged_url would be used.
  std::vector<std::string> find_links = {};

  /// The one index URL to give to an installer: the merged index if the store has one, else the plain index. Empty if
  /// there is neither; then use find_links.
  const std::string& best_index() const { return merged_url.empty() ? index_url : merged_url; }
};

/// Returns the addresses of `directory`: a run's package directory, a channel's, a distribution or the base index.
/// `projects` are the normalised names of the projects that people want from it: a channel of more than 1000 files has
/// one find-links page for each project, and not one for all, so that `projects` must not be empty then. If there is no
/// page below `simple/`, because none is written yet or the directory is a run itself ("42-linux"), index_url is the
/// future address: in a bucket without copies nothing will answer there. Whether merged_url answers is not checked: the
/// directory has one if `merged/pages.json` exists. A page to which the store denies access, or to which a web server
/// gives an error status (H011), counts as one that does not answer. Fails with the other errors of the store. One to
/// four small reads.
Result<Addresses> addresses_of(store::ObjectReader& store, const PublicUrl& public_url, const std::string& directory,
                               const std::vector<std::string>& projects = {});

/// Returns the part of an install line (install_words.hpp) that says from where: "--index-url URL", or "--no-index
/// --find-links URL --find-links URL"; without any page "--no-index" alone, which finds nothing. Pure.
std::string installer_words(const Addresses& addresses);

} // namespace quarry::pages
