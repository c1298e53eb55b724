#pragma once
// Private to the room.
// What other tools listed in a directory that is to become a repository of ours: our pages would no longer show it.
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::publish {

/// Reads the HTML pages of `directory` and looks at the packages in it. already_exists P090 when a page links to a
/// package that neither a sealed set there nor `planned` has, or, in a directory without our pointer, when such a
/// package is there at all: a web server that lists directories, or the next run of the other tool, shows it until our
/// page hides it. Pages with our mark are trusted where our pointer is: `index build` writes the mark, too. `objects`:
/// all below the directory. Costs one request for each page.
Result<void> refuse_to_hide(store::ObjectStore& target, const std::string& directory,
                            const std::vector<store::ObjectInfo>& objects,
                            const std::vector<registry::FileRecord>& planned, unsigned transfers);

} // namespace quarry::publish
