#pragma once
// The files of several lists as one, without a copy of each.
#include "registry/records.hpp"
#include <vector>

namespace quarry::registry {

using FileList = const std::vector<FileRecord>*;

/// The files of these lists, each once, sorted by filename. If two lists have one file (same name and sha256), that of
/// the first counts. What is returned points into the lists. already_exists R018 if a name has two contents. Pure.
Result<std::vector<const FileRecord*>> union_of(const std::vector<FileList>& lists);

} // namespace quarry::registry
