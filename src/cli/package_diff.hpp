#pragma once
// How two packages differ, for people and for programs.
#include "base/json.hpp"
#include "inspect/compare.hpp"
#include <string>

namespace quarry::cli {

/// A line for the package, then one for each difference.
std::string text_of(const inspect::PackageDiff& package);
/// {package, left, right, equal, differences}
Json package_json(const inspect::PackageDiff& package);

} // namespace quarry::cli
