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
  /// "…/simple/". Given in three cases: the store is a directory of this machine, or has a public URL; or the copy of
  /// `simple/` exists and has bytes (an empty object is only the marker of a directory); or the store says that
  /// `simple/index.html` does not exist yet, or is empty (index_url is then the address that the pages will have).
  /// Empty in every other case: installers may not get an answer.
  std::string index_url;
  std::string merged_url; ///< "…/merged/simple/"; empty if index_url is, or if the directory has no merged index
  /// Empty if index_url is given. Else the find-links pages of the directory, and, if it has a merged index, also that
  /// of the base index. Whether these pages exist is not checked.
  std::vector<std::string> find_links = {};

  /// The one index URL to give to an installer: the merged index if the directory has one, else its plain index. Empty
  /// if there is neither; then use find_links.
  const std::string& best_index() const { return merged_url.empty() ? index_url : merged_url; }
};

/// Returns the addresses of `directory`: a run's package directory, a channel's, a distribution, the base index or a
/// merged index. A merged index does not have a find-links page: use only the index_url of one.
///
/// `projects` are the normalised names of the projects that people want. They matter only for a channel with more than
/// 1000 files whose index_url is empty. The find-links page of such a channel links to projects, not to files.
/// find_links then has, instead of that page, `simple/PROJECT/index.html` of each of `projects`. The number of files is
/// read from the channel's `pages.json`. The channel counts as small if that object is missing, is denied, or is not
/// such a document; R007 above 512 MiB.
///
/// If `simple/index.html` does not exist, because pages are not written yet or because the directory is a run itself
/// ("42-linux"), index_url is the address that such a page would have. A bucket that cannot keep keys with a slash at
/// the end never answers at that address. merged_url is given if index_url is and `merged/pages.json` exists and has
/// bytes; whether it answers is not checked.
///
/// An object is denied if the store denies access to it, or a web server answers with an error status (H011). A denied
/// page counts as one that does not answer, a denied `merged/pages.json` as missing. Fails with the other errors of the
/// store. Costs a request for `merged/pages.json`, and up to three more.
Result<Addresses> addresses_of(store::ObjectReader& store, const PublicUrl& public_url, const std::string& directory,
                               const std::vector<std::string>& projects = {});

/// Returns the part of an install line (install_words.hpp) that says from where: "--index-url URL", or "--no-index
/// --find-links URL --find-links URL"; without any page "--no-index" alone, which finds nothing. Pure.
std::string installer_words(const Addresses& addresses);

} // namespace quarry::pages
