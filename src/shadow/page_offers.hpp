#pragma once
// The find-links pages of two runs, as pip and uv read them: which files they offer, and what they say of each.
#include "shadow/difference.hpp"
#include "shadow/side.hpp"

namespace quarry::shadow {

/// Compares `index.html` of each directory of packages. "DIRECTORY/index.html!FILE!ours" is a file that our page alone
/// offers; "!name", "!sha256", "!requires-python", "!yanked" and "!leads" say what the pages say differently of a file
/// that both offer, and "!sha256!ours" that only our page says it. Where a link leads ("here", "nowhere", "elsewhere")
/// is judged in the listing of its run. A page that exists on one side only is a difference of keys. Fails with corrupt
/// I020 for a page that cannot be read. Costs two reads for each directory.
Result<Section> compare_pages(const Sides& sides, const Table& table);

} // namespace quarry::shadow
