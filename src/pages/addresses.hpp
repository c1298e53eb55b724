#pragma once
// Under which URLs people install from a directory of a store. An installer that is given `--index-url URL` asks for
// `URL/rocm/`: a web server or a disk answers with index.html, object storage only where the copies of pages exist
// (page_writer.hpp). Where nothing answers, pages for `--find-links` take the index's place.
#include "base/result.hpp"
#include "pages/public_url.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

struct Addresses {
  std::string index_url;  ///< "…/simple/"; empty where nothing answers under it
  std::string merged_url; ///< "…/merged/simple/"; empty also where the store has no base index
  /// Where index_url is empty: pages that together show what index_url or merged_url would.
  std::vector<std::string> find_links = {};

  /// The index that needs no other one beside it: the merged one where the store has it; "": use find_links.
  const std::string& best_index() const { return merged_url.empty() ? index_url : merged_url; }
};

/// Of a run's directory, a channel's, a distribution or the base index. `projects`: those that people want from it; a
/// channel of many files has no page for --find-links but those of its projects. A directory without pages gets the
/// URLs that it will have. Reads only, two or three small objects; the errors of the store.
Result<Addresses> addresses_of(store::ObjectStore& store, const PublicUrl& public_url, const std::string& directory,
                               const std::vector<std::string>& projects = {});

/// "--index-url URL", or "--no-index --find-links URL --find-links URL".
std::string installer_words(const Addresses& addresses);

} // namespace quarry::pages
