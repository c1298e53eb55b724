#pragma once
// Private to the room.
// What is at the top of a place that is not an index: nothing, or a web server's listing of a directory. Private to
// the room.
#include "base/result.hpp"
#include "index/site.hpp"
#include <optional>
#include <set>
#include <string>

namespace quarry::index {

/// A listing as python -m http.server, nginx, Apache and lighttpd write it.
bool is_listing(const std::string& html);

/// I008 when `top` is the listing of a directory that is not an index: the root of a store, or one with names that are
/// neither projects nor distributions. nullopt for everything else, also for a listing of project directories or of
/// wheels, which installers can use.
std::optional<Error> listing_instead_of_index(const Site& site, const SiteReply& top);

/// I008 when `top` is a listing of directories that are not projects: those of a store's channels, of a run, of groups
/// of packages. Reads the pages of the first directories. nullopt for everything else.
Result<std::optional<Error>> listing_of_other_directories(Site& site, const SiteReply& top);

/// Names in a listing, a directory's without its slash; the way up and sorting links (`?C=N;O=D`) are not names.
std::set<std::string> names_on_listing(const std::string& html);

} // namespace quarry::index
