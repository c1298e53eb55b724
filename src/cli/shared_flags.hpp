#pragma once
// Flags that several commands take with one meaning.
#include "cli/command.hpp"

namespace quarry::cli {

/// `--store LOCATOR`, required, from QUARRY_STORE if it is not given.
const Flag& store_flag();

} // namespace quarry::cli
