#pragma once
// A project that two indexes have: what installers that are given both would make of it. Pure.
#include <string>
#include <vector>

namespace quarry::pages {

struct Offer {
  std::string place;                 ///< "42-linux/python/g", "python-deps"
  std::vector<std::string> versions; ///< of the project; those that cannot be read count as oldest
};

/// What pip takes (the newest of all indexes, whoever offers it) and what uv takes (the newest of the first index that
/// has the project; `--extra-index-url` comes before `--index-url`). Lines for Error::details.
std::vector<std::string> installers_would_take(const Offer& extra, const Offer& base);

} // namespace quarry::pages
