#pragma once
// Which artifacts of a source are wanted.
#include "artifact/pattern.hpp"
#include "artifact/source.hpp"
#include <string>
#include <vector>

namespace quarry::artifact {

struct SelectionOptions {
  /// Expressions, searched for in the name and in the file name; no include: all.
  std::vector<std::string> include = {}, exclude = {};
  std::string group = {};                ///< artifact group; empty: any target
  std::vector<std::string> targets = {}; ///< more targets beside the group; `generic` always belongs
};

/// The wanted items, in order. A020 bad expression; not_found A021 when nothing is left; not_found A022 when the group
/// or a target fits no artifact of the source (the generic ones alone would look like success).
Result<std::vector<SourceItem>> select(const Source& source, const SelectionOptions& options);

} // namespace quarry::artifact
