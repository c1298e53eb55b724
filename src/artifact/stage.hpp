#pragma once
// Private to the room.
// One item, checked completely, into a fresh directory of the workspace.
#include "artifact/fetch.hpp"
#include "artifact/workspace.hpp"

namespace quarry::artifact {

/// The staged directory; fills in what was found. On failure nothing stays.
Result<std::string> stage_item(const SourceItem& item, const Workspace& space, const UnpackOptions& options,
                               Fetched& fetched);

} // namespace quarry::artifact
