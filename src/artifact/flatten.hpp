#pragma once
// Private to the room.
// The flat form of a fetch: the base directories of all artifacts merged into one tree.
#include "artifact/fetch.hpp"
#include <string>
#include <vector>

namespace quarry::artifact {

/// Reports whether the output directory already holds exactly these artifacts, from the same bytes and unchanged (see
/// same_entry()); then all are marked as kept. Costs one lstat(2) per recorded entry.
bool flat_is_complete(const std::string& output_directory, FetchReport& report);

/// Moves the staged trees (one for each artifact of the report) into the output directory. Everything is checked before
/// the first change: A015 two owners of one path, or a file of one where another needs a directory; A016 an entry that
/// no fetch made; A050 links or names that are not sound in one tree. Files of older versions are removed, never
/// through a link: one that cannot be reached is left and reported (A052). Killed in between, the artifacts count as
/// incomplete, and the next fetch of them does them again.
Result<void> merge_flat(const std::vector<std::string>& staged, const std::string& output_directory,
                        FetchReport& report);

} // namespace quarry::artifact
