#pragma once
// Private to the room.
// What other tools put into a directory that is to become a repository of ours: our pages must not hide it.
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::publish {

using FileNames = std::set<std::string>;

/// What a page of another tool says about a package.
struct Said {
  std::optional<Sha256> sha256;
  std::optional<Sha256> other; ///< another one, of another link: then nobody knows which one is right
  bool yanked = false;
  std::string yank_reason;
};

/// A package that our pages would not show.
struct Unshown {
  std::set<std::string> places; ///< the pages that link to it, or the directory that it lies in without a link
  Said said;
};
using UnshownByName = std::map<std::string, Unshown>;

/// Whether an installer, or another tool's page, takes a file of this name for a package.
bool is_package(const std::string& name);

struct ForeignPlace {
  std::string directory;                  ///< without a slash at its end
  std::vector<store::ObjectInfo> objects; ///< all below it
  FileNames known;                        ///< the names that our pages will show
  bool all = false;                       ///< also packages that no page links to, whoever put them there
};

/// Returns the packages that a page in the directory links to and `known` lacks; and, in a directory without our
/// pointer, such packages without a page: a web server that lists directories, or the next run of the other tool, shows
/// them until our page hides them. Pages with our mark are trusted where our pointer is: `index build` writes the mark,
/// too. Fails with P121 for a page that cannot be read. Costs one request for each page, `transfers` at the same time.
Result<UnshownByName> unshown_packages(store::ObjectReader& target, const ForeignPlace& place, unsigned transfers);

} // namespace quarry::publish
