#pragma once
// The flat form of a fetch: the base directories of all artifacts merged into one tree. Inside this room only.
#include "artifact/fetch.hpp"
#include <string>
#include <vector>

namespace quarry::artifact {

/// Does the output directory already hold exactly these artifacts, from the same bytes? Then all are marked as kept.
bool flat_is_complete(const std::string& output_directory, FetchReport& report);

/// Moves the staged trees (one for each artifact of the report) into the output directory. Everything is checked before
/// the first move: A015 two owners of one path, A016 a file that no fetch made, T010 a link that leaves the merged
/// tree. Killed in between, the next fetch completes it.
Result<void> merge_flat(const std::vector<std::string>& staged, const std::string& output_directory,
                        const FetchReport& report);

} // namespace quarry::artifact
