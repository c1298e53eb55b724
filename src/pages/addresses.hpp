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
  /// "…/simple/". Given in three cases: the copy of `simple/` exists; or it is certain that `simple/index.html` does
  /// not exist yet (it is then the address that the pages will have); or the store is a directory of this machine or
  /// has a public URL, and then nothing is requested. Empty in every other case: installers may not get an answer.
  std::string index_url;
  std::string merged_url; ///< "…/merged/simple/"; empty if index_url is, or if the directory has no merged index
  /// Used if index_url is empty: the find-links pages of the directory. If the directory has a merged index, also the
  /// find-links page of the base index. Not requested: a page may be missing, as index_url may be an address without a
  /// page.
  std::vector<std::string> find_links = {};

  /// The one index URL to give to an installer: the merged index if the store has one, else the plain index. Empty if
  /// there is neither; then use find_links.
  const std::string& best_index() const { return merged_url.empty() ? index_url : merged_url; }
};

/// Returns the addresses of `directory`: a run's package directory, a channel's, a distribution or the base index.
/// `projects` are the normalised names of the projects that people want from it. The own page of a channel with more
/// than 1000 files lists projects, not files: find_links then names the page `simple/PROJECT/index.html` of each of
/// `projects`, and no page of the channel if `projects` is empty, which does not fail. How many files it has is read
/// from its `pages.json`; one that is missing or cannot be read counts as small. If `simple/index.html` does not exist,
/// because pages are not written yet or because the directory is a run itself ("42-linux"), index_url is the address
/// that such a page would have. In a bucket that cannot keep keys with a slash at the end it never answers, also after
/// the pages are written; the same is true of merged_url. Whether merged_url answers is not checked: the directory has
/// one if `merged/pages.json` exists. A page to which the store denies access, or to which a web server gives an error
/// status (H011), counts as one that does not answer. Fails with the other errors of the store. One to four small
/// reads.
Result<Addresses> addresses_of(store::ObjectReader& store, const PublicUrl& public_url, const std::string& directory,
                               const std::vector<std::string>& projects = {});

/// Returns the part of an install line (install_words.hpp) that says from where: "--index-url URL", or "--no-index
/// --find-links URL --find-links URL"; without any page "--no-index" alone, which finds nothing. Pure.
std::string installer_words(const Addresses& addresses);

} // namespace quarry::pages
