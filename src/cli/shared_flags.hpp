#pragma once
// Flags that several commands take with one meaning.
#include "cli/command.hpp"

namespace quarry::cli {

/// `--store LOCATOR`, required, from QUARRY_STORE if it is not given.
const Flag& store_flag();
/// The same for commands that also take a distribution, written out with its store: not required.
const Flag& store_of_channel_flag();
/// The same for commands that also take files, which need no store: not required.
const Flag& store_of_sets_flag();
/// The value of store_of_channel_flag(); invalid_argument C004 without it.
Result<std::string> store_named(const Arguments& arguments);

} // namespace quarry::cli
