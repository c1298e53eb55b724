#pragma once
// Which objects two runs have, and whether those that must be the same are.
#include "shadow/difference.hpp"
#include "shadow/side.hpp"

namespace quarry::shadow {

/// Compares the keys below both runs. Packages are paired by directory and file name, in any case: `dist/` beside a
/// group is a difference of place ("KEY!place"), other spelling one of the name ("KEY!name"). Checksum files
/// ("KEY!sha256") and manifests ("KEY!content") are read and compared. Costs two reads for each checksum file and
/// manifest that both have.
Result<Section> compare_keys(const Sides& sides, const Table& table);

} // namespace quarry::shadow
