#pragma once
// Private to the room.
// What an index page of a run's artifacts lists: any HTML page of links, as today's indexers, web servers and we write
// them. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace quarry::artifact {

/// Names of files directly below `root` (a URL that ends in '/') that the page links to, decoded, each once, in the
/// page's order. Links to other places are passed over; so are pages of any other kind, which then list nothing.
std::vector<std::string> names_on_page(std::string_view html, std::string_view root);

/// Names of tarballs in quotes anywhere on a page, each once, in the page's order: pages that a script in the browser
/// fills hold them as JSON.
std::vector<std::string> tarballs_in_quotes(std::string_view html);

/// The groups G whose `manifests/G/upload.json` the page links to: whoever reads by links alone learns from them what
/// was announced.
std::vector<std::string> groups_on_page(std::string_view html, std::string_view root);

} // namespace quarry::artifact
