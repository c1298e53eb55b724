#pragma once
// The data files that travel with the program, in layers: the first layer that has a name wins.
#include "base/resources.hpp"
#include <memory>
#include <string>

namespace quarry::app {

struct ResourcePlaces {
  std::string repository; ///< its data/ overrides names below "data/"; empty: none
  std::string share;      ///< ../share/quarry beside the program; overrides any name; may be absent
};

/// Repository, share, embedded copy: in that order. Thread-safe.
std::unique_ptr<Resources> make_resources(ResourcePlaces places);

} // namespace quarry::app
