#pragma once
// Predicts what installers choose if two indexes have the same project and both are given to them. Pure.
#include <string>
#include <vector>

namespace quarry::pages {

struct Offer {
  std::string place;                 ///< directory of the index: "42-linux/python/g", "python-deps"
  std::vector<std::string> versions; ///< of the project, at least one; an invalid one counts as older than any valid
};

/// Returns two lines for a message, for an installer with `extra` as --extra-index-url and `base` as --index-url
/// that takes pre-releases, too: what pip would install (the newest version of both; either one if they are equal), and
/// what uv would install (the newest version of the first index that has the project; --extra-index-url comes first).
std::vector<std::string> installers_would_take(const Offer& extra, const Offer& base);

} // namespace quarry::pages
