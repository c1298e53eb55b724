#pragma once
// Which quarry this is.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::cli {

std::string_view program_version(); ///< "0.1.0", from CMakeLists.txt
std::string_view build_commit();    ///< full id, with "+changes" when the tree differed; empty outside a git checkout
std::vector<std::pair<std::string, std::string>> library_versions(); ///< sorted by name

} // namespace quarry::cli
