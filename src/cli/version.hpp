#pragma once
// Which quarry this is.
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

std::string_view program_version(); ///< "0.1.0": that of the tag, else that of CMakeLists.txt
std::string_view build_tag();       ///< "v0.1.0"; empty unless the commit has such a tag and the tree is that commit's
std::string_view build_commit();    ///< full id, with "+changes" when the tree differed; empty outside a git checkout

struct Library {
  std::string name, version;
  std::string license; ///< an SPDX expression
};
std::vector<Library> libraries(); ///< everything linked into the program, sorted by name

} // namespace quarry::cli
