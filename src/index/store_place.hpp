#pragma once
// Directories whose pages a store writes. They show what a channel, a run or a distribution holds; a page that another
// command writes there shows installers what nobody has judged.
#include "base/result.hpp"
#include <string>

namespace quarry::index {

/// Fails with already_exists I026 if a store on this machine keeps the pages of a channel, a distribution or published
/// packages in `directory` or in one around it. Links are followed; `directory` need not exist. A few looks for each
/// directory above it.
Result<void> refuse_place_of_store(const std::string& directory);

} // namespace quarry::index
