#pragma once
// What is at the top of a place that is not an index: nothing, or a web server's listing of a directory. Private to
// the room. Pure.
#include "base/error.hpp"
#include "index/site.hpp"
#include <optional>
#include <string>

namespace quarry::index {

/// A listing as python -m http.server, nginx, Apache and lighttpd write it.
bool is_listing(const std::string& html);

/// I008 when `top` is the listing of a directory that is not an index: the root of a store, or one with names that are
/// neither projects nor distributions. nullopt for everything else, also for a listing of project directories or of
/// wheels, which installers can use.
std::optional<Error> listing_instead_of_index(const Site& site, const SiteReply& top);

/// I001.
Error no_index(const Site& site, const SiteReply& top);

} // namespace quarry::index
